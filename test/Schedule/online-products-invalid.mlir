// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What transform.xetile.online refuses where products of products are asked for.
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @f(%x: tensor<8x32xf32>, %r: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected a product of what other products make, got a reduction of operands that no product is in}}
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x32xf32>) outs(%r : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %l : tensor<8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %block = transform.param.constant 8 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop = transform.xetile.online %func block = %block products
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-error @below {{expected a product of what other products make, got no reduction}}
func.func @f(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  return %x : tensor<8x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %block = transform.param.constant 8 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop = transform.xetile.online %func block = %block products
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
