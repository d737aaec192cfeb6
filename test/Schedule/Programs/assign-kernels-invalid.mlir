// What assign_kernels refuses.
// RUN: xetile-opt %s --transform-interpreter --verify-diagnostics

// assign_kernels_c1
func.func @circle(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  // expected-error @below {{the kernel of this op and others wait for one another's results: expected numbers (xetile.kernel)}}
  %a = linalg.exp {xetile.kernel = 0} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.abs {xetile.kernel = 1} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.tanh {xetile.kernel = 0} ins(%b : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %c : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}
