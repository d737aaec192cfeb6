// RUN: xetile-opt %s --xetile-fold-transposes | FileCheck %s

// Dimensions are batch, m, n, k. One of the transposes has another use, for which it stays.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
// CHECK-LABEL: func @batched
// CHECK-SAME: (%[[X0:.*]]: tensor<8x3x4xf32>, %[[W0:.*]]: tensor<16x4x3xf32>, %[[C:.*]]: tensor<3x8x16xf32>
// CHECK: %[[KEPT:.*]] = linalg.transpose ins(%[[W0]]
// CHECK-NOT: linalg.transpose
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], {{.*}} ins(%[[X0]], %[[W0]] : {{.*}} outs(%[[C]]
// CHECK: return %[[R]], %[[KEPT]]
func.func @batched(%x: tensor<8x3x4xf32>, %w: tensor<16x4x3xf32>, %c: tensor<3x8x16xf32>)
    -> (tensor<3x8x16xf32>, tensor<3x16x4xf32>) {
  %xe = tensor.empty() : tensor<3x8x4xf32>
  %xt = linalg.transpose ins(%x : tensor<8x3x4xf32>) outs(%xe : tensor<3x8x4xf32>) permutation = [1, 0, 2]
  %we = tensor.empty() : tensor<3x16x4xf32>
  %wt = linalg.transpose ins(%w : tensor<16x4x3xf32>) outs(%we : tensor<3x16x4xf32>) permutation = [2, 0, 1]
  %ve = tensor.empty() : tensor<3x4x16xf32>
  %v = linalg.transpose ins(%wt : tensor<3x16x4xf32>) outs(%ve : tensor<3x4x16xf32>) permutation = [0, 2, 1]
  %r = linalg.batch_matmul ins(%xt, %v : tensor<3x8x4xf32>, tensor<3x4x16xf32>) outs(%c : tensor<3x8x16xf32>)
      -> tensor<3x8x16xf32>
  return %r, %wt : tensor<3x8x16xf32>, tensor<3x16x4xf32>
}

// No matmul reads it.
// CHECK-LABEL: func @elsewhere
// CHECK: linalg.transpose
func.func @elsewhere(%x: tensor<8x3xf32>, %e: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %t = linalg.transpose ins(%x : tensor<8x3xf32>) outs(%e : tensor<3x8xf32>) permutation = [1, 0]
  %r = linalg.exp ins(%t : tensor<3x8xf32>) outs(%e : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// A linear layer as torch-mlir writes it: weights are transposed, then all is f32.
// CHECK-LABEL: func @widened
// CHECK-SAME: (%[[X0:.*]]: tensor<8x3xbf16>, %[[W0:.*]]: tensor<16x3xbf16>, %[[C:.*]]: tensor<8x16xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X0]], %[[W0]] : tensor<8x3xbf16>, tensor<16x3xbf16>) outs(%[[C]]
// CHECK-NEXT: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[S:.*]]: f32):
// CHECK-DAG: %[[AW:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-DAG: %[[BW:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK: arith.mulf %[[AW]], %[[BW]] : f32
// CHECK: return %[[R]]
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @widened(%x: tensor<8x3xbf16>, %w: tensor<16x3xbf16>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e0 = tensor.empty() : tensor<3x16xbf16>
  %t = linalg.transpose ins(%w : tensor<16x3xbf16>) outs(%e0 : tensor<3x16xbf16>) permutation = [1, 0]
  %xe = tensor.empty() : tensor<8x3xf32>
  %xw = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x3xbf16>) outs(%xe : tensor<8x3xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %e = arith.extf %in : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<8x3xf32>
  %we = tensor.empty() : tensor<3x16xf32>
  %ww = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<3x16xbf16>) outs(%we : tensor<3x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %e = arith.extf %in : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<3x16xf32>
  %r = linalg.matmul ins(%xw, %ww : tensor<8x3xf32>, tensor<3x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// The other input is f32 from the start: products of two types have no instruction.
// CHECK-LABEL: func @one_widened
// CHECK: linalg.matmul ins({{.*}} : tensor<8x3xf32>, tensor<3x16xf32>)
func.func @one_widened(%x: tensor<8x3xbf16>, %w: tensor<3x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %xe = tensor.empty() : tensor<8x3xf32>
  %xw = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x3xbf16>) outs(%xe : tensor<8x3xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %e = arith.extf %in : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<8x3xf32>
  %r = linalg.matmul ins(%xw, %w : tensor<8x3xf32>, tensor<3x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// One input was f16, the other bf16: no instruction multiplies such pairs, either.
// CHECK-LABEL: func @widened_of_two_types
// CHECK: linalg.matmul ins({{.*}} : tensor<8x3xf32>, tensor<3x16xf32>)
func.func @widened_of_two_types(%x: tensor<8x3xbf16>, %w: tensor<3x16xf16>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %xe = tensor.empty() : tensor<8x3xf32>
  %xw = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x3xbf16>) outs(%xe : tensor<8x3xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %e = arith.extf %in : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<8x3xf32>
  %we = tensor.empty() : tensor<3x16xf32>
  %ww = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<3x16xf16>) outs(%we : tensor<3x16xf32>) {
  ^bb0(%in: f16, %out: f32):
    %e = arith.extf %in : f16 to f32
    linalg.yield %e : f32
  } -> tensor<3x16xf32>
  %r = linalg.matmul ins(%xw, %ww : tensor<8x3xf32>, tensor<3x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
