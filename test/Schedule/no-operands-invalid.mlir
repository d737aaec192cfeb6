// A sequence's verifier asks the ops in it for their effects before they are verified themselves.
// REQUIRES: cpu
// RUN: xetile-opt %s --split-input-file --verify-diagnostics

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{requires a single operand}}
    %a, %b = "transform.xetile.get_matmul"() : () -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{requires a single operand}}
    "transform.xetile.preserve_arguments"() : () -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{expected 3 operands}}
    "transform.xetile.set_wg_map"() : () -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{expected 3 operands, but found 0}}
    "transform.xetile.set_launch_subgroups"() : () -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{expected 8 or more operands}}
    "transform.xetile.check_matmul_tiling"() : () -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{requires one result}}
    "transform.xetile.insert_prefetch"() : () -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{expected 1 or more operands, but found 0}}
    "transform.xetile.deep_tile_matmul"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{requires a single operand}}
    %a = "transform.xetile.normalize_matmul"() : () -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{requires a single operand}}
    %a = "transform.xetile.fuse_consumers"() : () -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{requires a single operand}}
    %a = "transform.xetile.launch_workgroups"() : () -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{expected 4 operands}}
    "transform.xetile.hang_over_edges"() : () -> ()
    transform.yield
  }
}
