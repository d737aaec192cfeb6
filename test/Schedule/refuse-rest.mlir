// RUN: xetile-opt %s --transform-interpreter --verify-diagnostics | FileCheck %s

// What is in loops over workgroups is taken, and what computes nothing may be outside.
module {
  // CHECK-LABEL: func.func @f
  func.func @f(%a: tensor<8x64xf32>) -> tensor<512xf32> {
    %any = tensor.empty() : tensor<8x64xf32>
    %r = scf.forall (%m) = (0) to (8) step (1) shared_outs(%all = %any) -> (tensor<8x64xf32>) {
      %x = tensor.extract_slice %a[%m, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<1x64xf32>
      %place = tensor.extract_slice %all[%m, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<1x64xf32>
      // CHECK: linalg.exp
      %y = linalg.exp ins(%x : tensor<1x64xf32>) outs(%place : tensor<1x64xf32>) -> tensor<1x64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %all[%m, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<8x64xf32>
      }
    }
    %flat = tensor.collapse_shape %r [[0, 1]] : tensor<8x64xf32> into tensor<512xf32>
    return %flat : tensor<512xf32>
  }
  module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.refuse_rest in %root : !transform.any_op
    transform.yield
  }
}
}
