// RUN: xetile-opt %s --canonicalize --cse | FileCheck %s

// Constants move into the static lists.
// CHECK-LABEL: func @constant_offsets
func.func @constant_offsets(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %i: index) -> (!xetile.tile<8x16xf16>, !xetile.tile<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  // CHECK: xetile.init_tile %{{.*}}[0, %{{.*}}] : memref<64x64xf16>
  %s = xetile.init_tile %A[%c0, %i] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  // CHECK: xetile.init_tile %{{.*}}[%[[I:.*]], 0], [%[[I]], 16], [16, 1] : memref<?x?xf16>
  %d = xetile.init_tile %D[%i, %c0], [%i, %c16], [%c16, %c1] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
  return %s, %d : !xetile.tile<8x16xf16>, !xetile.tile<8x16xf16>
}

// CHECK-LABEL: func @zero_update
// CHECK-SAME: (%[[T:.*]]: !xetile.tile<8x16xf16>)
func.func @zero_update(%t: !xetile.tile<8x16xf16>) -> !xetile.tile<8x16xf16> {
  %c0 = arith.constant 0 : index
  %u = xetile.update_tile_offset %t, [%c0, 0] : !xetile.tile<8x16xf16>
  // CHECK-NEXT: return %[[T]]
  return %u : !xetile.tile<8x16xf16>
}

// A prefetch has no result and is kept for its effect on the caches.
// CHECK-LABEL: func @prefetch
func.func @prefetch(%t: !xetile.tile<8x16xf16>) {
  // CHECK: xetile.prefetch_tile
  xetile.prefetch_tile %t locality<3> : !xetile.tile<8x16xf16>
  return
}

// Equal loads are one, unless a store lies between them.
// CHECK-LABEL: func @equal_loads
func.func @equal_loads(%t: !xetile.tile<8x16xf16>) -> (vector<8x16xf16>, vector<8x16xf16>) {
  // CHECK: %[[V:.*]] = xetile.load_tile
  // CHECK-NEXT: return %[[V]], %[[V]]
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %w = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v, %w : vector<8x16xf16>, vector<8x16xf16>
}

// CHECK-LABEL: func @store_between_loads
func.func @store_between_loads(%t: !xetile.tile<8x16xf16>, %x: vector<8x16xf16>) -> (vector<8x16xf16>, vector<8x16xf16>) {
  // CHECK: xetile.load_tile
  // CHECK: xetile.store_tile
  // CHECK: xetile.load_tile
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  xetile.store_tile %x, %t : vector<8x16xf16>, !xetile.tile<8x16xf16>
  %w = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v, %w : vector<8x16xf16>, vector<8x16xf16>
}

// Two moves are one.
// CHECK-LABEL: func @update_of_update
// CHECK-SAME: (%[[T:.*]]: !xetile.tile<8x16xf16>, %[[I:.*]]: index, %[[J:.*]]: index)
func.func @update_of_update(%t: !xetile.tile<8x16xf16>, %i: index, %j: index) -> !xetile.tile<8x16xf16> {
  %u = xetile.update_tile_offset %t, [%i, 16] : !xetile.tile<8x16xf16>
  %w = xetile.update_tile_offset %u, [%j, -4] : !xetile.tile<8x16xf16>
  // CHECK: %[[S:.*]] = arith.addi %[[I]], %[[J]]
  // CHECK-NEXT: %[[W:.*]] = xetile.update_tile_offset %[[T]], [%[[S]], 12]
  // CHECK-NEXT: return %[[W]]
  return %w : !xetile.tile<8x16xf16>
}

// CHECK-LABEL: func @back_and_forth
// CHECK-SAME: (%[[T:.*]]: !xetile.tile<8x16xf16>)
func.func @back_and_forth(%t: !xetile.tile<8x16xf16>) -> !xetile.tile<8x16xf16> {
  %u = xetile.update_tile_offset %t, [3, 16] : !xetile.tile<8x16xf16>
  %w = xetile.update_tile_offset %u, [-3, -16] : !xetile.tile<8x16xf16>
  // CHECK-NEXT: return %[[T]]
  return %w : !xetile.tile<8x16xf16>
}

// A sum that does not fit in 64 bits stays two moves.
// CHECK-LABEL: func @overflow
func.func @overflow(%t: !xetile.tile<8x16xf16>) -> !xetile.tile<8x16xf16> {
  // CHECK-COUNT-2: xetile.update_tile_offset
  %u = xetile.update_tile_offset %t, [9223372036854775807, 0] : !xetile.tile<8x16xf16>
  %w = xetile.update_tile_offset %u, [1, 0] : !xetile.tile<8x16xf16>
  return %w : !xetile.tile<8x16xf16>
}

#scatter = #xetile.tile_attr<scatter = true>
// CHECK-LABEL: func @scattered_updates
// CHECK-SAME: (%[[T:.*]]: !xetile.tile<1x8xf16, #{{.*}}>, %[[I:.*]]: vector<1x8xindex>)
func.func @scattered_updates(%t: !xetile.tile<1x8xf16, #scatter>, %i: vector<1x8xindex>) -> !xetile.tile<1x8xf16, #scatter> {
  %zero = arith.constant dense<0> : vector<1x8xindex>
  %u = xetile.update_tile_offset %t, %zero : !xetile.tile<1x8xf16, #scatter>, vector<1x8xindex>
  %v = xetile.update_tile_offset %u, %i : !xetile.tile<1x8xf16, #scatter>, vector<1x8xindex>
  %w = xetile.update_tile_offset %v, %i : !xetile.tile<1x8xf16, #scatter>, vector<1x8xindex>
  // CHECK: %[[S:.*]] = arith.addi %[[I]], %[[I]]
  // CHECK-NEXT: xetile.update_tile_offset %[[T]], %[[S]]
  return %w : !xetile.tile<1x8xf16, #scatter>
}

// CHECK-LABEL: func @inverses
// CHECK-SAME: (%[[V:.*]]: vector<64x32xf32>, %[[B:.*]]: vector<4x2x16x16xf32>)
func.func @inverses(%v: vector<64x32xf32>, %b: vector<4x2x16x16xf32>) -> (vector<64x32xf32>, vector<4x2x16x16xf32>, vector<64x32xf32>, vector<64x32xf32>) {
  %p = xetile.tile_pack %v {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  %vv = xetile.tile_unpack %p {inner_blocks = array<i64: 16, 16>} : vector<4x2x16x16xf32> -> vector<64x32xf32>
  %u = xetile.tile_unpack %b {inner_blocks = array<i64: 16, 16>} : vector<4x2x16x16xf32> -> vector<64x32xf32>
  %bb = xetile.tile_pack %u {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  %t = xetile.tile_transpose %v, [1, 0] : vector<64x32xf32> -> vector<32x64xf32>
  %tt = xetile.tile_transpose %t, [1, 0] : vector<32x64xf32> -> vector<64x32xf32>
  %i = xetile.tile_transpose %v, [0, 1] : vector<64x32xf32> -> vector<64x32xf32>
  // CHECK-NEXT: return %[[V]], %[[B]], %[[V]], %[[V]]
  return %vv, %bb, %tt, %i : vector<64x32xf32>, vector<4x2x16x16xf32>, vector<64x32xf32>, vector<64x32xf32>
}

// Other blocks are other vectors.
// CHECK-LABEL: func @reblock
func.func @reblock(%b: vector<4x2x16x16xf32>) -> vector<8x2x8x16xf32> {
  // CHECK: xetile.tile_unpack
  // CHECK: xetile.tile_pack
  %u = xetile.tile_unpack %b {inner_blocks = array<i64: 16, 16>} : vector<4x2x16x16xf32> -> vector<64x32xf32>
  %p = xetile.tile_pack %u {inner_blocks = array<i64: 8, 16>} : vector<64x32xf32> -> vector<8x2x8x16xf32>
  return %p : vector<8x2x8x16xf32>
}

#to = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 32]>
#from = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 16]>
#to_attr = #xetile.tile_attr<wg_map = #to>
// CHECK-LABEL: func @conv_layout
// CHECK-SAME: (%[[V:.*]]: vector<64x32xf32>
func.func @conv_layout(%v: vector<64x32xf32>, %t: !xetile.tile<64x32xf32, #to_attr>) -> (vector<64x32xf32>, vector<64x32xf32>, vector<64x32xf32>) {
  // CHECK-DAG: %[[L:.*]] = xetile.load_tile
  // CHECK-DAG: %[[C:.*]] = xetile.tile_conv_layout %[[V]]
  // CHECK: return %[[V]], %[[L]], %[[C]]
  %same = xetile.tile_conv_layout %v {wg_map = #to, source_wg_map = #to} : vector<64x32xf32>
  %l = xetile.load_tile %t : !xetile.tile<64x32xf32, #to_attr> -> vector<64x32xf32>
  %loaded = xetile.tile_conv_layout %l {wg_map = #to} : vector<64x32xf32>
  %other = xetile.tile_conv_layout %v {wg_map = #to, source_wg_map = #from} : vector<64x32xf32>
  return %same, %loaded, %other : vector<64x32xf32>, vector<64x32xf32>, vector<64x32xf32>
}

// Of 32x256, both grids give each subgroup the same piece; of 64x256 they do not.
#grid8x4 = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#grid4x8 = #xetile.wg_map<sg_layout = [4, 8], sg_data = [32, 64]>
// CHECK-LABEL: func @conv_layout_to_the_same_pieces
// CHECK-SAME: (%[[V:.*]]: vector<32x256xf32>, %[[W:.*]]: vector<64x256xf32>)
func.func @conv_layout_to_the_same_pieces(%v: vector<32x256xf32>, %w: vector<64x256xf32>) -> (vector<32x256xf32>, vector<64x256xf32>) {
  // CHECK: %[[C:.*]] = xetile.tile_conv_layout %[[W]]
  // CHECK: return %[[V]], %[[C]]
  %same = xetile.tile_conv_layout %v {wg_map = #grid8x4, source_wg_map = #grid4x8} : vector<32x256xf32>
  %other = xetile.tile_conv_layout %w {wg_map = #grid8x4, source_wg_map = #grid4x8} : vector<64x256xf32>
  return %same, %other : vector<32x256xf32>, vector<64x256xf32>
}

// Vectors of equal elements stay such, whatever their shape; one with a map keeps the map.
// CHECK-LABEL: func @splats
func.func @splats() -> (vector<64x32xf32>, vector<32x1xf32>, vector<4x2x16x16xf32>, vector<64x32xf32>, vector<64x32xf32>) {
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<2.000000e+00> : vector<64x32xf32>
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<2.000000e+00> : vector<32x1xf32>
  // CHECK-DAG: %[[P:.*]] = arith.constant dense<2.000000e+00> : vector<4x2x16x16xf32>
  // CHECK: %[[M:.*]] = xetile.tile_broadcast
  // CHECK: %[[N:.*]] = xetile.tile_transpose
  // CHECK: return %[[B]], %[[T]], %[[P]], %[[M]], %[[N]]
  %v = arith.constant dense<2.0> : vector<1x32xf32>
  %b = xetile.tile_broadcast %v, [0] : vector<1x32xf32> -> vector<64x32xf32>
  %t = xetile.tile_transpose %v, [1, 0] : vector<1x32xf32> -> vector<32x1xf32>
  %p = xetile.tile_pack %b {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  %m = xetile.tile_broadcast %v, [0] {wg_map = #to} : vector<1x32xf32> -> vector<64x32xf32>
  %w = arith.constant dense<2.0> : vector<32x64xf32>
  %n = xetile.tile_transpose %w, [1, 0] {wg_map = #to} : vector<32x64xf32> -> vector<64x32xf32>
  return %b, %t, %p, %m, %n : vector<64x32xf32>, vector<32x1xf32>, vector<4x2x16x16xf32>, vector<64x32xf32>, vector<64x32xf32>
}

// An atomic update is a write: it stays without uses, and loads do not move across it.
// CHECK-LABEL: func @atomic
func.func @atomic(%t: !xetile.tile<8x16xf16>, %x: vector<8x16xf16>) -> (vector<8x16xf16>, vector<8x16xf16>) {
  // CHECK: xetile.load_tile
  // CHECK: xetile.atomic_rmw_tile
  // CHECK: xetile.load_tile
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.atomic_rmw_tile <addf> %x, %t : vector<8x16xf16>, !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %w = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v, %w : vector<8x16xf16>, vector<8x16xf16>
}
