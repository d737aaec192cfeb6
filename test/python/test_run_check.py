# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`xetile run --check` on what kernels take: results are compared with NumPy's, and wrong ones are noticed."""

from __future__ import annotations

import numpy as np
import pytest
from xetile import cli, reference


def maps(*texts: str) -> str:
    return f"[{', '.join(f'affine_map<{text}>' for text in texts)}]"


ZERO = "%z = arith.constant 0.0 : f32"
MATMUL = f"""%d = linalg.matmul indexing_maps = {maps("(i,j,k)->(i,k)", "(i,j,k)->(j,k)", "(i,j,k)->(i,j)")}
  ins(%a, %b : tensor<33x40xf16>, tensor<17x40xf16>) outs(%c : tensor<33x17xf32>) -> tensor<33x17xf32>"""
# Arguments, result, operations whose last gives %r.
PAYLOADS = {
    "transposed": (
        "%a: tensor<33x40xf16>, %b: tensor<17x40xf16>, %c: tensor<33x17xf32>",
        "tensor<33x17xf32>",
        MATMUL.replace("%d =", "%r ="),
    ),
    "followed by elementwise": (
        "%a: tensor<33x40xf16>, %b: tensor<17x40xf16>, %c: tensor<33x17xf32>, %v: tensor<17xf32>",
        "tensor<33x17xbf16>",
        f"""{MATMUL}
  %e = tensor.empty() : tensor<33x17xbf16>
  %r = linalg.generic {{indexing_maps = {maps("(i,j)->(i,j)", "(i,j)->(j)", "(i,j)->(i,j)")},
      iterator_types = ["parallel", "parallel"]}}
      ins(%d, %v : tensor<33x17xf32>, tensor<17xf32>) outs(%e : tensor<33x17xbf16>) {{
    ^bb0(%x: f32, %y: f32, %o: bf16):
      {ZERO}
      %s = arith.addf %x, %y : f32
      %m = arith.maximumf %s, %z : f32
      %t = math.tanh %m : f32
      %n = arith.truncf %t : f32 to bf16
      linalg.yield %n : bf16 }} -> tensor<33x17xbf16>""",
    ),
    "batch": (
        "%a: tensor<3x9x20xf32>, %b: tensor<3x20x11xf32>, %c: tensor<3x9x11xf32>",
        "tensor<3x9x11xf32>",
        "%r = linalg.batch_matmul ins(%a, %b : tensor<3x9x20xf32>, tensor<3x20x11xf32>) outs(%c : tensor<3x9x11xf32>)"
        " -> tensor<3x9x11xf32>",
    ),
    "bytes": (
        "%a: tensor<9x21xi8>, %b: tensor<21x11xi8>, %c: tensor<9x11xi32>",
        "tensor<9x11xi32>",
        "%r = linalg.matmul ins(%a, %b : tensor<9x21xi8>, tensor<21x11xi8>) outs(%c : tensor<9x11xi32>)"
        " -> tensor<9x11xi32>",
    ),
    "convolution": (
        "%a: tensor<2x3x11x13xf32>, %b: tensor<5x3x3x2xf32>, %c: tensor<2x5x5x12xf32>",
        "tensor<2x5x5x12xf32>",
        "%r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>}"
        " ins(%a, %b : tensor<2x3x11x13xf32>, tensor<5x3x3x2xf32>) outs(%c : tensor<2x5x5x12xf32>)"
        " -> tensor<2x5x5x12xf32>",
    ),
    "softmax": (
        "%a: tensor<9x21xf32>, %c: tensor<9x21xf32>",
        "tensor<9x21xf32>",
        "%r = linalg.softmax dimension(1) ins(%a : tensor<9x21xf32>) outs(%c : tensor<9x21xf32>) -> tensor<9x21xf32>",
    ),
    "reduction": (
        "%a: tensor<9x21xf32>, %c: tensor<9xf32>",
        "tensor<9xf32>",
        "%r = linalg.reduce { arith.addf } ins(%a : tensor<9x21xf32>) outs(%c : tensor<9xf32>) dimensions = [1]",
    ),
}


@pytest.fixture(params=PAYLOADS)
def payload(request, tmp_path) -> str:
    arguments, result, body = PAYLOADS[request.param]
    path = tmp_path / "payload.mlir"
    path.write_text(f"func.func @f({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}\n")
    return str(path)


def test_results_are_numpys(payload, capfd):
    assert cli.main(["run", payload, "--target", "cpu", "--check"]) == 0, capfd.readouterr().err
    assert "result 0: max|d - ref|" in capfd.readouterr().out


def test_wrong_results_fail(payload, capfd, monkeypatch):
    evaluate = reference.evaluate

    def other(module, arrays):
        (expected,) = evaluate(module, arrays)
        changed = np.array(expected)
        changed.flat[-1] += np.abs(expected).max() // 8 + 1
        return (changed,)

    monkeypatch.setattr(reference, "evaluate", other)
    assert cli.main(["run", payload, "--target", "cpu", "--check"]) == 1
    assert "the results are wrong: relative error" in capfd.readouterr().err
