// RUN: xetile-opt %s --xetile-expand-dynamic-shapes --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func @two_unknown
// CHECK-SAME: (%[[M:.*]]: memref<4x?xf32>, %[[A:.*]]: index, %[[B:.*]]: index)
// CHECK: %[[STRIDES:[^:]*]]:2 = memref.extract_strided_metadata %[[M]]
// CHECK: memref.reinterpret_cast %[[M]] to offset: [0], sizes: [4, %[[A]], %[[B]]], strides: [%[[STRIDES]]#0, %[[B]], 1]
func.func @two_unknown(%m: memref<4x?xf32>, %a: index, %b: index) -> memref<4x?x?xf32> {
  %e = memref.expand_shape %m [[0], [1, 2]] output_shape [4, %a, %b] : memref<4x?xf32> into memref<4x?x?xf32>
  return %e : memref<4x?x?xf32>
}

// Upstream divides.
// CHECK-LABEL: func @one_unknown
// CHECK: memref.expand_shape
func.func @one_unknown(%m: memref<?xf32>, %a: index) -> memref<?x8xf32> {
  %e = memref.expand_shape %m [[0, 1]] output_shape [%a, 8] : memref<?xf32> into memref<?x8xf32>
  return %e : memref<?x8xf32>
}
