// REQUIRES: cpu
// RUN: xetile-opt %s --deep-tile-matmul=threads=1 --split-input-file | FileCheck %s

// An input that is indexed by a sum is expanded to its parts, where they count through the dimension once.
// CHECK-LABEL: func @counts_through
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [4, 8, 2] : tensor<4x16xf32> into tensor<4x8x2xf32>
// CHECK-NOT: d2 * 2
// CHECK: return
#a = affine_map<(m, n, k, l) -> (m, k * 2 + l)>
#b = affine_map<(m, n, k, l) -> (k, l, n)>
#c = affine_map<(m, n, k, l) -> (m, n)>
func.func @counts_through(%a: tensor<4x16xf32>, %b: tensor<8x2x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %d = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<4x16xf32>, tensor<8x2x16xf32>) outs(%c : tensor<4x16xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %d : tensor<4x16xf32>
}

// -----

// A window's elements are read several times, those of steps of 3 through groups of 2 not all: neither is a matmul.
// CHECK-LABEL: func @window
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic
// CHECK-NOT: tensor.expand_shape
// CHECK: return
#a = affine_map<(m, n, k) -> (m + k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @window(%a: tensor<12xf32>, %b: tensor<5x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %d = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<12xf32>, tensor<5x16xf32>) outs(%c : tensor<8x16xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// -----

// CHECK-LABEL: func @gaps
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic
// CHECK-NOT: tensor.expand_shape
// CHECK: return
#a = affine_map<(m, n, k, l) -> (m, k * 3 + l)>
#b = affine_map<(m, n, k, l) -> (k, l, n)>
#c = affine_map<(m, n, k, l) -> (m, n)>
func.func @gaps(%a: tensor<4x23xf32>, %b: tensor<8x2x16xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %d = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<4x23xf32>, tensor<8x2x16xf32>) outs(%c : tensor<4x16xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %d : tensor<4x16xf32>
}
