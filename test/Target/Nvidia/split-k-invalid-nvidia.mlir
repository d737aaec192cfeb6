// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of k have one size on a Hopper GPU, which is a whole number of steps.
// RUN: xetile-opt %s --transform-interpreter --verify-diagnostics

func.func @f(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  // expected-error @below {{split_k = 3: k = 8192 has no so many parts of whole steps (k_step = 64) of one size; expected a divisor of k / 64}}
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "sm_90a" -> !transform.any_param
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}
