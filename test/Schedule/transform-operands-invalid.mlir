// RUN: xetile-opt %s --split-input-file --verify-diagnostics
// Sequences ask for the effects of ops that nobody has verified.

module attributes {transform.with_named_sequence} {
  transform.named_sequence @pipeline(%root: !transform.any_op {transform.readonly}) {
    // expected-error @below {{'transform.xetile.pipeline' op expected 2 operands, but found 0}}
    %x = "transform.xetile.pipeline"() : () -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @stage_in_slm(%root: !transform.any_op {transform.consumed}) {
    // expected-error @below {{'transform.xetile.stage_in_slm' op expected 3 operands, but found 1}}
    %x = "transform.xetile.stage_in_slm"(%root) : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
