// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics | FileCheck %s

// Intel's chips round f32 to tf32: its products stay on vector units.
// CHECK-LABEL: func.func @rounds
func.func @rounds(%A0: tensor<512x512xf32>, %B0: tensor<512x512xf32>, %C0: tensor<512x512xf32>) -> (tensor<512x512xf32>) {
  // CHECK: linalg.matmul {xetile.anchor = "rows"}
  %D0 = linalg.matmul {xetile.anchor = "rows"} ins(%A0, %B0 : tensor<512x512xf32>, tensor<512x512xf32>)
      outs(%C0 : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %D0 : tensor<512x512xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "matrix" -> !transform.any_param
    %chip = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.anchor_f32_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// anchor_f32_products_c1
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "tensor" -> !transform.any_param
    %chip = transform.param.constant "pvc" -> !transform.any_param
    // expected-error @below {{units = tensor: expected matrix or vector}}
    transform.xetile.anchor_f32_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}
