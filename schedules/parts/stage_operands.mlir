// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subgroups of a workgroup load each slice of A and B once, together, and read it from shared local memory.
//
//   for k: a = load A[m, k]; b = load B[k, n]; ...
// becomes
//   copy the first slices to buffer 0 of the rings
//   for k, %buffers steps a turn, on buffer 0, 1, ..:
//          wait for all subgroups
//          load a part of A[m, k + 1] and B[k + 1, n]
//          a = load ring A; b = load ring B; ...
//          store the part to the next buffer
//
// %buffers is the number of buffers of a ring; 0 stages nothing. A loop of a single step is none, and has nothing to stage.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @stage_operands(%mma: !transform.any_op {transform.readonly},
                                           %buffers: !transform.param<i64> {transform.readonly},
                                           %target: !transform.any_param {transform.readonly}) {
    %kernel = transform.get_parent_op %mma {op_name = "gpu.func"} : (!transform.any_op) -> !transform.any_op
    // A and B, and what they are computed from; loads outside of the loop are passed over.
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %kernel : (!transform.any_op) -> !transform.any_op
    %loops = transform.xetile.stage_in_slm %loads buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    // Equal offsets and tiles become one, what is not used any more goes.
    transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op
    transform.yield
  }
}
