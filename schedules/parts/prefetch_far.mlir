// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two cache levels: slices of k are on their way to the second-level cache long before the first-level one has room.
//
//   for k: a = load A[m, k]; b = load B[k, n]; ...
// becomes, before prefetch_operands does the same for all caches a few steps ahead,
//   prefetch the first slices of A and B to the second-level cache
//   for k: prefetch A[m, k + distance], B[k + distance, n] to the second-level cache
//          a = load A[m, k]; b = load B[k, n]; ...
//
// %distance is in steps of the k loop, farther than that of prefetch_operands; 0 inserts nothing. A slice is prefetched in
// each step, rather than four of them in every fourth: a message takes one cache line of each row either way.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @prefetch_far(%mma: !transform.any_op {transform.readonly},
                                         %distance: !transform.param<i64> {transform.readonly}) {
    %kernel = transform.get_parent_op %mma {op_name = "gpu.func"} : (!transform.any_op) -> !transform.any_op
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %kernel : (!transform.any_op) -> !transform.any_op
    %prefetches = transform.xetile.insert_prefetch %loads distance = %distance locality = 2
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
