// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// order_c1
// expected-note @below {{target op}}
func.func @host() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "groups" -> !transform.any_param
    %size = transform.param.constant 4 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected gpu.func, got func.func}}
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// order_c2
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "columns" -> !transform.any_param
    %size = transform.param.constant 4 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{order = "columns": expected "rows", "groups" or "hilbert"}}
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// order_c3
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "groups" -> !transform.any_param
    %size = transform.param.constant 1 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{order_size = 1: expected groups of 2 to 1024 rows}}
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// order_c3: more rows than a group may have.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "groups" -> !transform.any_param
    %size = transform.param.constant 1025 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{order_size = 1025: expected groups of 2 to 1024 rows}}
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// order_c3: no power of two.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "hilbert" -> !transform.any_param
    %size = transform.param.constant 6 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{order_size = 6: expected the side of a square on Hilbert's curve, a power of two from 2 to 64}}
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// order_c3: too large a square.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "hilbert" -> !transform.any_param
    %size = transform.param.constant 128 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{order_size = 128: expected the side of a square on Hilbert's curve, a power of two from 2 to 64}}
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// order_c3: negative.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "rows" -> !transform.any_param
    %size = transform.param.constant -1 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{order_size = -1: expected at least 0}}
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}
