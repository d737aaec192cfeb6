// RUN: xetile-opt %s | xetile-opt | FileCheck %s
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | FileCheck %s
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | FileCheck %s

// CHECK-DAG: #[[MAP:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-DAG: #[[MAP_T:.*]] = #xetile.wg_map<sg_layout = [4, 8], sg_data = [64, 32]>
// CHECK-DAG: #[[MAP_R:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
// CHECK-DAG: #[[ALL:.*]] = #xetile.tile_attr<wg_map = #{{.*}}, order = [0, 1], inner_blocks = [32, 16]>
// CHECK-DAG: #[[DEFAULT:.*]] = #xetile.tile_attr<>
// CHECK-DAG: #[[SCATTER:.*]] = #xetile.tile_attr<scatter = true>
// CHECK-DAG: #[[BLOCKS:.*]] = #xetile.tile_attr<inner_blocks = [16, 16]>
// CHECK-DAG: #[[SLM:.*]] = #xetile.tile_attr<memory_space = slm>
#map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_t = #xetile.wg_map<sg_layout = [4, 8], sg_data = [64, 32]>
#map_r = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
#blocks = #xetile.tile_attr<inner_blocks = [16, 16]>
#scatter = #xetile.tile_attr<scatter = true>
#slm_space = #xegpu<memory_space slm>
#slm = #xetile.tile_attr<memory_space = slm>

// All properties in another order than they are printed in; defaults are not printed.
// CHECK-LABEL: func private @properties
// CHECK-SAME: !xetile.tile<128x128xf16, #[[ALL]]>
// CHECK-SAME: !xetile.tile<8x16xf16, #[[DEFAULT]]>
func.func private @properties(
    !xetile.tile<128x128xf16, #xetile.tile_attr<inner_blocks = [32, 16], order = [0, 1],
        wg_map = <sg_layout = [2, 2], sg_data = [32, 128]>>>,
    !xetile.tile<8x16xf16, #xetile.tile_attr<memory_space = global, scatter = false>>)

// CHECK-LABEL: func @memory_spaces
func.func @memory_spaces(%a: memref<64x64xf16, 3>, %b: memref<64x64xf16, #gpu.address_space<workgroup>>,
    %c: memref<64x64xf16, #slm_space>, %d: memref<64x64xf16, 1>) {
  // CHECK: xetile.init_tile %{{.*}}[0, 0] : memref<64x64xf16, 3> -> !xetile.tile<8x16xf16, #[[SLM]]>
  %0 = xetile.init_tile %a[0, 0] : memref<64x64xf16, 3> -> !xetile.tile<8x16xf16, #slm>
  // CHECK: memref<64x64xf16, #gpu.address_space<workgroup>> -> !xetile.tile<8x16xf16, #[[SLM]]>
  %1 = xetile.init_tile %b[0, 0] : memref<64x64xf16, #gpu.address_space<workgroup>> -> !xetile.tile<8x16xf16, #slm>
  // CHECK: memref<64x64xf16, {{.*}}> -> !xetile.tile<8x16xf16, #[[SLM]]>
  %2 = xetile.init_tile %c[0, 0] : memref<64x64xf16, #slm_space> -> !xetile.tile<8x16xf16, #slm>
  // CHECK: memref<64x64xf16, 1> -> !xetile.tile<8x16xf16>
  %3 = xetile.init_tile %d[0, 0] : memref<64x64xf16, 1> -> !xetile.tile<8x16xf16>
  return
}

// CHECK-LABEL: func @blocked
func.func @blocked(%A: memref<128x128xf16>) -> vector<4x2x16x16xf16> {
  %t = xetile.init_tile %A[0, 0] : memref<128x128xf16> -> !xetile.tile<64x32xf16, #blocks>
  // CHECK: xetile.load_tile %{{.*}} : !xetile.tile<64x32xf16, #[[BLOCKS]]> -> vector<4x2x16x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<64x32xf16, #blocks> -> vector<4x2x16x16xf16>
  // CHECK: xetile.store_tile %{{.*}}, %{{.*}} : vector<4x2x16x16xf16>, !xetile.tile<64x32xf16, #[[BLOCKS]]>
  xetile.store_tile %v, %t : vector<4x2x16x16xf16>, !xetile.tile<64x32xf16, #blocks>
  // CHECK: xetile.atomic_rmw_tile <addf> %{{.*}}, %{{.*}} : vector<4x2x16x16xf16>, !xetile.tile<64x32xf16, #[[BLOCKS]]> -> vector<4x2x16x16xf16>
  %old = xetile.atomic_rmw_tile <addf> %v, %t : vector<4x2x16x16xf16>, !xetile.tile<64x32xf16, #blocks> -> vector<4x2x16x16xf16>
  return %old : vector<4x2x16x16xf16>
}

// CHECK-LABEL: func @scattered
// CHECK-SAME: (%[[P:.*]]: i64, %[[I:.*]]: vector<1x256xindex>, %[[M:.*]]: vector<1x256xi1>)
func.func @scattered(%address: i64, %indices: vector<1x256xindex>, %mask: vector<1x256xi1>) {
  // CHECK: %[[T:.*]] = xetile.init_tile %[[P]], %[[I]] : i64, vector<1x256xindex> -> !xetile.tile<1x256xbf16, #[[SCATTER]]>
  %t = xetile.init_tile %address, %indices : i64, vector<1x256xindex> -> !xetile.tile<1x256xbf16, #scatter>
  // CHECK: %[[V:.*]] = xetile.load_gather %[[T]], %[[M]] {padding = 1.000000e+00 : bf16} : !xetile.tile<1x256xbf16, #[[SCATTER]]>, vector<1x256xi1> -> vector<1x256xbf16>
  %v = xetile.load_gather %t, %mask {padding = 1.0 : bf16} : !xetile.tile<1x256xbf16, #scatter>, vector<1x256xi1> -> vector<1x256xbf16>
  // CHECK: %[[U:.*]] = xetile.update_tile_offset %[[T]], %[[I]] : !xetile.tile<1x256xbf16, #[[SCATTER]]>, vector<1x256xindex>
  %u = xetile.update_tile_offset %t, %indices : !xetile.tile<1x256xbf16, #scatter>, vector<1x256xindex>
  // CHECK: xetile.store_scatter %[[V]], %[[M]], %[[U]] : vector<1x256xbf16>, vector<1x256xi1>, !xetile.tile<1x256xbf16, #[[SCATTER]]>
  xetile.store_scatter %v, %mask, %u : vector<1x256xbf16>, vector<1x256xi1>, !xetile.tile<1x256xbf16, #scatter>
  // CHECK: xetile.atomic_rmw_scatter <addf> %[[V]], %[[M]], %[[U]] : vector<1x256xbf16>, vector<1x256xi1>, !xetile.tile<1x256xbf16, #[[SCATTER]]>
  xetile.atomic_rmw_scatter <addf> %v, %mask, %u : vector<1x256xbf16>, vector<1x256xi1>, !xetile.tile<1x256xbf16, #scatter>
  return
}

// CHECK-LABEL: func @vectors
func.func @vectors(%v: vector<64x32xf32>, %row: vector<1x32xf32>, %n: vector<64x32xi32>) {
  // CHECK: xetile.tile_transpose %{{.*}}, [1, 0] : vector<64x32xf32> -> vector<32x64xf32>
  %t = xetile.tile_transpose %v, [1, 0] : vector<64x32xf32> -> vector<32x64xf32>
  // CHECK: xetile.tile_reduce <maximumf> %{{.*}}, [1] : vector<64x32xf32> -> vector<64x1xf32>
  %r = xetile.tile_reduce <maximumf> %v, [1] : vector<64x32xf32> -> vector<64x1xf32>
  // CHECK: xetile.tile_reduce <xor> %{{.*}}, [0, 1] : vector<64x32xi32> -> vector<1x1xi32>
  %x = xetile.tile_reduce <xor> %n, [0, 1] : vector<64x32xi32> -> vector<1x1xi32>
  // CHECK: xetile.tile_broadcast %{{.*}}, [0] : vector<1x32xf32> -> vector<64x32xf32>
  %b = xetile.tile_broadcast %row, [0] : vector<1x32xf32> -> vector<64x32xf32>
  // CHECK: xetile.tile_pack %{{.*}} {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  %p = xetile.tile_pack %v {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  // CHECK: xetile.tile_unpack %{{.*}} {inner_blocks = array<i64: 16, 16>} : vector<4x2x16x16xf32> -> vector<64x32xf32>
  %u = xetile.tile_unpack %p {inner_blocks = array<i64: 16, 16>} : vector<4x2x16x16xf32> -> vector<64x32xf32>
  return
}

// CHECK-LABEL: func @blocked_vectors
func.func @blocked_vectors(%a: vector<8x4x8x8xbf16>, %b: vector<4x8x8x16xbf16>, %c: vector<8x8x8x16xf32>) {
  // CHECK: xetile.tile_mma %{{.*}} : vector<8x4x8x8xbf16>, vector<4x8x8x16xbf16>, vector<8x8x8x16xf32> -> vector<8x8x8x16xf32>
  %d = xetile.tile_mma %a, %b, %c : vector<8x4x8x8xbf16>, vector<4x8x8x16xbf16>, vector<8x8x8x16xf32> -> vector<8x8x8x16xf32>
  // CHECK: xetile.tile_reduce <add> %{{.*}}, [1, 3] : vector<8x8x8x16xf32> -> vector<8x1x8x1xf32>
  %r = xetile.tile_reduce <add> %d, [1, 3] : vector<8x8x8x16xf32> -> vector<8x1x8x1xf32>
  // CHECK: xetile.tile_broadcast %{{.*}}, [1, 3] : vector<8x1x8x1xf32> -> vector<8x4x8x16xf32>
  %e = xetile.tile_broadcast %r, [1, 3] : vector<8x1x8x1xf32> -> vector<8x4x8x16xf32>
  return
}

// CHECK-LABEL: func @workgroup_vectors
func.func @workgroup_vectors(%v: vector<256x256xf32>) {
  // CHECK: xetile.tile_transpose %{{.*}}, [1, 0] {wg_map = #[[MAP]]} : vector<256x256xf32> -> vector<256x256xf32>
  %t = xetile.tile_transpose %v, [1, 0] {wg_map = #map} : vector<256x256xf32> -> vector<256x256xf32>
  // CHECK: xetile.tile_conv_layout %{{.*}} {source_wg_map = #[[MAP]], wg_map = #[[MAP_T]]} : vector<256x256xf32>
  %c = xetile.tile_conv_layout %t {wg_map = #map_t, source_wg_map = #map} : vector<256x256xf32>
  // CHECK: xetile.tile_conv_layout %{{.*}} {wg_map = #[[MAP]]} : vector<256x256xf32>
  %d = xetile.tile_conv_layout %c {wg_map = #map} : vector<256x256xf32>
  // CHECK: xetile.tile_reduce <add> %{{.*}}, [1] {wg_map = #[[MAP_R]]} : vector<256x256xf32> -> vector<256x1xf32>
  %r = xetile.tile_reduce <add> %d, [1] {wg_map = #map_r} : vector<256x256xf32> -> vector<256x1xf32>
  // CHECK: xetile.tile_broadcast %{{.*}}, [1] {wg_map = #[[MAP]]} : vector<256x1xf32> -> vector<256x256xf32>
  %b = xetile.tile_broadcast %r, [1] {wg_map = #map} : vector<256x1xf32> -> vector<256x256xf32>
  return
}

// CHECK-LABEL: func @signs
func.func @signs(%a: vector<8x32xi8>, %b: vector<32x16xi8>) -> vector<8x16xi32> {
  // CHECK: xetile.tile_mma %{{.*}}, %{{.*}} {unsigned_b} : vector<8x32xi8>, vector<32x16xi8> -> vector<8x16xi32>
  %d = xetile.tile_mma %a, %b {unsigned_b} : vector<8x32xi8>, vector<32x16xi8> -> vector<8x16xi32>
  return %d : vector<8x16xi32>
}
