// A square and its transpose: one tile has not both.
// RUN: xetile-opt %s --transform-interpreter | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func.func @both
// CHECK: linalg.matmul {xetile.kernel = 0 : i64
// CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "elementwise"}
func.func @both(%x: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul ins(%x, %x : tensor<64x64xf16>, tensor<64x64xf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #swapped, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d, %d : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.addf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

// Read twice at one place it stays in the matmul's kernel.
// CHECK-LABEL: func.func @transposed
// CHECK: linalg.matmul {xetile.kernel = 0 : i64
// CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "matmul"}
func.func @transposed(%x: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul ins(%x, %x : tensor<64x64xf16>, tensor<64x64xf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#swapped, #swapped, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d, %d : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}
