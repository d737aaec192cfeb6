// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel at the level of workgroups -> the same, whose workgroups begin their k loop at different steps.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %k_loop = transform.structured.match ops{["scf.for"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.tutorial.stagger %k_loop : !transform.any_op
    transform.yield
  }
}
