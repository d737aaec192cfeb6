// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// While a workgroup computes with one block, its subgroups together prefetch a later one.
//
//   for n: k = load K[n]; ...; v = load V[n]; ...
// becomes
//   prefetch the first blocks of K and V
//   for n: prefetch K[n + distance], V[n + distance]
//          k = load K[n]; ...; v = load V[n]; ...
//
// Blocks that subgroups cannot share evenly are loaded without. %prefetch is the distance in steps of the loop.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @prefetch_blocks(%kernel: !transform.any_op {transform.readonly},
                                            %prefetch: !transform.param<i64> {transform.readonly}) {
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %kernel : (!transform.any_op) -> !transform.any_op
    %prefetches = transform.xetile.insert_prefetch %loads distance = %prefetch where_possible
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    // One offset serves K and V.
    transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op
    transform.yield
  }
}
