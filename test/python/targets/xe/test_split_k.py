# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls whose k is shared by workgroups, by `xetile.compile`: partial sums, and a second kernel that adds them up.

Inputs are small integers, so that sums are exact in any order and results equal NumPy's. Outputs are poisoned.
"""

import numpy as np
import pytest
import xetile
from gpu_matmuls import NUMPY, assert_batch_is_right, batch_behind_which_comes_relu, call, parse, small
from xetile import XeTileError

CHIPS = ["pvc", "bmg", "lnl"]
# (m, n, k), types, parts: 0 leaves them to the compiler. No tile divides these sizes.
CASES = [
    ((40, 72, 5000), "f16", "f32", 0),
    ((1, 31, 4099), "bf16", "f32", 0),
    ((33, 17, 4096), "f16", "f16", 3),
    ((65, 63, 4100), "i8", "i32", 0),
    ((17, 40, 100), "f16", "f32", 2),
    ((5, 33, 300), "f32", "f32", 2),
    ((9, 130, 1027), "f16", "f32", 11),
]


def launches(kernel: xetile.Kernel) -> int:
    """In the host code."""
    return str(kernel.stages["1-xetile-workgroup"]).count("gpu.launch_func")


def check(compile_kernel, rng, shape, dtype, result, parts, chip):
    (m, n, k), params = shape, {"split_k": parts}
    if dtype == "f32":
        params["precision"] = "tf32"
    kernel = compile_kernel(xetile.matmul(m, n, k, dtype, result), schedule="matmul", target=chip, params=params)
    a, b = small(rng, (m, k), NUMPY[dtype]), small(rng, (k, n), NUMPY[dtype])
    c = small(rng, (m, n), NUMPY[result])
    # f16 holds the sums of few terms exactly: rounded once, they are NumPy's.
    expected = (a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)).astype(NUMPY[result])
    np.testing.assert_array_equal(call(kernel, a, b, c), expected)
    return kernel


@pytest.mark.one_in(5)
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("shape", "dtype", "result", "parts"), CASES)
def test_parts_add_up(compile_kernel, rng, shape, dtype, result, parts, chip):
    kernel = check(compile_kernel, rng, shape, dtype, result, parts, chip)
    assert launches(kernel) == 2


@pytest.mark.parametrize("shape", [(40, 72, 2000), (4096, 2048, 4096)])
def test_few_steps_and_many_tiles_are_one_kernel(shape):
    assert launches(xetile.compile(xetile.matmul(*shape), "matmul", "pvc", native="off")) == 1


def test_one_part_is_one_kernel(compile_kernel, rng):
    assert launches(check(compile_kernel, rng, (40, 72, 5000), "f16", "f32", 1, "pvc")) == 1


def test_results_are_the_same_in_every_run(compile_kernel, rng):
    kernel = compile_kernel(xetile.matmul(40, 72, 5000), schedule="matmul", target="pvc")
    a = rng.standard_normal((40, 5000)).astype(np.float16)
    b = rng.standard_normal((5000, 72)).astype(np.float16)
    c = rng.standard_normal((40, 72)).astype(np.float32)
    first = call(kernel, a, b, c)
    for _ in range(3):
        np.testing.assert_array_equal(call(kernel, a, b, c), first)
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    assert np.abs(first - expected).max() < 1e-5 * np.abs(expected).max()


def test_infinities_and_nan_stay_in_their_rows(compile_kernel, rng):
    kernel = compile_kernel(xetile.matmul(9, 33, 5003), schedule="matmul", target="pvc")
    a, b = small(rng, (9, 5003), np.float16), small(rng, (5003, 33), np.float16)
    a[2, 5002], a[4, 1300], b[5002, :] = np.inf, np.nan, 1
    # What stands behind the end of the row before, where the last part hangs over.
    a[7, :8] = np.nan
    c = small(rng, (9, 33), np.float32)
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    np.testing.assert_array_equal(call(kernel, a, b, c), expected)


def test_batches_transposed_operands_and_what_follows(compile_kernel, rng):
    kernel = compile_kernel(
        parse(batch_behind_which_comes_relu(2100)), schedule="matmul", target="bmg", params={"split_k": 3}
    )
    assert launches(kernel) == 2
    assert_batch_is_right(kernel, rng, 2100)


def test_a_program_splits_its_long_matmuls(compile_kernel, rng):
    text = """
      func.func @f(%a: tensor<24x4104xf16>, %b: tensor<4104x40xf16>) -> (tensor<24x40xf32>, tensor<24xf32>) {
        %zero = arith.constant 0.0 : f32
        %none = tensor.empty() : tensor<24x40xf32>
        %init = linalg.fill ins(%zero : f32) outs(%none : tensor<24x40xf32>) -> tensor<24x40xf32>
        %d = linalg.matmul ins(%a, %b : tensor<24x4104xf16>, tensor<4104x40xf16>)
            outs(%init : tensor<24x40xf32>) -> tensor<24x40xf32>
        %few = tensor.empty() : tensor<24xf32>
        %start = linalg.fill ins(%zero : f32) outs(%few : tensor<24xf32>) -> tensor<24xf32>
        %r = linalg.reduce {arith.addf} ins(%d : tensor<24x40xf32>) outs(%start : tensor<24xf32>) dimensions = [1]
        return %d, %r : tensor<24x40xf32>, tensor<24xf32>
      }"""
    kernel = compile_kernel(parse(text), target="pvc")
    assert "memref<4x24x40xf32>" in str(kernel.stages["1-xetile-workgroup"])
    a, b = small(rng, (24, 4104), np.float16), small(rng, (4104, 40), np.float16)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    d, r = kernel(a, b)
    np.testing.assert_array_equal(d, expected)
    np.testing.assert_array_equal(r, expected.sum(1))


def test_parts_that_k_does_not_have_are_refused_with_the_nearest_number():
    with pytest.raises(XeTileError, match=r"split_k = 8: k = 104 in parts of 32, .* is 4 parts; expected split_k = 4"):
        xetile.compile(xetile.matmul(40, 72, 104), "matmul", "pvc", {"split_k": 8})
