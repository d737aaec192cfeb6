// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// isolate_kernel_c1: a function.
// expected-note @below {{target op}}
func.func @f(%A: tensor<64xf32>) -> tensor<64xf32> {
  return %A : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected builtin.module, got func.func}}
    %own, %rest = transform.xetile.isolate_kernel %func {schedule = "matmul"}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// isolate_kernel_c2: numbers, but none of them a kernel of the schedule.
// expected-note @below {{this module}}
module {
  func.func @f(%A: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %E = linalg.exp {xetile.kernel = 0 : i64} ins(%A : tensor<64x64xf32>) outs(%A : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %E : tensor<64x64xf32>
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %module = transform.get_parent_op %func {op_name = "builtin.module"} : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected one kernel of schedule 'matmul' in the module, got 0; programs of several are for the schedule gpu_model}}
    %own, %rest = transform.xetile.isolate_kernel %module {schedule = "matmul"}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
