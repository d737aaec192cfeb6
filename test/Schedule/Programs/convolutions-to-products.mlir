// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics | FileCheck %s

// Intel's chips round f32 to tf32: its convolutions stay on vector units.
// CHECK: module attributes {xetile.schedule = "convolution"}
module {
  module attributes {xetile.schedule = "convolution"} {
    func.func @f(%X: tensor<2x32x30x30xf32>, %W: tensor<48x32x3x3xf32>, %C: tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32> {
      // CHECK: linalg.conv_2d_nchw_fchw
      %D = linalg.conv_2d_nchw_fchw ins(%X, %W : tensor<2x32x30x30xf32>, tensor<48x32x3x3xf32>)
          outs(%C : tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32>
      return %D : tensor<2x48x28x28xf32>
    }
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "matrix" -> !transform.any_param
    %chip = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.convolutions_to_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// convolutions_to_products_c1
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "tensor" -> !transform.any_param
    %chip = transform.param.constant "pvc" -> !transform.any_param
    // expected-error @below {{units = tensor: expected matrix or vector}}
    transform.xetile.convolutions_to_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}
