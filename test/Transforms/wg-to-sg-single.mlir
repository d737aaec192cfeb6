// RUN: xetile-opt %s --xetile-wg-to-sg | FileCheck %s

#map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [32, 32]>
#tile = #xetile.tile_attr<wg_map = #map>
gpu.module @k {
  // The one subgroup owns whole vectors: only the maps go, in loops too.
  // CHECK-LABEL: gpu.func @single_subgroup_in_a_loop
  // CHECK-NOT: wg_map
  // CHECK: scf.for {{.*}} -> (vector<32x32xf32>)
  // CHECK: xetile.tile_mma %{{.*}}, %{{.*}}, %{{.*}} : vector<32x32xf16>, vector<32x32xf16>, vector<32x32xf32> -> vector<32x32xf32>
  // CHECK: arith.negf
  // CHECK-NOT: wg_map
  gpu.func @single_subgroup_in_a_loop(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %tc = xetile.init_tile %c[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32, #tile>
    %zero = xetile.load_tile %tc : !xetile.tile<32x32xf32, #tile> -> vector<32x32xf32>
    %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (vector<32x32xf32>) {
      %ta = xetile.init_tile %a[0, %k] : memref<32x64xf16> -> !xetile.tile<32x32xf16, #tile>
      %va = xetile.load_tile %ta : !xetile.tile<32x32xf16, #tile> -> vector<32x32xf16>
      %tb = xetile.init_tile %b[%k, 0] : memref<64x32xf16> -> !xetile.tile<32x32xf16, #tile>
      %vb = xetile.load_tile %tb : !xetile.tile<32x32xf16, #tile> -> vector<32x32xf16>
      %next = xetile.tile_mma %va, %vb, %acc {wg_map = #map}
          : vector<32x32xf16>, vector<32x32xf16>, vector<32x32xf32> -> vector<32x32xf32>
      %neg = arith.negf %next : vector<32x32xf32>
      scf.yield %neg : vector<32x32xf32>
    }
    xetile.store_tile %sum, %tc : vector<32x32xf32>, !xetile.tile<32x32xf32, #tile>
    gpu.return
  }
}
