# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates of rows by their numbers, on CPUs: one after the other."""

import numpy as np
import pytest
import xetile
from scatter_programs import DTYPES, expected, inputs, scatter
from xetile.mlir import ir

TOLERANCES = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-5, "f64": 1e-12}


def check(rng, shape, count, dtype, kind, depth=1, **given):
    arrays = inputs(rng, shape, count, dtype, depth, **given)
    with ir.Context(), ir.Location.unknown():
        kernel = xetile.compile(ir.Module.parse(scatter(shape, count, dtype, kind, depth)), target="cpu")
    right, tolerance = expected(*arrays, kind), TOLERANCES.get(dtype, 0)
    got = kernel(*arrays)
    np.testing.assert_allclose(got.astype(np.float64), right.astype(np.float64), rtol=tolerance, atol=20 * tolerance)


# Bits have no signs, of which maxima are.
@pytest.mark.parametrize(
    ("dtype", "kind"),
    [(d, k) for d in DTYPES for k in ("add", "maximum", "replace") if (d, k) != ("i1", "maximum")],
)
def test_every_type_and_kind_is_right(rng, dtype, kind):
    check(rng, (31, 21), 30, dtype, kind, unique=kind == "replace")


@pytest.mark.parametrize(
    "shape, count, depth", [((9,), 300, 1), ((3, 5, 7), 33, 2), ((4, 2, 3, 5), 20, 4), ((6, 5), 0, 1), ((1, 1), 1, 1)]
)
def test_all_ranks_and_sizes_are_updated(rng, shape, count, depth):
    check(rng, shape, count, "f32", "add", depth)


@pytest.mark.parametrize("index", [7, -8])
def test_an_index_out_of_bounds_is_an_error_of_the_call(rng, index):
    x, rows, updates = inputs(rng, (7, 5), 9, "f32", beyond=False)
    rows[4] = index
    with ir.Context(), ir.Location.unknown():
        kernel = xetile.compile(ir.Module.parse(scatter((7, 5), 9, "f32", "add", asserts=True)), target="cpu")
    with pytest.raises(xetile.XeTileError, match="an index of what is updated is out of bounds"):
        kernel(x, rows, updates)
