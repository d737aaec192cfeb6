// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands beside tiled matmuls on a CPU becomes few loops: chains of elementwise ops one loop nest each, reductions and
// what surrounds them blocks of rows that stay in a cache.
//
// before:  %d = linalg.generic {...} ins(%x, %max)      // x - max
//          %e = linalg.generic {...} ins(%d)            // exp
//          %s = linalg.generic {... "reduction"} ins(%e)
//          %y = linalg.generic {...} ins(%e, %s)        // e / s
// after:   %y = scf.forall (%m) = (0) to (64) step (16) { ... }   // the same three, of 16 rows: exp(x - max) is one
//
// A step takes the ops that have one of the names in its `schedules`, and those without any. `rows` is the most rows of a
// block, 0 for as many as half of the second-level cache holds; `threads` are those that share the blocks, 0 for all cores.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @cpu_fuse(%module: !transform.any_op {transform.consumed},
      %threads: !transform.param<i64> {transform.readonly}, %rows: !transform.param<i64> {transform.readonly})
      -> !transform.any_op {
    // First all ops become such that can be merged: sums that are wide, no dimensions of size one.
    %wide = transform.apply_registered_pass "xetile-widen-sums" to %module : (!transform.any_op) -> !transform.any_op
    %whole = transform.apply_registered_pass "xetile-drop-empty-pieces" to %wide : (!transform.any_op) -> !transform.any_op
    %sliced = transform.apply_registered_pass "xetile-split-slices" to %whole : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %sliced
        : (!transform.any_op) -> !transform.any_op
    %clean = transform.apply_registered_pass "xetile-replace-poison" to %linalg : (!transform.any_op) -> !transform.any_op
    %dense = transform.apply_registered_pass "xetile-drop-unit-dims" to %clean : (!transform.any_op) -> !transform.any_op

    // Elementwise ops.
    %merged = transform.apply_registered_pass "xetile-fuse-elementwise"
        with options = {"schedules" = ["cpu_elementwise", "cpu_rows"]} to %dense
        : (!transform.any_op) -> !transform.any_op
    %canonical = transform.apply_registered_pass "canonicalize" to %merged : (!transform.any_op) -> !transform.any_op
    %unique = transform.apply_registered_pass "cse" to %canonical : (!transform.any_op) -> !transform.any_op

    // Rows.
    %blocked = transform.apply_registered_pass "xetile-fuse-rows"
        with options = {"threads" = %threads, "rows" = %rows, "schedules" = ["cpu_elementwise", "cpu_rows"]} to %unique
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> !transform.any_op

    // Sums along a dimension that keep all their terms.
    %scanned = transform.apply_registered_pass "xetile-vectorize-scans" with options = {"threads" = %threads} to %blocked
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield %scanned : !transform.any_op
  }
}
