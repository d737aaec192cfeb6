# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The small modules that `compile` and the command are made of: passes, targets, payloads, the reference."""

import dataclasses

import ml_dtypes
import numpy as np
import pytest
import xetile
from xetile import passes, reference, targets
from xetile.mlir import ir


def parse(text: str) -> ir.Module:
    with ir.Context():
        return ir.Module.parse(text)


# passes


def test_passes_change_the_module():
    module = parse("func.func @f() { %0 = arith.constant 1 : i32\n return }")
    assert passes.run(module, "canonicalize") == ()
    assert "constant" not in str(module)


def test_pipelines_may_be_written_as_for_mlir_opt():
    module = parse("func.func @f() { %0 = arith.constant 1 : i32\n return }")
    passes.run(module, "builtin.module(func.func(canonicalize),cse)")
    assert "constant" not in str(module)


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("nosuch", "'nosuch' is not a pass pipeline: 'nosuch' does not refer to a registered pass"),
        ("canonicalize(", "is not a pass pipeline"),
        ("xetile-attach-target{nosuch=1}", "is not a pass pipeline: .*no such option"),
    ],
)
def test_pipelines_that_do_not_parse_are_refused(pipeline, message):
    with pytest.raises(xetile.XeTileError, match=message):
        passes.run(parse(""), pipeline)


def test_a_failing_pass_tells_its_diagnostics_without_dumping_the_module():
    module = parse("gpu.module @k {}")
    with pytest.raises(xetile.XeTileError) as caught:
        passes.run(module, "xetile-attach-target{chip=xyz}", action="attach it")
    assert str(caught.value).startswith("cannot attach it:\n  ")
    assert [diagnostic.message for diagnostic in caught.value.diagnostics] == [
        "unknown chip 'xyz'; known: pvc, bmg, lnl"
    ]
    assert "see current operation" not in str(caught.value)


def test_passes_run_on_modules_only():
    with pytest.raises(xetile.XeTileError, match="expected a module to run passes on, got str"):
        passes.run("module {}", "canonicalize")


# Target


def test_targets_are_the_compilers():
    names = [target.name for target in targets.available()]
    assert [name for name in names if name != "sm_90a"] == ["bmg", "lnl", "pvc", "cpu"]
    pvc = xetile.Target("pvc")
    assert pvc in targets.available()
    assert str(pvc) == pvc.ocloc_device == "pvc"
    assert "Ponte Vecchio" in pvc.description
    assert (pvc.subgroup_size, pvc.registers, pvc.large_registers, pvc.register_bytes) == (16, 128, 256, 64)


def test_targets_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        xetile.Target("pvc").chip = "bmg"


@pytest.mark.parametrize("chip", ["CPU", "", "PVC", "pvc}", "a b"])
def test_unknown_targets_list_the_known_ones(chip):
    with pytest.raises(xetile.XeTileError, match=f"unknown chip '{chip}'; known: bmg, cpu, lnl, pvc"):
        xetile.Target(chip)


# matmul


def test_matmul_is_what_the_payload_file_has(payloads):
    file = parse((payloads / "matmul_f16.mlir").read_text())
    assert str(xetile.matmul(1024, 1024, 1024)) == str(file)
    zero = parse((payloads / "matmul_f16_zero.mlir").read_text())
    assert sorted(str(xetile.matmul(1024, 1024, 1024, accumulate=False)).replace("%cst", "").split()) == sorted(
        str(zero).replace("%cst", "").split()
    )


def test_matmul_takes_numpys_types_and_a_context():
    with ir.Context() as context:
        module = xetile.matmul(8, 16, 32, ml_dtypes.bfloat16, np.float32, context=context)
    assert module.context == context
    assert "tensor<8x32xbf16>, %arg1: tensor<32x16xbf16>, %arg2: tensor<8x16xf32>" in str(module)
    assert "tensor<8x32xi8>" in str(xetile.matmul(8, 16, 32, np.int8, "i32", accumulate=False))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 1), "expected m from 1 to 2147483647, got 0"),
        ((1, -1, 1), "expected n from 1 to 2147483647, got -1"),
        ((1, 1, 2.0), "expected k from 1 to 2147483647, got 2.0"),
        ((1, 1, True), "expected k from 1 to 2147483647, got True"),
        ((1, 2**40, 1), "expected n from 1 to 2147483647"),
        ((1, 1, 1, "f8"), "expected dtype to be one of bf16, f16, f32, i8, i32, got f8"),
        ((1, 1, 1, "f16", "f64"), "expected acc_dtype to be one of .*, got f64"),
        ((1, 1, 1, object()), "expected dtype to be one of"),
        ((1, 1, 1, "f16", "i32"), "cannot accumulate f16 in i32"),
    ],
)
def test_matmul_refuses_sizes_and_types(arguments, message):
    with pytest.raises(xetile.XeTileError, match=message):
        xetile.matmul(*arguments)


# reference


def test_reference_computes_payloads(rng):
    a, b = rng.standard_normal((8, 32)).astype(np.float16), rng.standard_normal((32, 16)).astype(np.float16)
    c = rng.standard_normal((8, 16)).astype(np.float32)
    expected = c + a.astype(np.float64) @ b.astype(np.float64)
    (result,) = reference.evaluate(xetile.matmul(8, 16, 32), (a, b, c))
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result, expected)
    (result,) = reference.evaluate(xetile.matmul(8, 16, 32, accumulate=False), (a, b), np.float32)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected - c, rtol=1e-4, atol=1e-5)


def test_reference_of_integers_is_exact():
    a, b = np.full((8, 32), -128, np.int8), np.full((32, 16), 127, np.int8)
    (result,) = reference.evaluate(xetile.matmul(8, 16, 32, "i8", "i32", accumulate=False), (a, b))
    assert result.dtype == np.int64
    assert (result == -128 * 127 * 32).all()


def test_differences_are_relative_to_the_largest_element_and_to_rows():
    expected = np.array([[100.0, 0.0], [3.0, 4.0]])
    result = expected + np.array([[1.0, 0.0], [0.0, -0.5]])
    difference = reference.compare(result.astype(np.float32), expected)
    assert difference.max_absolute == 1.0
    assert difference.max_relative == 0.01
    assert difference.row_relative == 0.1


def test_what_is_not_finite_is_infinitely_wrong():
    expected = np.ones((2, 2))
    for value in (np.nan, np.inf):
        result = expected.copy()
        result[1, 1] = value
        assert reference.compare(result, expected).max_relative == np.inf
    assert reference.compare(np.ones((2, 2)), np.zeros((2, 2))).max_relative == np.inf
    assert reference.compare(np.zeros((2, 2)), np.zeros((2, 2))).max_relative == 0


def test_flops_are_those_of_the_matmuls():
    assert reference.count_flops(xetile.matmul(8, 16, 32)) == 2 * 8 * 16 * 32
