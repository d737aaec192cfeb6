# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls whose loads run ahead, that prefetch for two cache levels, and whose workgroups have another order.

On this machine's OpenCL device against NumPy. Inputs are small integers, so that sums are exact in any order and
results equal NumPy's; outputs are poisoned: a place of the grid that no workgroup has is a wrong number.
"""

import numpy as np
import pytest
import xetile
from gpu_matmuls import NUMPY, assert_batch_is_right, batch_behind_which_comes_relu, call, parse, small, tensor

SMALL = {"workgroup_m": 16, "workgroup_n": 32, "subgroups_m": 2, "subgroups_n": 1, "k_step": 16}
# (m, n, k), type, chip, parameters. Tiles divide few of these sizes; loops have fewer steps than loads run ahead, too.
CASES = [
    ((33, 65, 100), "f16", "pvc", {"load_ahead": 1}),
    ((17, 35, 67), "bf16", "bmg", {"load_ahead": 2, "prefetch": 1}),
    ((20, 40, 17), "f16", "lnl", {"load_ahead": 3, "prefetch": 0}),
    ((40, 72, 224), "f16", "pvc", {"load_ahead": 1, "split_k": 2}),
    ((35, 70, 130), "f16", "pvc", {"prefetch_far": 4, "prefetch": 1}),
    ((18, 48, 40), "bf16", "bmg", {"prefetch_far": 64, "prefetch": 0}),
    ((70, 100, 32), "f16", "pvc", {"order": "groups", "order_size": 2}),
    ((33, 130, 16), "f16", "bmg", {"order": "groups", "order_size": 1024}),
    ((97, 170, 20), "f16", "pvc", {"order": "hilbert", "order_size": 2}),
    ((81, 200, 33), "bf16", "lnl", {"order": "hilbert", "order_size": 4}),
    ((20, 200, 16), "f16", "pvc", {"order": "hilbert", "order_size": 64}),
    ((16, 32, 16), "f16", "pvc", {"order": "hilbert", "order_size": 8, "load_ahead": 1}),
    ((60, 90, 96), "f16", "bmg", {"order": "groups", "order_size": 3, "load_ahead": 1, "prefetch_far": 3}),
]


def product(compile_kernel, payload, params, chip="pvc"):
    return compile_kernel(payload, schedule="matmul", target=chip, params={**SMALL, **params})


@pytest.mark.one_in(5)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_products_are_exact(compile_kernel, rng, case):
    (m, n, k), dtype, chip, params = case
    kernel = product(compile_kernel, xetile.matmul(m, n, k, dtype), params, chip)
    a, b = small(rng, (m, k), NUMPY[dtype]), small(rng, (k, n), NUMPY[dtype])
    c = small(rng, (m, n), np.float32)
    np.testing.assert_array_equal(call(kernel, a, b, c), a.astype(np.float64) @ b.astype(np.float64) + c)


@pytest.mark.parametrize(
    "params", [{"load_ahead": 2}, {"order": "groups", "order_size": 2}, {"order": "hilbert", "order_size": 2}], ids=str
)
def test_sizes_that_only_a_run_knows(compile_kernel, rng, params):
    a, b, c = (tensor((None, None), kind) for kind in ("f16", "f16", "f32"))
    text = f"""
      func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
        %d = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
        return %d : {c}
      }}"""
    kernel = product(compile_kernel, parse(text), params)
    for m, n, k in [(20, 50, 52), (90, 130, 33), (1, 17, 15), (50, 97, 16)]:
        a, b, c = small(rng, (m, k), np.float16), small(rng, (k, n), np.float16), small(rng, (m, n), np.float32)
        np.testing.assert_array_equal(call(kernel, a, b, c), a.astype(np.float64) @ b.astype(np.float64) + c)


def test_batches_transposed_operands_and_what_follows(compile_kernel, rng):
    params = {"load_ahead": 1, "order": "groups", "order_size": 2, "prefetch_far": 2}
    kernel = product(compile_kernel, parse(batch_behind_which_comes_relu(50)), params, "bmg")
    assert_batch_is_right(kernel, rng, 50)


def test_infinities_and_nan_stay_in_their_rows(compile_kernel, rng):
    """What is loaded behind the end of k changes nothing."""
    kernel = product(compile_kernel, xetile.matmul(34, 70, 50), {"load_ahead": 2})
    a, b = small(rng, (34, 50), np.float16), small(rng, (50, 70), np.float16)
    a[2, 49], a[30, 5], b[49, :] = np.inf, np.nan, 1
    a[7, :8] = np.nan
    c = small(rng, (34, 70), np.float32)
    np.testing.assert_array_equal(call(kernel, a, b, c), a.astype(np.float64) @ b.astype(np.float64) + c)


def test_two_cache_levels_are_in_the_kernel(compile_kernel):
    kernel = product(compile_kernel, xetile.matmul(64, 64, 256), {"prefetch_far": 8, "prefetch": 2})
    text = str(kernel.stages["1-xetile-workgroup"])
    # Of A and B: so many before the loop, and one in each step.
    assert text.count("locality<2>") == 2 * (8 + 1)
    assert text.count("locality<3>") == 2 * (2 + 1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"load_ahead": 9}, "depth = 9: expected at most 8|load_ahead"),
        (
            {"load_ahead": 1, "slm_buffers": 2},
            "cannot load ahead: the loop writes to memory, which loads of later steps may read",
        ),
        ({"order": "columns"}, 'order = "columns": expected "rows", "groups" or "hilbert"'),
        ({"order": "groups", "order_size": 1}, "order_size = 1: expected groups of 2 to 1024 rows"),
        ({"order": "hilbert", "order_size": 6}, "order_size = 6: expected the side of a square on Hilbert's curve"),
    ],
)
def test_refusals(params, message):
    with pytest.raises(xetile.XeTileError, match=message):
        xetile.compile(xetile.matmul(1024, 1024, 1024), "matmul", "pvc", params, native="off")
