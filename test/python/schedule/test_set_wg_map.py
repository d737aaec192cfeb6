# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""transform.xetile.set_wg_map at few operations of a kernel: the maps of all others follow, and numbers stay right.

The kernel has no map by itself. Inputs are small integers, so that sums are exact in any order; outputs are poisoned.
"""

import numpy as np
import pytest
import workgroups
import xetile
from xetile import XeTileError
from xetile.mlir import ir
from xetile.schedule import Module, define, knob, ops
from xetile.schedule.handles import Handle

# C = max(A B + row, 0), the sums of its columns, its transpose, and an update of Z by it.
BODY = """
  %ta = xetile.init_tile %a[0, 0] : memref<32x16xf16> -> !xetile.tile<32x16xf16>
  xetile.prefetch_tile %ta locality<3> : !xetile.tile<32x16xf16>
  %va = xetile.load_tile %ta : !xetile.tile<32x16xf16> -> vector<32x16xf16>
  %tb = xetile.init_tile %b[0, 0] : memref<16x32xf16> -> !xetile.tile<16x32xf16>
  %vb = xetile.load_tile %tb : !xetile.tile<16x32xf16> -> vector<16x32xf16>
  %d = xetile.tile_mma %va, %vb : vector<32x16xf16>, vector<16x32xf16> -> vector<32x32xf32>
  %tr = xetile.init_tile %row[0, 0] : memref<1x32xf32> -> !xetile.tile<1x32xf32>
  %r = xetile.load_tile %tr : !xetile.tile<1x32xf32> -> vector<1x32xf32>
  %rows = xetile.tile_broadcast %r, [0] : vector<1x32xf32> -> vector<32x32xf32>
  %sum = arith.addf %d, %rows : vector<32x32xf32>
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %m = arith.maximumf %sum, %zero : vector<32x32xf32>
  %tc = xetile.init_tile %c[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32>
  xetile.store_tile %m, %tc : vector<32x32xf32>, !xetile.tile<32x32xf32>
  %s = xetile.tile_reduce <add> %m, [0] : vector<32x32xf32> -> vector<1x32xf32>
  %ts = xetile.init_tile %s_out[0, 0] : memref<1x32xf32> -> !xetile.tile<1x32xf32>
  xetile.store_tile %s, %ts : vector<1x32xf32>, !xetile.tile<1x32xf32>
  %t = xetile.tile_transpose %m, [1, 0] : vector<32x32xf32> -> vector<32x32xf32>
  %tt = xetile.init_tile %t_out[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32>
  xetile.store_tile %t, %tt : vector<32x32xf32>, !xetile.tile<32x32xf32>
  %tz = xetile.init_tile %z[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32>
  %old = xetile.atomic_rmw_tile <addf> %m, %tz : vector<32x32xf32>, !xetile.tile<32x32xf32> -> vector<32x32xf32>
"""
KINDS = {
    "a": "memref<32x16xf16>", "b": "memref<16x32xf16>", "row": "memref<1x32xf32>", "c": "memref<32x32xf32>",
    "s_out": "memref<1x32xf32>", "t_out": "memref<32x32xf32>", "z": "memref<32x32xf32>",
}  # fmt: skip
# Where maps are set, the grid of subgroups, the chip.
CASES = [
    (("xetile.load_tile", "xetile.tile_mma"), (2, 2), "lnl"),
    (("xetile.store_tile",), (2, 2), "pvc"),
    (("xetile.prefetch_tile", "xetile.tile_mma"), (4, 1), "lnl"),
    (("xetile.tile_broadcast",), (4, 1), "pvc"),
]


def mapped(names, layout):
    """A schedule that sets the map of the operations of these names."""

    @define
    def schedule(module: Module, *, target: str = knob("pvc", doc="chip to compile for")) -> Module:
        ops.set_wg_map(ops.match(module, Handle, ops=list(names)), *layout)
        return module

    return schedule


def parse(body, subgroups):
    with ir.Context():
        return ir.Module.parse(workgroups.launched(body, KINDS, subgroups))


@pytest.mark.parametrize(("names", "layout", "chip"), CASES)
def test_numbers_are_right_wherever_the_map_is_set(rng, monkeypatch, names, layout, chip):
    monkeypatch.setenv("XETILE_BUILTINS", "portable")
    kernel = xetile.compile(parse(BODY, layout[0] * layout[1]), mapped(names, layout), chip, native="off")
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((32, 16), (16, 32)))
    row, z = rng.integers(-9, 10, (1, 32)).astype(np.float32), rng.integers(-9, 10, (32, 32)).astype(np.float32)
    c, s, t = (np.full(shape, np.nan, np.float32) for shape in ((32, 32), (1, 32), (32, 32)))
    before = z.copy()
    kernel(a, b, row, c, s, t, z)
    expected = np.maximum(a.astype(np.float64) @ b.astype(np.float64) + row, 0)
    for got, right in ((c, expected), (s, expected.sum(0, keepdims=True)), (t, expected.T), (z, before + expected)):
        np.testing.assert_array_equal(got, right)


def test_a_value_that_no_map_follows_for_is_refused():
    with pytest.raises(XeTileError, match="'xetile.tile_mma' op has a value .* without a wg_map, and none follows"):
        xetile.compile(parse(BODY, 4), mapped(["xetile.load_tile"], (2, 2)), "pvc", native="off")


def test_a_kernel_of_several_subgroups_without_any_map_is_refused():
    with pytest.raises(XeTileError, match="each of its 8 subgroups would do all of it"):
        xetile.compile(parse(BODY, 8), target="pvc", native="off")
