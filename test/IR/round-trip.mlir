// RUN: xetile-opt %s | xetile-opt | FileCheck %s
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | FileCheck %s
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | FileCheck %s

// CHECK-DAG: #[[MAP:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
// CHECK-DAG: #[[MAP_C:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-DAG: #[[COLUMNS:.*]] = #xetile.tile_attr<order = [0, 1]>
// CHECK-DAG: #[[ATTR:.*]] = #xetile.tile_attr<wg_map = #[[MAP]]>
#wg_map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
#wg_map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>

// CHECK-LABEL: func @bases
// CHECK-SAME: (%[[A:.*]]: memref<1024x1024xf16>, %[[D:.*]]: memref<?x?xf16>, %[[P:.*]]: i64, %[[I:.*]]: index)
func.func @bases(%A: memref<1024x1024xf16>, %D: memref<?x?xf16>, %address: i64, %i: index) {
  // CHECK: xetile.init_tile %[[A]][%[[I]], 32] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
  %static = xetile.init_tile %A[%i, 32] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
  // CHECK: xetile.init_tile %[[D]][0, %[[I]]], [%[[I]], 512], [%[[I]], 1] : memref<?x?xf16> -> !xetile.tile<64x32xf16>
  %dynamic = xetile.init_tile %D[0, %i], [%i, 512], [%i, 1] : memref<?x?xf16> -> !xetile.tile<64x32xf16>
  // CHECK: xetile.init_tile %[[P]][-8, 0], [100, %[[I]]], [%[[I]], 1] : i64 -> !xetile.tile<8x16xbf16>
  %raw = xetile.init_tile %address[-8, 0], [100, %i], [%i, 1] : i64 -> !xetile.tile<8x16xbf16>
  // CHECK: xetile.init_tile %[[P]][0, 0], [100, %[[I]]], [1, %[[I]]] : i64
  // CHECK-SAME: -> !xetile.tile<8x16xbf16, #[[COLUMNS]]>
  %columns = xetile.init_tile %address[0, 0], [100, %i], [1, %i] : i64
      -> !xetile.tile<8x16xbf16, #xetile.tile_attr<order = [0, 1]>>
  return
}

// CHECK-LABEL: func @padded_rows
func.func @padded_rows(%A: memref<256x256xf16, strided<[320, 1], offset: 64>>) {
  // CHECK: memref<256x256xf16, strided<[320, 1], offset: 64>> -> !xetile.tile<64x32xf16>
  %t = xetile.init_tile %A[0, 0] : memref<256x256xf16, strided<[320, 1], offset: 64>> -> !xetile.tile<64x32xf16>
  return
}

// CHECK-LABEL: func @memory
func.func @memory(%A: memref<1024x1024xf16>, %i: index) {
  %t = xetile.init_tile %A[0, %i] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
  // CHECK: xetile.load_tile %{{.*}} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
  %v = xetile.load_tile %t : !xetile.tile<64x32xf16> -> vector<64x32xf16>
  // CHECK: xetile.load_tile %{{.*}} {padding = 1.000000e+00 : f16}
  %p = xetile.load_tile %t {padding = 1.0 : f16} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
  // CHECK: xetile.update_tile_offset %{{.*}}, [0, %{{.*}}] : !xetile.tile<64x32xf16>
  %u = xetile.update_tile_offset %t, [0, %i] : !xetile.tile<64x32xf16>
  // CHECK: xetile.prefetch_tile %{{.*}} locality<2> : !xetile.tile<64x32xf16>
  xetile.prefetch_tile %u locality<2> : !xetile.tile<64x32xf16>
  // CHECK: xetile.store_tile %{{.*}}, %{{.*}} : vector<64x32xf16>, !xetile.tile<64x32xf16>
  xetile.store_tile %p, %u : vector<64x32xf16>, !xetile.tile<64x32xf16>
  return
}

// CHECK-LABEL: func @workgroup
func.func @workgroup(%A: memref<1024x1024xf16>, %b: vector<32x256xf16>, %c: vector<256x256xf32>) -> vector<256x256xf32> {
  // CHECK: -> !xetile.tile<256x32xf16, #[[ATTR]]>
  %t = xetile.init_tile %A[0, 0] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = #wg_map_a>>
  %a = xetile.load_tile %t : !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = #wg_map_a>> -> vector<256x32xf16>
  // CHECK: xetile.tile_mma %{{.*}}, %{{.*}}, %{{.*}} {wg_map = #[[MAP_C]]} : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
  %d = xetile.tile_mma %a, %b, %c {wg_map = #wg_map_c} : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
  // CHECK: xetile.tile_mma %{{.*}}, %{{.*}} : vector<256x32xf16>, vector<32x256xf16> -> vector<256x256xf32>
  %e = xetile.tile_mma %a, %b : vector<256x32xf16>, vector<32x256xf16> -> vector<256x256xf32>
  return %d : vector<256x256xf32>
}
