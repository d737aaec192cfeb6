// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No kernel for a Hopper GPU adds up what workgroups that share k give.
// RUN: xetile-opt %s --transform-interpreter --verify-diagnostics

// split_k_c1: parts on a target without kernels of sums.
func.func @f(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "sm_90a" -> !transform.any_param
    // expected-error @below {{split_k = 4: the target sm_90a has no kernels of sums; expected 0 or 1}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}
