# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schedule of a program for a GPU where none is named."""

import re

import numpy as np
import pytest
import xetile
from gpu_programs import BOTH, COLUMN, EXP, PACK, ROW, function, generic, named_softmax, softmax, tensor
from xetile.mlir import ir

SUM = "%1 = arith.addf %a0, %o : f32\nlinalg.yield %1 : f32\n"


def matmul(dtype, result="f32"):
    a, b, c = (tensor((32, 32), each) for each in (dtype, dtype, result))
    return (
        f"%y = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}\n",
        [("%a", a), ("%b", b), ("%c", c)],
    )


def matmul_and_sum(dtype):
    body, arguments = matmul(dtype)
    kind = tensor((32, 32), "f32")
    return body.replace("%y", "%p") + generic(
        "%y", [("%p", kind)], (32,), "f32", [BOTH, ROW], "rp", SUM, "0.0"
    ), arguments


def masked_product():
    """The upper triangle of an exact product of f32."""
    body, arguments = matmul("f32")
    upper = (
        "%r = linalg.index 0 : index\n%s = linalg.index 1 : index\n%t = arith.cmpi ule, %r, %s : index\n"
        "%n = arith.constant 0.0 : f32\n%1 = arith.select %t, %a0, %n : f32\nlinalg.yield %1 : f32\n"
    )
    kind = tensor((32, 32), "f32")
    return body.replace("%y", "%p") + generic(
        "%y", [("%p", kind)], (32, 32), "f32", [BOTH, BOTH], "pp", upper
    ), arguments


def two_products():
    """x w * x v in f32, as a gated layer has it."""
    body, arguments = matmul("f32")
    kind = tensor((32, 32), "f32")
    times = "%1 = arith.mulf %a0, %a1 : f32\nlinalg.yield %1 : f32\n"
    inputs = [("%p", kind), ("%q", kind)]
    products = body.replace("%y", "%p") + body.replace("%y", "%q").replace("%b", "%a")
    return products + generic("%y", inputs, (32, 32), "f32", [BOTH, BOTH, BOTH], "pp", times), arguments


@pytest.mark.parametrize(
    ("expected", "body", "arguments"),
    [
        ("gpu_model", *matmul_and_sum("f16")),
        ("rows", *masked_product()),
        ("rows", *two_products()),
        ("matmul", *matmul("f16")),
        ("rows", *matmul("f32")),
        ("rows", *matmul("f64", "f64")),
        (
            "rows",
            generic("%y", [("%a", "tensor<8x8xf32>")], (8,), "f32", [BOTH, ROW], "rp", SUM, "0.0"),
            [("%a", "tensor<8x8xf32>")],
        ),
        (
            "elementwise",
            generic("%y", [("%a", "tensor<8x8xf32>")], (8, 8), "f32", [BOTH, BOTH], "pp", EXP),
            [("%a", "tensor<8x8xf32>")],
        ),
        (
            "elementwise",
            "%y = tensor.concat dim(0) %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>\n",
            [("%a", "tensor<8xf32>")],
        ),
        ("rows", *named_softmax((8, 8), "f32", 1)),
        ("gpu_model", "%y = arith.constant dense<2.0> : tensor<8x8xf32>\n", [("%a", "tensor<8x8xf32>")]),
        ("elementwise", PACK, [("%a", "tensor<30x50xf32>")]),
        (
            "elementwise",
            "%y = tensor.extract_slice %a[3, 1] [5, 9] [1, 2] : tensor<9x30xf32> to tensor<5x9xf32>\n",
            [("%a", "tensor<9x30xf32>")],
        ),
        (
            "elementwise",
            "%y = tensor.collapse_shape %a [[0, 1]] : tensor<9x30xf32> into tensor<270xf32>\n",
            [("%a", "tensor<9x30xf32>")],
        ),
        (
            "gpu_model",
            generic("%y", [("%a", "tensor<8x0xf32>")], (8, 0), "f32", [BOTH, BOTH], "pp", EXP),
            [("%a", "tensor<8x0xf32>")],
        ),
        (
            "gpu_model",
            generic("%y", [("%a", "tensor<8x0xf32>")], (8,), "f32", [BOTH, COLUMN], "pr", SUM, "0.0"),
            [("%a", "tensor<8x0xf32>")],
        ),
    ],
    ids=[
        "program",
        "masked_product",
        "two_products",
        "f16_matmul",
        "f32_matmul",
        "f64_matmul",
        "sum",
        "chain",
        "concatenation",
        "softmax",
        "constant",
        "pack",
        "slice",
        "reshape",
        "nothing",
        "sum_of_nothing",
    ],
)
def test_the_payload_decides_the_schedule(expected, body, arguments):
    result = re.split("-> | to | into |> : ", body.strip())[-1]
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(function(arguments, [("%y", result)], body))
        assert xetile.schedule.suggest(module) == expected
        assert xetile.compile(module, target="pvc", native="off").schedule.name == expected


def test_the_command_line_runs_and_checks_a_program(tmp_path, capfd):
    from xetile.cli import main

    (tmp_path / "program.mlir").write_text(softmax((9, 50), "f32", 1))
    assert main(["run", str(tmp_path / "program.mlir"), "--target", "pvc", "--check"]) == 0
    assert (
        main(
            [
                "run",
                str(tmp_path / "program.mlir"),
                "--target",
                "bmg",
                "--schedule",
                "rows",
                "--check",
            ]
        )
        == 0
    )


def test_a_result_that_moves_nothing_is_not_computed_in_a_kernel_of_another_shape():
    """A transpose in its own order is its argument, of which nothing says that it has the other result's sizes."""
    text = """func.func @program(%a: tensor<?x?xi8>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %a, %c1 : tensor<?x?xi8>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xi8>) outs(%b : tensor<?x?xf32>) {
  ^bb0(%x: i8, %o: f32):
    %r = math.exp %o : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xi8>
  %t = linalg.transpose ins(%a : tensor<?x?xi8>) outs(%e : tensor<?x?xi8>) permutation = [0, 1]
  return %y, %t : tensor<?x?xf32>, tensor<?x?xi8>
}
"""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        assert xetile.schedule.suggest(module) == "gpu_model"
        kernel = xetile.compile(module, target="pvc", native="off")
    a, b = np.arange(35, dtype=np.int8).reshape(5, 7), np.linspace(-2, 2, 35, dtype=np.float32).reshape(5, 7)
    y, t = kernel(a, b)
    assert np.array_equal(t, a)
    assert np.abs(y / np.exp(b) - 1).max() < 1e-5
