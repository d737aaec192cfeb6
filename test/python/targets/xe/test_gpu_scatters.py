# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates of rows by their numbers, as atomics of a kernel: sums, extremes, products, and what replaces."""

import numpy as np
import pytest
import xetile
from scatter_programs import DTYPES, expected, inputs, scatter
from xetile.mlir import ir

TOLERANCES = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-5, "f64": 1e-12}


@pytest.fixture
def run(compile_kernel):
    """Compiles a program as users do and calls it; results start as what would be seen."""

    def run_(text, arrays, right, dtype, target="pvc"):
        with ir.Context(), ir.Location.unknown():
            kernel = compile_kernel(ir.Module.parse(text), target=target, native="off")
        out = np.frombuffer(b"\xa5" * right.nbytes, np.uint8).copy()
        out = out.view(right.dtype).reshape(right.shape) if right.dtype != np.bool_ else np.ones_like(right)
        before = [each.copy() for each in arrays]
        kernel(*arrays, out=out)
        tolerance = TOLERANCES.get(dtype, 0)
        np.testing.assert_allclose(
            out.astype(np.float64), right.astype(np.float64), rtol=tolerance, atol=20 * tolerance
        )
        for each, kept in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(each, kept)

    return run_


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_rows_are_right_in_every_type(run, rng, dtype):
    arrays = inputs(rng, (7, 21), 50, dtype)
    run(scatter((7, 21), 50, dtype, "add"), arrays, expected(*arrays, "add"), dtype)


@pytest.mark.parametrize(
    "shape, count, depth",
    [
        ((9,), 300, 1),
        ((1,), 5, 1),
        ((40, 64), 1, 1),
        ((3, 5, 7), 33, 2),
        ((3, 5, 7), 33, 3),
        ((4, 2, 3, 5), 20, 1),
        ((4, 2, 3, 5), 20, 4),
        ((130, 300), 77, 1),
        ((5, 1), 40, 1),
        ((1, 40), 40, 1),
    ],
)
def test_all_ranks_and_sizes_are_updated(run, rng, shape, count, depth):
    arrays = inputs(rng, shape, count, "f32", depth)
    run(scatter(shape, count, "f32", "add", depth), arrays, expected(*arrays, "add"), "f32")


def test_no_updates_leave_what_is_there(run, rng):
    arrays = inputs(rng, (6, 5), 0, "f32")
    run(scatter((6, 5), 0, "f32", "add"), arrays, arrays[0].copy(), "f32")


@pytest.mark.parametrize("kind", ["maximum", "minimum", "multiply"])
@pytest.mark.parametrize("dtype", ["f16", "f32", "i8", "i64"])
def test_extremes_and_products(run, rng, dtype, kind):
    arrays = inputs(rng, (7, 21), 30, dtype)
    run(scatter((7, 21), 30, dtype, kind), arrays, expected(*arrays, kind), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_replaces_is_stored_where_it_belongs(run, rng, dtype):
    arrays = inputs(rng, (50, 21), 30, dtype, unique=True)
    run(scatter((50, 21), 30, dtype, "replace"), arrays, expected(*arrays, "replace"), dtype)


def test_nan_and_infinities_reach_their_rows_alone(run, rng):
    x, rows, updates = inputs(rng, (6, 33), 12, "f32")
    updates[2], updates[5], updates[7] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        right = expected(x, rows, updates, "add")
    run(scatter((6, 33), 12, "f32", "add"), [x, rows, updates], right, "f32")


def test_updates_that_are_computed_are_computed_in_the_kernel(rng):
    body = "%two = arith.constant dense<2.0> : tensor<20x1x16xf32>\n%u = arith.mulf %v, %two : tensor<20x1x16xf32>\n"
    with ir.Context(), ir.Location.unknown():
        kernel = xetile.compile(
            ir.Module.parse(scatter((9, 16), 20, "f32", "add", body=body)), target="pvc", native="off"
        )
    told = kernel.explain()
    assert "scatter" in told
    assert "elementwise" not in told
    x, rows, updates = inputs(rng, (9, 16), 20, "f32")
    np.testing.assert_allclose(kernel(x, rows, updates), expected(x, rows, updates * 2, "add"), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", ["bmg"])
def test_other_chips_update_rows_as_well(run, rng, target):
    arrays = inputs(rng, (7, 40), 50, "f32")
    run(scatter((7, 40), 50, "f32", "add"), arrays, expected(*arrays, "add"), "f32", target)


def test_indices_of_i32_are_as_good(run, rng):
    arrays = inputs(rng, (7, 40), 50, "i32", index=np.int32)
    run(scatter((7, 40), 50, "i32", "add", index="i32"), arrays, expected(*arrays, "add"), "i32")
