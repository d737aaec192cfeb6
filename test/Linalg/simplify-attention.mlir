// RUN: xetile-opt %s --xetile-simplify-attention | FileCheck %s
// RUN: xetile-opt %s --xetile-simplify-attention=narrow=true | FileCheck %s --check-prefix=NARROW

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

// With `narrow` f16 that were extended are multiplied as they are, and their factors behind that; powers are rounded.
// NARROW-LABEL: func.func @extended(
// NARROW-SAME: %[[Q:.*]]: tensor<16x8xf16>, %[[K:.*]]: tensor<32x8xf16>, %[[V:.*]]: tensor<32x24xf16>)
// NARROW: linalg.generic {{.*}} ins(%[[Q]], %[[K]] : tensor<16x8xf16>, tensor<32x8xf16>)
// NARROW: arith.constant 2.500000e-01 : f32
// NARROW: %[[P:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<16x32xf16>)
// NARROW: arith.truncf %{{.*}} : f32 to f16
// NARROW: linalg.generic {{.*}} ins(%[[P]], %[[V]] : tensor<16x32xf16>, tensor<32x24xf16>)
// Otherwise sums are of f32.
// CHECK-LABEL: func.func @extended(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<16x8xf32>, tensor<32x8xf32>)
#same = affine_map<(i, j) -> (i, j)>
func.func @extended(%q: tensor<16x8xf16>, %k: tensor<32x8xf16>, %v: tensor<32x24xf16>) -> tensor<16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %eq = tensor.empty() : tensor<16x8xf32>
  %ek = tensor.empty() : tensor<32x8xf32>
  %et = tensor.empty() : tensor<8x32xf32>
  %ev = tensor.empty() : tensor<32x24xf32>
  %es = tensor.empty() : tensor<16x32xf32>
  %eo = tensor.empty() : tensor<16x24xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x32xf32>) -> tensor<16x32xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x24xf32>) -> tensor<16x24xf32>
  %qx = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<16x8xf16>) outs(%eq : tensor<16x8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %t = arith.mulf %x, %half : f32
    linalg.yield %t : f32
  } -> tensor<16x8xf32>
  %kx = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<32x8xf16>) outs(%ek : tensor<32x8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %t = arith.mulf %x, %half : f32
    linalg.yield %t : f32
  } -> tensor<32x8xf32>
  %vx = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<32x24xf16>) outs(%ev : tensor<32x24xf32>) {
  ^bb0(%a: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    linalg.yield %x : f32
  } -> tensor<32x24xf32>
  %kt = linalg.transpose ins(%kx : tensor<32x8xf32>) outs(%et : tensor<8x32xf32>) permutation = [1, 0]
  %s = linalg.matmul ins(%qx, %kt : tensor<16x8xf32>, tensor<8x32xf32>) outs(%zs : tensor<16x32xf32>) -> tensor<16x32xf32>
  %p = linalg.exp ins(%s : tensor<16x32xf32>) outs(%es : tensor<16x32xf32>) -> tensor<16x32xf32>
  %y = linalg.matmul ins(%p, %vx : tensor<16x32xf32>, tensor<32x24xf32>) outs(%zo : tensor<16x24xf32>) -> tensor<16x24xf32>
  return %y : tensor<16x24xf32>
}
