// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --cse --split-input-file | FileCheck %s

// Four rows of 128 columns are eight of 64 in memory: a block has a row of the first half and one of the second in turn.
// CHECK-LABEL: func @four_rows
// CHECK: %[[LEFT:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [0, 0], sizes = [4, 16]
// CHECK: %[[RIGHT:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [0, 64], sizes = [4, 16]
// CHECK: %[[BOTH:.*]] = vector.shuffle %[[LEFT]], %[[RIGHT]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: %[[ROWS:.*]] = vector.shuffle %[[BOTH]], %[[BOTH]] [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK: %[[MATRIX:.*]] = xegpu.create_nd_tdesc %{{.*}}, shape : [24, 64], strides : [64, 1] : i64 -> !xegpu.tensor_desc<8x16xf32>
// CHECK: xegpu.store_nd %[[ROWS]], %[[MATRIX]][8, 0]
// CHECK-COUNT-3: xegpu.store_nd
// CHECK-NOT: xegpu.store_nd
func.func @four_rows(%C: memref<12x128xf32>, %v: vector<4x128xf32>) {
  %t = xetile.init_tile %C[4, 0] : memref<12x128xf32> -> !xetile.tile<4x128xf32>
  xetile.store_tile %v, %t : vector<4x128xf32>, !xetile.tile<4x128xf32>
  return
}

// -----

// Of two rows a block has four parts of each.
// CHECK-LABEL: func @two_rows
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6, 1, 3, 5, 7]
// CHECK: xegpu.create_nd_tdesc %{{.*}}, shape : [8, 64], strides : [64, 1] : i64 -> !xegpu.tensor_desc<8x16xf32>
func.func @two_rows(%C: memref<2x256xf32>, %v: vector<2x256xf32>) {
  %t = xetile.init_tile %C[0, 0] : memref<2x256xf32> -> !xetile.tile<2x256xf32>
  xetile.store_tile %v, %t : vector<2x256xf32>, !xetile.tile<2x256xf32>
  return
}

// -----

// Halves of 32 bytes are no rows of a matrix, a tile may not be all of its rows, which may lie apart, or end before the tile does,
// one row and eight are as they are, and three blocks have no halves.
// CHECK-LABEL: func @as_they_are
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @as_they_are(%A: memref<4x32xf16>, %B: memref<4x128xf32>, %C: memref<4x64xf32, strided<[128, 1], offset: 0>>,
    %D: memref<1x128xf32>, %E: memref<8x128xf32>, %row: index, %a: vector<4x32xf16>, %b: vector<4x64xf32>,
    %c: vector<4x128xf32>, %d: vector<1x128xf32>, %e: vector<8x128xf32>,
    %F: memref<4x48xf32>, %f: vector<4x48xf32>) {
  %ta = xetile.init_tile %A[0, 0] : memref<4x32xf16> -> !xetile.tile<4x32xf16>
  xetile.store_tile %a, %ta : vector<4x32xf16>, !xetile.tile<4x32xf16>
  %tb = xetile.init_tile %B[0, 64] : memref<4x128xf32> -> !xetile.tile<4x64xf32>
  xetile.store_tile %b, %tb : vector<4x64xf32>, !xetile.tile<4x64xf32>
  %tp = xetile.init_tile %C[0, 0] : memref<4x64xf32, strided<[128, 1], offset: 0>> -> !xetile.tile<4x64xf32>
  xetile.store_tile %b, %tp : vector<4x64xf32>, !xetile.tile<4x64xf32>
  %tc = xetile.init_tile %B[%row, 0] : memref<4x128xf32> -> !xetile.tile<4x128xf32>
  xetile.store_tile %c, %tc : vector<4x128xf32>, !xetile.tile<4x128xf32>
  %td = xetile.init_tile %D[0, 0] : memref<1x128xf32> -> !xetile.tile<1x128xf32>
  xetile.store_tile %d, %td : vector<1x128xf32>, !xetile.tile<1x128xf32>
  %t_e = xetile.init_tile %E[0, 0] : memref<8x128xf32> -> !xetile.tile<8x128xf32>
  xetile.store_tile %e, %t_e : vector<8x128xf32>, !xetile.tile<8x128xf32>
  %tf = xetile.init_tile %F[0, 0] : memref<4x48xf32> -> !xetile.tile<4x48xf32>
  xetile.store_tile %f, %tf : vector<4x48xf32>, !xetile.tile<4x48xf32>
  return
}
