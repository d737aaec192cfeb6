// RUN: xetile-opt %s --convert-vector-to-xetile | FileCheck %s

// The memref and vector programs of the XeTile RFC's appendix 1.

// B is given as BT and viewed as column-major: subviews become tiles of the whole matrices, B's with its order.
// CHECK-DAG: #[[COLUMNS:.*]] = #xetile.tile_attr<order = [0, 1]>
// CHECK-LABEL: func @column_major
// CHECK-SAME: (%[[A:.*]]: memref<256x128xbf16>, %[[B:.*]]: memref<128x256xbf16, strided<[1, 128]>>, %[[C:.*]]: memref<256x256xbf16>, %[[I:.*]]: index, %[[J:.*]]: index, %[[K:.*]]: index)
func.func @column_major(%A: memref<256x128xbf16>, %B: memref<128x256xbf16, strided<[1, 128]>>, %C: memref<256x256xbf16>, %i: index, %j: index, %k: index) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : bf16
  %a = memref.subview %A[%i, %k] [64, 32] [1, 1] : memref<256x128xbf16> to memref<64x32xbf16, strided<[128, 1], offset: ?>>
  %b = memref.subview %B[%k, %j] [32, 64] [1, 1] : memref<128x256xbf16, strided<[1, 128]>> to memref<32x64xbf16, strided<[1, 128], offset: ?>>
  %c = memref.subview %C[%i, %j] [64, 64] [1, 1] : memref<256x256xbf16> to memref<64x64xbf16, strided<[256, 1], offset: ?>>
  // CHECK: %[[TA:.*]] = xetile.init_tile %[[A]][%[[I]], %[[K]]] : memref<256x128xbf16> -> !xetile.tile<64x32xbf16>
  // CHECK: %[[VA:.*]] = xetile.load_tile %[[TA]]
  %va = vector.transfer_read %a[%c0, %c0], %pad : memref<64x32xbf16, strided<[128, 1], offset: ?>>, vector<64x32xbf16>
  // CHECK: %[[TB:.*]] = xetile.init_tile %[[B]][%[[K]], %[[J]]] : memref<128x256xbf16, strided<[1, 128]>> -> !xetile.tile<32x64xbf16, #[[COLUMNS]]>
  // CHECK: %[[VB:.*]] = xetile.load_tile %[[TB]] : !xetile.tile<32x64xbf16, #[[COLUMNS]]> -> vector<32x64xbf16>
  %vb = vector.transfer_read %b[%c0, %c0], %pad : memref<32x64xbf16, strided<[1, 128], offset: ?>>, vector<32x64xbf16>
  %none = arith.constant dense<0.0> : vector<64x64xbf16>
  // CHECK: %[[VC:.*]] = xetile.tile_mma %[[VA]], %[[VB]]
  %vc = vector.contract {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>
  } %va, %vb, %none : vector<64x32xbf16>, vector<32x64xbf16> into vector<64x64xbf16>
  // CHECK: xetile.init_tile %[[C]][%[[I]], %[[J]]]
  // CHECK: xetile.store_tile %[[VC]]
  vector.transfer_write %vc, %c[%c0, %c0] : vector<64x64xbf16>, memref<64x64xbf16, strided<[256, 1], offset: ?>>
  return
}

// B is given as BT and transposed as a vector.
// CHECK-LABEL: func @transposed
func.func @transposed(%BT: memref<256x128xbf16>, %j: index, %k: index) -> vector<32x64xbf16> {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : bf16
  %bt = memref.subview %BT[%j, %k] [64, 32] [1, 1] : memref<256x128xbf16> to memref<64x32xbf16, strided<[128, 1], offset: ?>>
  // CHECK: %[[V:.*]] = xetile.load_tile %{{.*}} : !xetile.tile<64x32xbf16> -> vector<64x32xbf16>
  %vbt = vector.transfer_read %bt[%c0, %c0], %pad : memref<64x32xbf16, strided<[128, 1], offset: ?>>, vector<64x32xbf16>
  // CHECK: xetile.tile_transpose %[[V]], [1, 0] : vector<64x32xbf16> -> vector<32x64xbf16>
  %vb = vector.transpose %vbt, [1, 0] : vector<64x32xbf16> to vector<32x64xbf16>
  return %vb : vector<32x64xbf16>
}

// The layout as an affine map, as the RFC writes it.
// CHECK-LABEL: func @layout_map
func.func @layout_map(%B: memref<128x256xbf16, affine_map<(d0, d1) -> (d1, d0)>>, %k: index, %j: index) -> vector<32x64xbf16> {
  %pad = arith.constant 0.0 : bf16
  // CHECK: xetile.init_tile %{{.*}} -> !xetile.tile<32x64xbf16, #[[COLUMNS]]>
  %vb = vector.transfer_read %B[%k, %j], %pad {in_bounds = [true, true]} : memref<128x256xbf16, affine_map<(d0, d1) -> (d1, d0)>>, vector<32x64xbf16>
  return %vb : vector<32x64xbf16>
}

// A transfer that may leave its subview keeps the subview's bounds.
// CHECK-LABEL: func @over_the_edge_of_a_view
func.func @over_the_edge_of_a_view(%A: memref<256x128xbf16>, %i: index) -> vector<64x32xbf16> {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : bf16
  // CHECK: %[[VIEW:.*]] = memref.subview
  %a = memref.subview %A[%i, 0] [60, 32] [1, 1] : memref<256x128xbf16> to memref<60x32xbf16, strided<[128, 1], offset: ?>>
  // CHECK: xetile.init_tile %[[VIEW]][0, 0] : memref<60x32xbf16, strided<[128, 1], offset: ?>>
  %va = vector.transfer_read %a[%c0, %c0], %pad : memref<60x32xbf16, strided<[128, 1], offset: ?>>, vector<64x32xbf16>
  return %va : vector<64x32xbf16>
}

// A memref in shared local memory gives tiles there.
// CHECK-LABEL: func @shared_memory
func.func @shared_memory(%A: memref<64x64xf32, 3>, %i: index) -> vector<8x16xf32> {
  %pad = arith.constant 0.0 : f32
  // CHECK: xetile.init_tile %{{.*}} : memref<64x64xf32, 3> -> !xetile.tile<8x16xf32, #[[SLM:.*]]>
  // CHECK: xetile.load_tile %{{.*}} : !xetile.tile<8x16xf32, #[[SLM]]>
  %v = vector.transfer_read %A[%i, %i], %pad {in_bounds = [true, true]} : memref<64x64xf32, 3>, vector<8x16xf32>
  return %v : vector<8x16xf32>
}

// Of dimensions with one element the vector's own are kept: the last, whose stride is 1, and not another of that size.
// CHECK-LABEL: func @one_element
func.func @one_element(%A: memref<1x1x2x1xf16>, %h: index) -> vector<16x16xf16> {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f16
  // CHECK: %[[VIEW:.*]] = memref.subview {{.*}} to memref<1x1xf16, strided<[2, 1], offset: ?>>
  // CHECK: %[[TURNED:.*]] = memref.transpose %[[VIEW]] {{.*}} to memref<1x1xf16, strided<[1, 2], offset: ?>>
  // CHECK: xetile.init_tile %[[TURNED]][0, 0]
  %v = vector.transfer_read %A[%c0, %c0, %h, %c0], %pad {permutation_map = affine_map<(d0, d1, d2, d3) -> (d3, d0)>}
      : memref<1x1x2x1xf16>, vector<16x16xf16>
  return %v : vector<16x16xf16>
}
