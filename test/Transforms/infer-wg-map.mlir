// RUN: xetile-opt %s --xetile-infer-wg-map --split-input-file --verify-diagnostics | FileCheck %s

// The operands' maps keep the grid; m and n come from the result, k is whole.
// CHECK-DAG: #[[C:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-DAG: #[[A:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
// CHECK-DAG: #[[ATTR_C:.*]] = #xetile.tile_attr<wg_map = #[[C]]>
// CHECK-DAG: #[[ATTR_A:.*]] = #xetile.tile_attr<wg_map = #[[A]]>
#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-LABEL: func @from_mma
func.func @from_mma(%A: memref<256x256xf16>, %B: memref<256x256xf16>, %C: memref<256x256xf32>) {
  // CHECK: -> !xetile.tile<256x32xf16, #[[ATTR_A]]>
  %ta = xetile.init_tile %A[0, 0] : memref<256x256xf16> -> !xetile.tile<256x32xf16>
  // CHECK: xetile.update_tile_offset {{.*}} : !xetile.tile<256x32xf16, #[[ATTR_A]]>
  %ua = xetile.update_tile_offset %ta, [0, 32] : !xetile.tile<256x32xf16>
  %a = xetile.load_tile %ua : !xetile.tile<256x32xf16> -> vector<256x32xf16>
  // CHECK: -> !xetile.tile<32x256xf16, #[[ATTR_C]]>
  %tb = xetile.init_tile %B[0, 0] : memref<256x256xf16> -> !xetile.tile<32x256xf16>
  %b = xetile.load_tile %tb : !xetile.tile<32x256xf16> -> vector<32x256xf16>
  %d = xetile.tile_mma %a, %b {wg_map = #map_c} : vector<256x32xf16>, vector<32x256xf16> -> vector<256x256xf32>
  %e = math.absf %d : vector<256x256xf32>
  // CHECK: -> !xetile.tile<256x256xf32, #[[ATTR_C]]>
  %tc = xetile.init_tile %C[0, 0] : memref<256x256xf32> -> !xetile.tile<256x256xf32>
  xetile.store_tile %e, %tc : vector<256x256xf32>, !xetile.tile<256x256xf32>
  return
}

// -----

// From the stored tile back to the multiplication.
// CHECK: #[[C:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
// CHECK-LABEL: func @from_store
func.func @from_store(%a: vector<64x32xf16>, %b: vector<32x64xf16>, %C: memref<64x64xf32>) {
  // CHECK: xetile.tile_mma {{.*}} {wg_map = #[[C]]}
  %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
  %tc = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  xetile.store_tile %d, %tc : vector<64x64xf32>, !xetile.tile<64x64xf32, #attr>
  return
}

// -----

// Each use of a constant may have a map of its own.
#map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#rows = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 64]>
// CHECK-LABEL: func @constants
func.func @constants(%a: vector<64x32xf16>, %b: vector<32x64xf16>) {
  // CHECK-COUNT-2: arith.constant dense<0.000000e+00> : vector<64x64xf32>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %d = xetile.tile_mma %a, %b, %zero {wg_map = #map} : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
  %f = arith.addf %zero, %zero : vector<64x64xf32>
  return
}
