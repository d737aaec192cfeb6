// What assign_kernels refuses.
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

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

// -----

// assign_kernels_c2: a kernel that is in a loop and outside of it.
func.func @blocks(%x: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64xf32>
  // expected-note @below {{the other op of this kernel}}
  %a = linalg.exp {xetile.kernel = 3} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (tensor<64xf32>) {
    // expected-error @below {{expected the ops of kernel 3 in one block: the host's loops and branches stay around kernels}}
    %b = linalg.abs {xetile.kernel = 3} ins(%t : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// assign_kernels_c3: two schedules for one kernel.
func.func @schedules(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  // expected-note @below {{the other op of this kernel}}
  %a = linalg.exp {xetile.kernel = 3, xetile.schedule = "rows"} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // expected-error @below {{expected one schedule for kernel 3, got 'elementwise' here and 'rows' before; give the ops two numbers}}
  %b = linalg.abs {xetile.kernel = 3, xetile.schedule = "elementwise"} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}
