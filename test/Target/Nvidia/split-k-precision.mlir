// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exact products of f32 take longer than those of tf32, so that more parts of k pay.
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @exact(
// CHECK: tensor.expand_shape {{.*}} : tensor<192x512xf32> into tensor<192x{{[0-9]+}}x{{[0-9]+}}xf32>
func.func @exact(%A: tensor<192x512xf32>, %B: tensor<512x128xf32>, %C: tensor<192x128xf32>) -> tensor<192x128xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<192x512xf32>, tensor<512x128xf32>) outs(%C : tensor<192x128xf32>) -> tensor<192x128xf32>
  return %D : tensor<192x128xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.split_k %root parts = %zero workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target precision = %precision
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @rounded(
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.matmul
func.func @rounded(%A: tensor<192x512xf32>, %B: tensor<512x128xf32>, %C: tensor<192x128xf32>) -> tensor<192x128xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<192x512xf32>, tensor<512x128xf32>) outs(%C : tensor<192x128xf32>) -> tensor<192x128xf32>
  return %D : tensor<192x128xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "tf32" -> !transform.any_param
    %target = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.split_k %root parts = %zero workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target precision = %precision
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.any_param
    transform.yield
  }
}

// -----

func.func @other(%A: tensor<192x512xf32>) -> tensor<192x512xf32> {
  return %A : tensor<192x512xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "f16" -> !transform.any_param
    %target = transform.param.constant "sm_90a" -> !transform.any_param
    // expected-error @below {{precision = f16: expected exact or tf32}}
    transform.xetile.split_k %root parts = %zero workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target precision = %precision
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.any_param
    transform.yield
  }
}
