# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the matmul schedule, run on this machine's OpenCL device and compared with NumPy."""

import element_types
import numpy as np
import pytest
import xetile
from xetile import reference
from xetile.compiling.compiler import read_payload
from xetile.mlir import ir

DTYPES = element_types.scalars("f16", "bf16")
# f32 sums of up to 1024 products of values near 1 differ in the last bits by their order.
TOLERANCE = 1e-5


def normal(rng, shape, dtype):
    return rng.standard_normal(shape, np.float32).astype(dtype)


def small_integers(rng, shape, dtype):
    """Values whose products and sums are exact in f32, in any order."""
    return rng.integers(-4, 5, shape).astype(dtype)


def assert_close(result, a, b, c=0.0):
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    assert result.dtype == np.float32
    assert result.shape == expected.shape
    difference = reference.compare(result, expected)
    assert difference.max_relative < TOLERANCE, difference
    assert difference.row_relative < TOLERANCE, difference


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [256, 512, 1024])
def test_square_matmul_agrees_with_numpy(compile_kernel, rng, size, dtype):
    kernel = compile_kernel(xetile.matmul(size, size, size, dtype))
    a, b = (normal(rng, (size, size), DTYPES[dtype]) for _ in range(2))
    c = normal(rng, (size, size), np.float32)
    assert_close(kernel(a, b, c), a, b, c)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "params",
    [
        {"workgroup_m": 128, "workgroup_n": 128, "subgroups_m": 4, "subgroups_n": 4},
        {"workgroup_m": 64, "workgroup_n": 128, "subgroups_m": 2, "subgroups_n": 8},
        {"workgroup_m": 8, "workgroup_n": 16, "subgroups_m": 1, "subgroups_n": 1},
        {"workgroup_m": 32, "workgroup_n": 32, "subgroups_m": 1, "subgroups_n": 1},
        {"workgroup_m": 96, "workgroup_n": 128, "subgroups_m": 4, "subgroups_n": 4},
        {"k_step": 16},
        {"k_step": 64, "workgroup_m": 128},
        {"prefetch": 0},
        {"prefetch": 64},
    ],
    ids=lambda params: ",".join(f"{key}={value}" for key, value in params.items()),
)
def test_every_tiling_gives_the_exact_result(compile_kernel, rng, params):
    m, n, k = 192 if params.get("workgroup_m") == 96 else 256, 512, 128
    kernel = compile_kernel(xetile.matmul(m, n, k), params=params)
    a, b = small_integers(rng, (m, k), np.float16), small_integers(rng, (k, n), np.float16)
    c = small_integers(rng, (m, n), np.float32)
    np.testing.assert_array_equal(kernel(a, b, c), a.astype(np.float32) @ b.astype(np.float32) + c)


def test_a_single_step_along_k_needs_no_loop(compile_kernel, rng):
    kernel = compile_kernel(xetile.matmul(256, 256, 32))
    a, b = small_integers(rng, (256, 32), np.float16), small_integers(rng, (32, 256), np.float16)
    c = small_integers(rng, (256, 256), np.float32)
    np.testing.assert_array_equal(kernel(a, b, c), a.astype(np.float32) @ b.astype(np.float32) + c)


@pytest.mark.parametrize("target", ["pvc", "bmg", "lnl"])
def test_kernels_for_every_target_run_here(compile_kernel, rng, target):
    kernel = compile_kernel(xetile.matmul(256, 256, 64), target=target)
    a, b = small_integers(rng, (256, 64), np.float16), small_integers(rng, (64, 256), np.float16)
    c = small_integers(rng, (256, 256), np.float32)
    np.testing.assert_array_equal(kernel(a, b, c), a.astype(np.float32) @ b.astype(np.float32) + c)


@pytest.mark.parametrize("dtype", DTYPES)
def test_accumulator_can_start_from_zero(compile_kernel, rng, dtype):
    kernel = compile_kernel(xetile.matmul(256, 256, 256, dtype, accumulate=False))
    a, b = (normal(rng, (256, 256), DTYPES[dtype]) for _ in range(2))
    assert_close(kernel(a, b), a, b)


@pytest.mark.parametrize("name", ["matmul_f16.mlir", "matmul_bf16.mlir", "matmul_f16_zero.mlir"])
def test_payload_files_agree_with_their_reference(compile_kernel, payloads, rng, name):
    payload = read_payload(payloads / name)
    kernel = compile_kernel(payloads / name)
    arguments = reference.random_arguments(kernel.signature, rng)
    (expected,) = reference.evaluate(payload, arguments)
    assert reference.compare(kernel(*arguments), expected).max_relative < TOLERANCE


def test_infinities_and_nans_stay_in_their_rows(compile_kernel, rng):
    kernel = compile_kernel(xetile.matmul(256, 256, 64))
    a, b = normal(rng, (256, 64), np.float16), normal(rng, (64, 256), np.float16)
    a[3, 5], a[200, 0] = np.inf, np.nan
    d = kernel(a, b, np.zeros((256, 256), np.float32))
    assert np.flatnonzero(~np.isfinite(d).all(axis=1)).tolist() == [3, 200]
    assert np.isnan(d[200]).all()
    assert np.isinf(d[3]).all()


NARROW = """
!a = tensor<40x{k}x{t}>
!b = tensor<{k}x33x{t}>
!c = tensor<40x33x{t}>
func.func @product(%a: !a, %b: !b, %c: !c) -> !c {{
  %0 = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
  return %0 : !c
}}"""


@pytest.mark.parametrize("schedule", ["matmul", "gpu_model"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_narrow_results_are_rounded_once(compile_kernel, rng, dtype, schedule):
    with ir.Context():
        kernel = compile_kernel(ir.Module.parse(NARROW.format(k=2048, t=dtype)), schedule=schedule)
    # Sums grow, so that one of a narrow type would lose what is added late.
    a, b, c = (rng.uniform(0, 1, shape).astype(DTYPES[dtype]) for shape in [(40, 2048), (2048, 33), (40, 33)])
    expected = (a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)).astype(DTYPES[dtype])
    got, expected = kernel(a, b, c).view(np.int16).astype(int), expected.view(np.int16).astype(int)
    assert np.abs(got - expected).max() <= 1  # in the last bit
    assert (got == expected).mean() > 0.95
