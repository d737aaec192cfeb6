// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads run ahead of the steps that use them, in registers.
//
//   for k: a = load A[m, k]; acc += a * b
// becomes, with %steps of 1,
//   a = load A[m, 0]
//   for k: acc += a * b
//          a = load A[m, k + 1]
//
// %steps is how far ahead they are; 0 changes nothing.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @load_ahead(%kernel: !transform.any_op {transform.readonly},
                                       %steps: !transform.param<i64> {transform.readonly}) {
    %loops = transform.structured.match ops{["scf.for"]} in %kernel : (!transform.any_op) -> !transform.any_op
    %ahead = transform.xetile.pipeline %loops depth = %steps
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    // What only the loads of a step itself used goes.
    transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op
    transform.yield
  }
}
