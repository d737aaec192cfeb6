// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// While a workgroup multiplies one slice of k, its subgroups together prefetch a later one.
//
//   for k: a = load A[m, k]; b = load B[k, n]; ...
// becomes
//   prefetch the first slices of A and B
//   for k: prefetch A[m, k + distance], B[k + distance, n]
//          a = load A[m, k]; b = load B[k, n]; ...
//
// %prefetch is the distance in steps of the k loop; 0 inserts nothing.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @prefetch_operands(%mma: !transform.any_op {transform.readonly},
                                              %prefetch: !transform.param<i64> {transform.readonly}) {
    %kernel = transform.get_parent_op %mma {op_name = "gpu.func"} : (!transform.any_op) -> !transform.any_op
    // A and B, and what they are computed from; loads outside of the loop are passed over.
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %kernel : (!transform.any_op) -> !transform.any_op
    %prefetches = transform.xetile.insert_prefetch %loads distance = %prefetch
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    // One offset serves A and B.
    transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op
    transform.yield
  }
}
