// RUN: xetile-opt %s --convert-vector-to-xetile --canonicalize --split-input-file | FileCheck %s
// Vectors of one dimension, reductions, repeated rows and columns, products of transposed operands.

// Rows are reduced to a column, which a vector of one dimension stands for between the two; a transpose of a repeated
// one is a repeated column.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    (%[[A:.*]]: memref<64x64xf32>, %[[B:.*]]: memref<64x64xf32>, %[[I:.*]]: index)
// CHECK:         %[[X:.*]] = xetile.load_tile
// CHECK:         %[[M:.*]] = xetile.tile_reduce <maximumf> %[[X]], [1] : vector<16x64xf32> -> vector<16x1xf32>
// CHECK:         %[[V:.*]] = vector.shape_cast %[[M]] : vector<16x1xf32> to vector<16xf32>
// CHECK:         %[[L:.*]] = arith.maximumf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK:         %[[C:.*]] = vector.shape_cast %[[L]] : vector<16xf32> to vector<16x1xf32>
// CHECK:         %[[R:.*]] = xetile.tile_broadcast %[[C]], [1] : vector<16x1xf32> -> vector<16x64xf32>
// CHECK-NOT:     transpose
// CHECK:         %[[D:.*]] = arith.subf %[[X]], %[[R]]
// CHECK:         xetile.store_tile %[[D]]
func.func @rows(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %i: index) {
  %pad = arith.constant 0.0 : f32
  %low = arith.constant dense<-1.0e30> : vector<16xf32>
  %x = vector.transfer_read %A[%i, %i], %pad {in_bounds = [true, true]} : memref<64x64xf32>, vector<16x64xf32>
  %m = vector.multi_reduction <maximumf>, %x, %low [1] : vector<16x64xf32> to vector<16xf32>
  %w = vector.broadcast %m : vector<16xf32> to vector<64x16xf32>
  %t = vector.transpose %w, [1, 0] : vector<64x16xf32> to vector<16x64xf32>
  %d = arith.subf %x, %t : vector<16x64xf32>
  vector.transfer_write %d, %B[%i, %i] {in_bounds = [true, true]} : vector<16x64xf32>, memref<64x64xf32>
  return
}

// -----

// All of a matrix is a number.
// CHECK-LABEL: func.func @all
// CHECK:         %[[S:.*]] = xetile.tile_reduce <add> %{{.*}}, [0, 1] : vector<16x64xf32> -> vector<1x1xf32>
// CHECK:         %[[E:.*]] = vector.extract %[[S]][0, 0] : f32 from vector<1x1xf32>
// CHECK:         arith.addf %{{.*}}, %[[E]] : f32
func.func @all(%x: vector<16x64xf32>, %start: f32) -> f32 {
  %s = vector.multi_reduction <add>, %x, %start [0, 1] : vector<16x64xf32> to f32
  return %s : f32
}

// -----

// A line of memory of one dimension is a row of a matrix; one along another dimension than the last is a column.
// CHECK-LABEL: func.func @lines
// CHECK-SAME:    (%[[G:.*]]: memref<?xf32>, %[[A:.*]]: memref<64x64xf32>, %[[I:.*]]: index)
// CHECK-DAG:     %[[N:.*]] = memref.dim %[[G]], %c0
// CHECK-DAG:     %[[W:.*]] = memref.expand_shape %[[G]] {{\[\[}}0, 1]] output_shape [1, %[[N]]] : memref<?xf32> into memref<1x?xf32>
// CHECK:         xetile.init_tile %[[W]][0, %[[I]]], {{.*}} -> !xetile.tile<1x32xf32>
// CHECK:         %[[X:.*]] = xetile.load_tile {{.*}} -> vector<1x32xf32>
// CHECK-DAG:     %[[T:.*]] = xetile.init_tile %[[A]][%[[I]], %[[I]]] : memref<64x64xf32> -> !xetile.tile<32x1xf32>
// CHECK-DAG:     %[[Y:.*]] = vector.shape_cast %[[X]] : vector<1x32xf32> to vector<32x1xf32>
// CHECK:         xetile.store_tile %[[Y]], %[[T]]
func.func @lines(%G: memref<?xf32>, %A: memref<64x64xf32>, %i: index) {
  %pad = arith.constant 0.0 : f32
  %x = vector.transfer_read %G[%i], %pad {in_bounds = [true]} : memref<?xf32>, vector<32xf32>
  vector.transfer_write %x, %A[%i, %i] {in_bounds = [true], permutation_map = affine_map<(r, c) -> (r)>} : vector<32xf32>, memref<64x64xf32>
  return
}

// -----

// Rows that are repeated, and columns.
// CHECK-LABEL: func.func @repeated
// CHECK:         %[[R:.*]] = vector.shape_cast %{{.*}} : vector<64xf32> to vector<1x64xf32>
// CHECK:         xetile.tile_broadcast %[[R]], [0] : vector<1x64xf32> -> vector<16x64xf32>
// CHECK:         xetile.tile_broadcast %{{.*}}, [1] : vector<16x1xf32> -> vector<16x64xf32>
func.func @repeated(%x: vector<64xf32>, %y: vector<16x1xf32>) -> (vector<16x64xf32>, vector<16x64xf32>) {
  %r = vector.broadcast %x : vector<64xf32> to vector<16x64xf32>
  %c = vector.broadcast %y : vector<16x1xf32> to vector<16x64xf32>
  return %r, %c : vector<16x64xf32>, vector<16x64xf32>
}

// -----

// Bytes that are extended are read transposed behind their extension; operands change places for a transposed result.
// CHECK-LABEL: func.func @transposed_result
// CHECK-SAME:    (%[[A:.*]]: memref<64x64xi8>, %[[B:.*]]: memref<64x64xi8>
// CHECK:         %[[TA:.*]] = memref.transpose %[[A]]
// CHECK:         %[[VA:.*]] = xetile.load_tile %{{.*}} -> vector<32x16xi8>
// CHECK:         %[[TB:.*]] = memref.transpose %[[B]]
// CHECK:         %[[VB:.*]] = xetile.load_tile %{{.*}} -> vector<16x32xi8>
// CHECK:         xetile.tile_mma %[[VB]], %[[VA]], %{{.*}} : vector<16x32xi8>, vector<32x16xi8>, vector<16x16xi32> -> vector<16x16xi32>
func.func @transposed_result(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %c: vector<16x16xi32>) -> vector<16x16xi32> {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0 : i8
  %a = vector.transfer_read %A[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xi8>, vector<16x32xi8>
  %b = vector.transfer_read %B[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xi8>, vector<32x16xi8>
  %wa = arith.extsi %a : vector<16x32xi8> to vector<16x32xi32>
  %wb = arith.extsi %b : vector<32x16xi8> to vector<32x16xi32>
  %d = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %wa, %wb, %c : vector<16x32xi32>, vector<32x16xi32> into vector<16x16xi32>
  return %d : vector<16x16xi32>
}

// -----

// One that others read, too, is transposed in registers.
// CHECK-LABEL: func.func @read_twice
// CHECK:         %[[B:.*]] = xetile.load_tile %{{.*}} -> vector<32x16xf16>
// CHECK:         %[[T:.*]] = xetile.tile_transpose %[[B]], [1, 0]
// CHECK:         xetile.tile_mma %{{.*}}, %[[T]]
func.func @read_twice(%a: vector<32x16xf16>, %B: memref<64x64xf16>, %c: vector<32x32xf32>) -> (vector<32x32xf32>, vector<32x16xf16>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f16
  %b = vector.transfer_read %B[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xf16>, vector<32x16xf16>
  %d = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %a, %b, %c : vector<32x16xf16>, vector<32x16xf16> into vector<32x32xf32>
  return %d, %b : vector<32x32xf32>, vector<32x16xf16>
}

// -----

// Places are reduced by no tile_reduce.
// CHECK-LABEL: func.func @places
// CHECK:         vector.multi_reduction
func.func @places(%x: vector<16x64xindex>, %start: vector<64xindex>) -> vector<64xindex> {
  %s = vector.multi_reduction <add>, %x, %start [0] : vector<16x64xindex> to vector<64xindex>
  return %s : vector<64xindex>
}

// -----

// A single number is repeated along both dimensions, transposed or not.
// CHECK-LABEL: func.func @single
// CHECK:         %[[R:.*]] = xetile.tile_broadcast %{{.*}}, [0, 1] : vector<1x1xf32> -> vector<8x16xf32>
// CHECK:         xetile.tile_transpose %[[R]], [1, 0] : vector<8x16xf32> -> vector<16x8xf32>
func.func @single(%x: vector<1xf32>) -> vector<16x8xf32> {
  %r = vector.broadcast %x : vector<1xf32> to vector<8x16xf32>
  %t = vector.transpose %r, [1, 0] : vector<8x16xf32> to vector<16x8xf32>
  return %t : vector<16x8xf32>
}
