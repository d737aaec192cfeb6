// RUN: xetile-opt %s --xetile-infer-wg-map --split-input-file | FileCheck %s

// A column that becomes a row without moving: each subgroup's first piece, and the pieces of all its rounds, have to be the
// same under both maps. Else the elements change their owners before.

// Of [4, 2] subgroup id has the rows of piece id / 2, of a row's [1, 8] the columns of piece id mod 4.
// CHECK-DAG: #[[GIVEN:.*]] = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 1]>
// CHECK-DAG: #[[COLUMN:.*]] = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 1]>
// CHECK-LABEL: func @first_piece_differs
// CHECK: %[[V:.*]] = xetile.load_tile
// CHECK: %[[MOVED:.*]] = xetile.tile_conv_layout %[[V]] {source_wg_map = #[[GIVEN]], wg_map = #[[COLUMN]]}
// CHECK: vector.shape_cast %[[MOVED]]
#given = #xetile.tile_attr<wg_map = <sg_layout = [4, 2], sg_data = [16, 1]>>
func.func @first_piece_differs(%A: memref<64x1xf32>, %B: memref<1x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32, #given>
  %v = xetile.load_tile %t : !xetile.tile<64x1xf32, #given> -> vector<64x1xf32>
  %w = vector.shape_cast %v : vector<64x1xf32> to vector<1x64xf32>
  %u = xetile.init_tile %B[0, 0] : memref<1x64xf32> -> !xetile.tile<1x64xf32>
  xetile.store_tile %w, %u : vector<1x64xf32>, !xetile.tile<1x64xf32>
  return
}

// -----

// Of [2, 4] both are id / 4 and id mod 8 of two pieces: not the same either.
// CHECK-DAG: #[[GIVEN:.*]] = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 1]>
// CHECK-LABEL: func @shared_pieces
// CHECK: xetile.tile_conv_layout %{{.*}} {source_wg_map = #[[GIVEN]]
#given = #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 1]>>
func.func @shared_pieces(%A: memref<64x1xf32>, %B: memref<1x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32, #given>
  %v = xetile.load_tile %t : !xetile.tile<64x1xf32, #given> -> vector<64x1xf32>
  %w = vector.shape_cast %v : vector<64x1xf32> to vector<1x64xf32>
  %u = xetile.init_tile %B[0, 0] : memref<1x64xf32> -> !xetile.tile<1x64xf32>
  xetile.store_tile %w, %u : vector<1x64xf32>, !xetile.tile<1x64xf32>
  return
}

// -----

// Subgroup 0 begins at the same piece under [1, 2] x two rounds and under [4, 1], but goes on elsewhere.
// CHECK-DAG: #[[GIVEN:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [1, 16]>
// CHECK-LABEL: func @rounds_differ
// CHECK: xetile.tile_conv_layout %{{.*}} {source_wg_map = #[[GIVEN]]
#given = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [1, 16]>>
func.func @rounds_differ(%A: memref<1x64xf32>, %B: memref<64x1xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<1x64xf32> -> !xetile.tile<1x64xf32, #given>
  %v = xetile.load_tile %t : !xetile.tile<1x64xf32, #given> -> vector<1x64xf32>
  %w = vector.shape_cast %v : vector<1x64xf32> to vector<64x1xf32>
  %u = xetile.init_tile %B[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32>
  xetile.store_tile %w, %u : vector<64x1xf32>, !xetile.tile<64x1xf32>
  return
}

// -----

// The same rounds, from the same first piece: nothing moves.
// CHECK-LABEL: func @same_pieces
// CHECK-NOT: tile_conv_layout
// CHECK: return
#given = #xetile.tile_attr<wg_map = <sg_layout = [1, 4], sg_data = [1, 8]>>
func.func @same_pieces(%A: memref<1x64xf32>, %B: memref<64x1xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<1x64xf32> -> !xetile.tile<1x64xf32, #given>
  %v = xetile.load_tile %t : !xetile.tile<1x64xf32, #given> -> vector<1x64xf32>
  %w = vector.shape_cast %v : vector<1x64xf32> to vector<64x1xf32>
  %u = xetile.init_tile %B[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32>
  xetile.store_tile %w, %u : vector<64x1xf32>, !xetile.tile<64x1xf32>
  return
}
