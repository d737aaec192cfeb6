# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums with negated numbers, whose last term the driver for CPUs loses where they are written as sums."""

import numpy as np
import xetile
from xetile.mlir import ir

# y = ((-r + max x) - r) + x: rows of a tile are of one subgroup each, whose lanes have one number of r.
TEXT = """
#map = #xetile.wg_map<sg_layout = [2, 4], sg_data = [16, 32]>
#tile = #xetile.tile_attr<wg_map = #map>
module attributes {gpu.container_module} {
gpu.module @device {
  gpu.func @f(%x: memref<12x49xf32>, %r: memref<1x49xf32>, %y: memref<12x49xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %number = arith.constant dense<49> : vector<1x128xindex>
    %low = arith.constant dense<0xFF800000> : vector<32x128xf32>
    %row_tile = xetile.init_tile %r[0, 0] : memref<1x49xf32> -> !xetile.tile<1x128xf32>
    %row = xetile.load_tile %row_tile : !xetile.tile<1x128xf32> -> vector<1x128xf32>
    %negated = arith.negf %row : vector<1x128xf32>
    %x_tile = xetile.init_tile %x[0, 0] : memref<12x49xf32> -> !xetile.tile<32x128xf32, #tile>
    %all = xetile.load_tile %x_tile : !xetile.tile<32x128xf32, #tile> -> vector<32x128xf32>
    %step = vector.step : vector<128xindex>
    %columns = vector.shape_cast %step : vector<128xindex> to vector<1x128xindex>
    %exist = arith.cmpi ult, %columns, %number : vector<1x128xindex>
    %mask = xetile.tile_broadcast %exist, [0] {wg_map = #map} : vector<1x128xi1> -> vector<32x128xi1>
    %seen = arith.select %mask, %all, %low : vector<32x128xi1>, vector<32x128xf32>
    %top = xetile.tile_reduce <maximumf> %seen, [1] : vector<32x128xf32> -> vector<32x1xf32>
    %a = xetile.tile_broadcast %negated, [0] {wg_map = #map} : vector<1x128xf32> -> vector<32x128xf32>
    %b = xetile.tile_broadcast %top, [1] {wg_map = #map} : vector<32x1xf32> -> vector<32x128xf32>
    %c = xetile.tile_broadcast %row, [0] {wg_map = #map} : vector<1x128xf32> -> vector<32x128xf32>
    %sum = arith.addf %a, %b : vector<32x128xf32>
    %difference = arith.subf %sum, %c : vector<32x128xf32>
    %result = arith.addf %difference, %all : vector<32x128xf32>
    %y_tile = xetile.init_tile %y[0, 0] : memref<12x49xf32> -> !xetile.tile<32x128xf32, #tile>
    xetile.store_tile %result, %y_tile : vector<32x128xf32>, !xetile.tile<32x128xf32, #tile>
    gpu.return
  }
}
func.func @main(%x: memref<12x49xf32>, %r: memref<1x49xf32>, %y: memref<12x49xf32>) attributes {llvm.emit_c_interface} {
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  gpu.launch_func @device::@f blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      args(%x : memref<12x49xf32>, %r : memref<1x49xf32>, %y : memref<12x49xf32>)
  return
}
}
"""


def test_a_row_is_subtracted_twice(rng):
    x = rng.standard_normal((12, 49)).astype(np.float32)
    r = rng.standard_normal((1, 49)).astype(np.float32) * 100
    y = np.full((12, 49), np.nan, np.float32)
    with ir.Context(), ir.Location.unknown():
        kernel = xetile.compile(ir.Module.parse(TEXT), target="pvc", native="off")
    kernel(x, r, y)
    wide, row = x.astype(np.float64), r.astype(np.float64)
    np.testing.assert_allclose(y, wide.max(1, keepdims=True) - 2 * row + wide, atol=1e-4)
