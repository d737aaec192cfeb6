# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stores of few rows that lie one behind the other, as messages of eight shorter ones, compared with NumPy."""

import numpy as np
import pytest
from subgroup_programs import memref, poisoned, run_stage, tile


@pytest.mark.parametrize(
    ("rows", "columns", "dtype"),
    [
        (4, 256, "f32"),
        (2, 256, "f32"),
        # Blocks of two rows, in three groups.
        (6, 128, "f32"),
        (4, 128, "f16"),
        (2, 256, "bf16"),
        (4, 512, "i8"),
        # Parts of no whole number of blocks, and of less than 64 bytes: as they are.
        (4, 48, "f32"),
        (4, 32, "f16"),
    ],
)
@pytest.mark.parametrize("first", [0, 8])
def test_all_elements_are_stored_where_they_belong(rng, rows, columns, dtype, first):
    """A tile of a matrix with more rows, which stay as they are."""
    out = poisoned((rows + 8, columns), dtype)
    x = rng.integers(-99, 99, (rows, columns)).astype(out.dtype)
    expected = out.copy()
    expected[first : first + rows] = x
    kind = tile(rows, columns, dtype)
    body = f"""
      %t = xetile.init_tile %0[0, 0] : {memref(x)} -> {kind}
      %o = xetile.init_tile %1[{first}, 0] : {memref(out)} -> {kind}
      %v = xetile.load_tile %t : {kind} -> vector<{rows}x{columns}x{dtype}>
      xetile.store_tile %v, %o : vector<{rows}x{columns}x{dtype}>, {kind}
    """
    run_stage("device", body, x, out)
    np.testing.assert_array_equal(out.astype(np.float64), expected.astype(np.float64))
