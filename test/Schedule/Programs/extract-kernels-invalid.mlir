// What extract_kernels refuses.
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// extract_kernels_c1: an op that is in no kernel.
func.func @left(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  // expected-error @below {{expected the number of a kernel (xetile.kernel) and its schedule (xetile.schedule) at each op on tensors}}
  // expected-note @below {{linalg.exp is in no kernel}}
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.abs {xetile.kernel = 1, xetile.schedule = "elementwise"} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.extract_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// extract_kernels_c1: two schedules for one kernel.
func.func @two(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.exp {xetile.kernel = 1, xetile.schedule = "rows"} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // expected-error @below {{expected one schedule for kernel 1, got 'elementwise' here and 'rows' before}}
  %b = linalg.abs {xetile.kernel = 1, xetile.schedule = "elementwise"} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.extract_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// extract_kernels_c2
func.func @circle(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  // expected-error @below {{the kernel of this op and others wait for one another's results}}
  %a = linalg.exp {xetile.kernel = 0, xetile.schedule = "rows"} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.abs {xetile.kernel = 1, xetile.schedule = "rows"} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.tanh {xetile.kernel = 0, xetile.schedule = "rows"} ins(%b : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %c : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.extract_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// extract_kernels_c3
// expected-error @below {{expected a function with a body of one block}}
func.func @blocks(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  cf.br ^next
^next:
  %a = linalg.exp {xetile.kernel = 0, xetile.schedule = "rows"} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %a : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.extract_kernels %root : !transform.any_op
    transform.yield
  }
}
