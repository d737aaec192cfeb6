// What assign_kernels refuses.
// RUN: xetile-opt %s --transform-interpreter --split-input-file --allow-unregistered-dialect --verify-diagnostics

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

// -----

// assign_kernels_c4: what only a host can do.
func.func @prints(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %v = tensor.extract %a[%c0] : tensor<64xf32>
  // expected-error @below {{vector.print is no kernel's, and the host has arithmetic on numbers, elements of tensors, loops and branches only: return what it needs, and do it behind the call}}
  vector.print %v : f32
  return %a : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// assign_kernels_c4
func.func private @read_file(tensor<64xf32>) -> tensor<64xf32>
func.func @calls(%x: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<64xf32>) {
    // expected-error @below {{func.call: expected calls of functions that the module defines}}
    %a = func.call @read_file(%t) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %a : tensor<64xf32>
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

// assign_kernels_c4
func.func @unknown(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{my.op is no kernel's}}
  %a = "my.op"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %a : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// assign_kernels_c5: other loops and branches.
func.func @region(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  // expected-error @below {{scf.execute_region is around ops for kernels: expected loops and branches of the host to be scf.for, scf.while, scf.if or scf.index_switch}}
  %r = scf.execute_region -> tensor<64xf32> {
    %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %a : tensor<64xf32>
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

// assign_kernels_c5
func.func @blocks(%x: tensor<64xf32>, %some: i1) -> tensor<64xf32> {
  // expected-error @below {{expected loops and branches of the host to be scf.for, scf.while, scf.if or scf.index_switch, got branches to other blocks}}
  cf.cond_br %some, ^a, ^b
^a:
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %a : tensor<64xf32>
^b:
  return %x : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}
