// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interleaved dimensions are read by index, for chips other than Intel's.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-index-interleaves{chip=sm_90a})' | FileCheck %s
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-index-interleaves{chip=pvc})' | FileCheck %s --check-prefix=KEPT
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-index-interleaves)' | FileCheck %s --check-prefix=KEPT
// KEPT-COUNT-6: linalg.transpose

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

// Repeated elements, of sides that have one.
// CHECK-LABEL: func.func @repeat
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[J:.*]] = linalg.index 1
// CHECK-DAG: %[[JQ:.*]] = arith.divui %[[J]]
// CHECK: tensor.extract %arg0[%[[C0]], %[[JQ]]]
func.func @repeat(%x: tensor<1x9xf32>) -> tensor<16x27xf32> {
  %e = tensor.empty() : tensor<16x9x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (0, j)>, affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x9xf32>) outs(%e : tensor<16x9x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<16x9x3xf32>
  %y = tensor.collapse_shape %t [[0], [1, 2]] : tensor<16x9x3xf32> into tensor<16x27xf32>
  return %y : tensor<16x27xf32>
}

// What is computed is no copy.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @computed(%x: tensor<9xf32>) -> tensor<27xf32> {
  %e = tensor.empty() : tensor<9x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(j, k) -> (j)>, affine_map<(j, k) -> (j, k)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<9xf32>) outs(%e : tensor<9x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<9x3xf32>
  %y = tensor.collapse_shape %t [[0, 1]] : tensor<9x3xf32> into tensor<27xf32>
  return %y : tensor<27xf32>
}

// One element is left.
// CHECK-LABEL: func.func @one
// CHECK: return
func.func @one(%x: tensor<1x1xf32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<1x1xf32>
  %t = linalg.transpose ins(%x : tensor<1x1xf32>) outs(%e : tensor<1x1xf32>) permutation = [1, 0]
  %y = tensor.collapse_shape %t [] : tensor<1x1xf32> into tensor<f32>
  return %y : tensor<f32>
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
