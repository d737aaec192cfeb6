// RUN: xetile-opt %s --xetile-simplify-attention | FileCheck %s

// Transposed keys are read as they are, and heads that were merged come apart.
// CHECK-DAG: #[[QUERY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[KEY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-LABEL: func.func @scores(
// CHECK-SAME: %[[Q:.*]]: tensor<2x3x16x8xf16>, %[[K:.*]]: tensor<2x3x32x8xf16>)
// CHECK-NOT: tensor.{{.*}}_shape
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#[[QUERY]], #[[KEY]], {{.*}}ins(%[[Q]], %[[K]] : tensor<2x3x16x8xf16>, tensor<2x3x32x8xf16>)
// CHECK-NOT: tensor.{{.*}}_shape
// CHECK: return %{{.*}} : tensor<2x3x16x32xf32>
func.func @scores(%q: tensor<2x3x16x8xf16>, %k: tensor<2x3x32x8xf16>) -> tensor<2x3x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %ek = tensor.empty() : tensor<6x8x32xf16>
  %es = tensor.empty() : tensor<6x16x32xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<6x16x32xf32>) -> tensor<6x16x32xf32>
  %qs = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x16x8xf16> into tensor<6x16x8xf16>
  %ks = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x3x32x8xf16> into tensor<6x32x8xf16>
  %kt = linalg.transpose ins(%ks : tensor<6x32x8xf16>) outs(%ek : tensor<6x8x32xf16>) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%qs, %kt : tensor<6x16x8xf16>, tensor<6x8x32xf16>)
      outs(%zs : tensor<6x16x32xf32>) -> tensor<6x16x32xf32>
  %w = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 3, 16, 32]
      : tensor<6x16x32xf32> into tensor<2x3x16x32xf32>
  return %w : tensor<2x3x16x32xf32>
}
