// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interleaved dimensions are read by index, for chips other than Intel's.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-index-interleaves{chip=sm_90a})' | FileCheck %s
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-index-interleaves{chip=pvc})' | FileCheck %s --check-prefix=KEPT
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-index-interleaves)' | FileCheck %s --check-prefix=KEPT
// KEPT-COUNT-5: linalg.transpose

// CHECK-LABEL: func.func @interleave
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[I:.*]] = linalg.index 0
// CHECK-DAG: %[[J:.*]] = linalg.index 1
// CHECK-DAG: %[[IR:.*]] = arith.remui %[[I]], %[[C2]]
// CHECK-DAG: %[[IQ:.*]] = arith.divui %[[I]], %[[C2]]
// CHECK-DAG: %[[JR:.*]] = arith.remui %[[J]], %[[C3]]
// CHECK-DAG: %[[JQ:.*]] = arith.divui %[[J]], %[[C3]]
// CHECK: tensor.extract %arg0[%[[IR]], %[[JR]], %[[IQ]], %[[JQ]]]
// CHECK-NOT: linalg.transpose
func.func @interleave(%x: tensor<2x3x8x9xf32>) -> tensor<16x27xf32> {
  %e = tensor.empty() : tensor<8x2x9x3xf32>
  %t = linalg.transpose ins(%x : tensor<2x3x8x9xf32>) outs(%e : tensor<8x2x9x3xf32>) permutation = [2, 0, 3, 1]
  %y = tensor.collapse_shape %t [[0, 1], [2, 3]] : tensor<8x2x9x3xf32> into tensor<16x27xf32>
  return %y : tensor<16x27xf32>
}

// Rows of memory stay rows.
// CHECK-LABEL: func.func @rows
// CHECK: linalg.transpose
func.func @rows(%x: tensor<2x8x9xf32>) -> tensor<8x18xf32> {
  %e = tensor.empty() : tensor<8x2x9xf32>
  %t = linalg.transpose ins(%x : tensor<2x8x9xf32>) outs(%e : tensor<8x2x9xf32>) permutation = [1, 0, 2]
  %y = tensor.collapse_shape %t [[0], [1, 2]] : tensor<8x2x9xf32> into tensor<8x18xf32>
  return %y : tensor<8x18xf32>
}

// Many columns are a tile.
// CHECK-LABEL: func.func @wide
// CHECK: linalg.transpose
func.func @wide(%x: tensor<16x8x9xf32>) -> tensor<8x144xf32> {
  %e = tensor.empty() : tensor<8x9x16xf32>
  %t = linalg.transpose ins(%x : tensor<16x8x9xf32>) outs(%e : tensor<8x9x16xf32>) permutation = [1, 2, 0]
  %y = tensor.collapse_shape %t [[0], [1, 2]] : tensor<8x9x16xf32> into tensor<8x144xf32>
  return %y : tensor<8x144xf32>
}

// The transpose is another op's, too; and nothing is joined with the last dimension.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: linalg.transpose
func.func @others(%x: tensor<3x8x9xf32>) -> (tensor<8x27xf32>, tensor<8x9x3xf32>, tensor<72x3xf32>) {
  %e = tensor.empty() : tensor<8x9x3xf32>
  %t = linalg.transpose ins(%x : tensor<3x8x9xf32>) outs(%e : tensor<8x9x3xf32>) permutation = [1, 2, 0]
  %y = tensor.collapse_shape %t [[0], [1, 2]] : tensor<8x9x3xf32> into tensor<8x27xf32>
  %u = linalg.transpose ins(%x : tensor<3x8x9xf32>) outs(%e : tensor<8x9x3xf32>) permutation = [1, 2, 0]
  %z = tensor.collapse_shape %u [[0, 1], [2]] : tensor<8x9x3xf32> into tensor<72x3xf32>
  return %y, %t, %z : tensor<8x27xf32>, tensor<8x9x3xf32>, tensor<72x3xf32>
}
