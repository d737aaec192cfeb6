// RUN: xetile-opt %s --xetile-wg-to-sg --canonicalize --cse --split-input-file | FileCheck %s
// Slices and elements of what subgroups share.

#rows = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>
#few = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 16]>>

// Each subgroup has all columns of its rows, and cuts them.
// CHECK-LABEL: func.func @columns
// CHECK:         %[[V:.*]] = xetile.load_tile %{{.*}} -> vector<16x64xf32>
// CHECK:         %[[X:.*]] = vector.extract_strided_slice %[[V]] {offsets = [0, 16], sizes = [16, 16], strides = [1, 1]} : vector<16x64xf32> to vector<16x16xf32>
// CHECK:         %[[Y:.*]] = vector.extract_strided_slice %[[V]] {offsets = [0, 48], sizes = [16, 16], strides = [1, 1]}
// CHECK:         arith.addf %[[X]], %[[Y]] : vector<16x16xf32>
func.func @columns(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #rows>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #rows> -> vector<64x64xf32>
  %x = vector.extract_strided_slice %v {offsets = [0, 16], sizes = [64, 16], strides = [1, 1]} : vector<64x64xf32> to vector<64x16xf32>
  %y = vector.extract_strided_slice %v {offsets = [0, 48], sizes = [64, 16], strides = [1, 1]} : vector<64x64xf32> to vector<64x16xf32>
  %z = arith.addf %x, %y : vector<64x16xf32>
  %s = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<64x16xf32, #few>
  xetile.store_tile %z, %s : vector<64x16xf32>, !xetile.tile<64x16xf32, #few>
  return
}

// -----

#grid = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [16, 16]>>

// Rounds 1 and 2 of four of a grid's rows, round 1 of two of its columns: the pieces themselves.
// CHECK-LABEL: func.func @rounds
// CHECK-SAME:    (%[[A:.*]]: memref<128x64xf32>, %[[B:.*]]: memref<64x32xf32>)
// CHECK-DAG:     %[[ROW1:.*]] = arith.addi %[[ROW:.*]], %c32 : index
// CHECK-DAG:     %[[COLUMN1:.*]] = arith.addi %[[COLUMN:.*]], %c32 : index
// CHECK-DAG:     %[[T1:.*]] = xetile.init_tile %[[A]][%[[ROW1]], %[[COLUMN1]]]
// CHECK-DAG:     %[[ROW2:.*]] = arith.addi %[[ROW]], %c64 : index
// CHECK-DAG:     %[[T2:.*]] = xetile.init_tile %[[A]][%[[ROW2]], %[[COLUMN1]]]
// CHECK-DAG:     %[[V1:.*]] = xetile.load_tile %[[T1]]
// CHECK-DAG:     %[[V2:.*]] = xetile.load_tile %[[T2]]
// CHECK-DAG:     %[[S0:.*]] = xetile.init_tile %[[B]][%[[ROW]], %[[COLUMN]]]
// CHECK-DAG:     %[[S1:.*]] = xetile.init_tile %[[B]][%[[ROW1]], %[[COLUMN]]]
// CHECK-NOT:     extract_strided_slice
// CHECK-DAG:     xetile.store_tile %[[V1]], %[[S0]]
// CHECK-DAG:     xetile.store_tile %[[V2]], %[[S1]]
func.func @rounds(%A: memref<128x64xf32>, %B: memref<64x32xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<128x64xf32> -> !xetile.tile<128x64xf32, #grid>
  %v = xetile.load_tile %t : !xetile.tile<128x64xf32, #grid> -> vector<128x64xf32>
  %x = vector.extract_strided_slice %v {offsets = [32, 32], sizes = [64, 32], strides = [1, 1]} : vector<128x64xf32> to vector<64x32xf32>
  %s = xetile.init_tile %B[0, 0] : memref<64x32xf32> -> !xetile.tile<64x32xf32, #grid>
  xetile.store_tile %x, %s : vector<64x32xf32>, !xetile.tile<64x32xf32, #grid>
  return
}

// -----

#rows = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>

// What is reduced over all subgroups is a number that each of them has, and the branch one for all: others meet in it.
// CHECK-LABEL: func.func @number
// CHECK:         %[[M:.*]] = xetile.tile_reduce <maxnumf> %{{.*}}, [0, 1] : vector<4x1xf32> -> vector<1x1xf32>
// CHECK:         %[[E:.*]] = vector.extract %[[M]][0, 0] : f32 from vector<1x1xf32>
// CHECK:         %[[C:.*]] = arith.cmpf ogt, %[[E]]
// CHECK:         scf.if %[[C]]
// CHECK:           gpu.barrier
func.func @number(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #rows>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #rows> -> vector<64x64xf32>
  %m = xetile.tile_reduce <maxnumf> %v, [0, 1] : vector<64x64xf32> -> vector<1x1xf32>
  %e = vector.extract %m[0, 0] : f32 from vector<1x1xf32>
  %zero = arith.constant 0.0 : f32
  %c = arith.cmpf ogt, %e, %zero : f32
  scf.if %c {
    %w = xetile.tile_transpose %v, [1, 0] : vector<64x64xf32> -> vector<64x64xf32>
    %s = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #rows>
    xetile.store_tile %w, %s : vector<64x64xf32>, !xetile.tile<64x64xf32, #rows>
  }
  return
}

// -----

#few = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 16]>>
#grid = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [16, 16]>>

// What a slice is cut of follows from its map: all of a dimension that each subgroup has, the same pieces of another.
// CHECK-LABEL: func.func @backwards
// CHECK:         xetile.load_tile %{{.*}} -> vector<16x64xf32>
// CHECK:         vector.extract_strided_slice %{{.*}} {offsets = [0, 16], sizes = [16, 16], strides = [1, 1]}
// CHECK-COUNT-2: xetile.load_tile %{{.*}} -> vector<16x16xf32>
// CHECK-NOT:     extract_strided_slice
func.func @backwards(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<128x64xf32>, %D: memref<64x32xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32> -> vector<64x64xf32>
  %x = vector.extract_strided_slice %v {offsets = [0, 16], sizes = [64, 16], strides = [1, 1]} : vector<64x64xf32> to vector<64x16xf32>
  %s = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<64x16xf32, #few>
  xetile.store_tile %x, %s : vector<64x16xf32>, !xetile.tile<64x16xf32, #few>
  %t2 = xetile.init_tile %C[0, 0] : memref<128x64xf32> -> !xetile.tile<128x64xf32>
  %v2 = xetile.load_tile %t2 : !xetile.tile<128x64xf32> -> vector<128x64xf32>
  %x2 = vector.extract_strided_slice %v2 {offsets = [32, 32], sizes = [64, 32], strides = [1, 1]} : vector<128x64xf32> to vector<64x32xf32>
  %s2 = xetile.init_tile %D[0, 0] : memref<64x32xf32> -> !xetile.tile<64x32xf32, #grid>
  xetile.store_tile %x2, %s2 : vector<64x32xf32>, !xetile.tile<64x32xf32, #grid>
  return
}
