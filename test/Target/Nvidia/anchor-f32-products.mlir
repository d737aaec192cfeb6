// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// Large ones, and those of sizes of a run; not those of few rows, columns or elements of k, nor other types.
// CHECK-LABEL: func.func @matrix
func.func @matrix(%A0: tensor<512x512xf32>, %B0: tensor<512x512xf32>, %C0: tensor<512x512xf32>, %A1: tensor<7x512xf32>, %B1: tensor<512x512xf32>, %C1: tensor<7x512xf32>, %A2: tensor<512x512xf32>, %B2: tensor<512x7xf32>, %C2: tensor<512x7xf32>, %A3: tensor<512x15xf32>, %B3: tensor<15x512xf32>, %C3: tensor<512x512xf32>, %A4: tensor<8x64xf32>, %B4: tensor<64x64xf32>, %C4: tensor<8x64xf32>, %A5: tensor<512x512xf64>, %B5: tensor<512x512xf64>, %C5: tensor<512x512xf64>, %A6: tensor<512x512xf32>, %B6: tensor<512x512xf32>, %C6: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<7x512xf32>, tensor<512x7xf32>, tensor<512x512xf32>, tensor<8x64xf32>, tensor<512x512xf64>, tensor<512x512xf32>) {
  // CHECK: linalg.matmul {xetile.anchor = "matmul"}
  %D0 = linalg.matmul {xetile.anchor = "rows"} ins(%A0, %B0 : tensor<512x512xf32>, tensor<512x512xf32>)
      outs(%C0 : tensor<512x512xf32>) -> tensor<512x512xf32>
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %D1 = linalg.matmul {xetile.anchor = "rows"} ins(%A1, %B1 : tensor<7x512xf32>, tensor<512x512xf32>)
      outs(%C1 : tensor<7x512xf32>) -> tensor<7x512xf32>
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %D2 = linalg.matmul {xetile.anchor = "rows"} ins(%A2, %B2 : tensor<512x512xf32>, tensor<512x7xf32>)
      outs(%C2 : tensor<512x7xf32>) -> tensor<512x7xf32>
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %D3 = linalg.matmul {xetile.anchor = "rows"} ins(%A3, %B3 : tensor<512x15xf32>, tensor<15x512xf32>)
      outs(%C3 : tensor<512x512xf32>) -> tensor<512x512xf32>
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %D4 = linalg.matmul {xetile.anchor = "rows"} ins(%A4, %B4 : tensor<8x64xf32>, tensor<64x64xf32>)
      outs(%C4 : tensor<8x64xf32>) -> tensor<8x64xf32>
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %D5 = linalg.matmul {xetile.anchor = "rows"} ins(%A5, %B5 : tensor<512x512xf64>, tensor<512x512xf64>)
      outs(%C5 : tensor<512x512xf64>) -> tensor<512x512xf64>
  // CHECK: linalg.matmul {xetile.anchor = "scan"}
  %D6 = linalg.matmul {xetile.anchor = "scan"} ins(%A6, %B6 : tensor<512x512xf32>, tensor<512x512xf32>)
      outs(%C6 : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %D0, %D1, %D2, %D3, %D4, %D5, %D6 : tensor<512x512xf32>, tensor<7x512xf32>, tensor<512x7xf32>, tensor<512x512xf32>, tensor<8x64xf32>, tensor<512x512xf64>, tensor<512x512xf32>
}
// CHECK-LABEL: func.func @sizes_of_a_run
func.func @sizes_of_a_run(%A: tensor<?x?xf32>, %B: tensor<?x?xf32>, %C: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // CHECK: linalg.matmul {xetile.anchor = "matmul"}
  %D = linalg.matmul {xetile.anchor = "rows"} ins(%A, %B : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%C : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %D : tensor<?x?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "matrix" -> !transform.any_param
    %chip = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.anchor_f32_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @vector
func.func @vector(%A0: tensor<512x512xf32>, %B0: tensor<512x512xf32>, %C0: tensor<512x512xf32>) -> (tensor<512x512xf32>) {
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %D0 = linalg.matmul {xetile.anchor = "rows"} ins(%A0, %B0 : tensor<512x512xf32>, tensor<512x512xf32>)
      outs(%C0 : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %D0 : tensor<512x512xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "vector" -> !transform.any_param
    %chip = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.anchor_f32_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// What kernels of the matrix unit do not take is multiplied by vector units: operands that are computed on the way,
// results of other types, and transposed ones. What else follows is taken.
// CHECK-LABEL: func.func @computed_before
func.func @computed_before(%A: tensor<96x96xf32>, %B: tensor<96x96xf32>, %C: tensor<96x96xf32>) -> tensor<96x96xf32> {
  %e = tensor.empty() : tensor<96x96xf32>
  %a = linalg.exp {xetile.anchor = "elementwise"} ins(%A : tensor<96x96xf32>) outs(%e : tensor<96x96xf32>)
      -> tensor<96x96xf32>
  // CHECK: linalg.matmul {xetile.anchor = "matmul"}
  %0 = linalg.matmul {xetile.anchor = "rows"} ins(%a, %B : tensor<96x96xf32>, tensor<96x96xf32>)
      outs(%C : tensor<96x96xf32>) -> tensor<96x96xf32>
  return %0 : tensor<96x96xf32>
}
// CHECK-LABEL: func.func @computed_on_the_way
func.func @computed_on_the_way(%A: tensor<96x96xf32>, %B: tensor<96x96xf32>, %C: tensor<96x96xf32>)
    -> tensor<96x96xf32> {
  %e = tensor.empty() : tensor<96x96xf32>
  %a = linalg.negf {xetile.anchor = "elementwise"} ins(%A : tensor<96x96xf32>) outs(%e : tensor<96x96xf32>)
      -> tensor<96x96xf32>
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %0 = linalg.matmul {xetile.anchor = "rows"} ins(%a, %B : tensor<96x96xf32>, tensor<96x96xf32>)
      outs(%C : tensor<96x96xf32>) -> tensor<96x96xf32>
  return %0 : tensor<96x96xf32>
}
// CHECK-LABEL: func.func @stored_as_f64
func.func @stored_as_f64(%A: tensor<96x96xf32>, %B: tensor<96x96xf32>, %C: tensor<96x96xf32>) -> tensor<96x96xf64> {
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %0 = linalg.matmul {xetile.anchor = "rows"} ins(%A, %B : tensor<96x96xf32>, tensor<96x96xf32>)
      outs(%C : tensor<96x96xf32>) -> tensor<96x96xf32>
  %e = tensor.empty() : tensor<96x96xf64>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"], xetile.anchor = "elementwise"} ins(%0 : tensor<96x96xf32>) outs(%e : tensor<96x96xf64>) {
  ^bb0(%x: f32, %o: f64):
    %wide = arith.extf %x : f32 to f64
    linalg.yield %wide : f64
  } -> tensor<96x96xf64>
  return %1 : tensor<96x96xf64>
}
// CHECK-LABEL: func.func @transposed_behind
func.func @transposed_behind(%A: tensor<96x96xf32>, %B: tensor<96x96xf32>, %C: tensor<96x96xf32>) -> tensor<96x96xf32> {
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %0 = linalg.matmul {xetile.anchor = "rows"} ins(%A, %B : tensor<96x96xf32>, tensor<96x96xf32>)
      outs(%C : tensor<96x96xf32>) -> tensor<96x96xf32>
  %e = tensor.empty() : tensor<96x96xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"], xetile.anchor = "elementwise"} ins(%0 : tensor<96x96xf32>) outs(%e : tensor<96x96xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<96x96xf32>
  return %1 : tensor<96x96xf32>
}
// CHECK-LABEL: func.func @columns_added_behind
func.func @columns_added_behind(%A: tensor<96x96xf32>, %B: tensor<96x96xf32>, %C: tensor<96x96xf32>, %x: tensor<96xf32>)
    -> tensor<96x96xf32> {
  // CHECK: linalg.matmul {xetile.anchor = "matmul"}
  %0 = linalg.matmul {xetile.anchor = "rows"} ins(%A, %B : tensor<96x96xf32>, tensor<96x96xf32>)
      outs(%C : tensor<96x96xf32>) -> tensor<96x96xf32>
  %e = tensor.empty() : tensor<96x96xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"], xetile.anchor = "elementwise"}
      ins(%0, %x : tensor<96x96xf32>, tensor<96xf32>) outs(%e : tensor<96x96xf32>) {
  ^bb0(%y: f32, %z: f32, %o: f32):
    %sum = arith.addf %y, %z : f32
    linalg.yield %sum : f32
  } -> tensor<96x96xf32>
  return %1 : tensor<96x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "matrix" -> !transform.any_param
    %chip = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.anchor_f32_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}
