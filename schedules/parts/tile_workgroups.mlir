// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every workgroup computes one tile of C, and what follows on it.
//
//   D = matmul(A, B) + C;  E = relu(D + bias)
// becomes
//   forall workgroups (m, n, batches):
//     D[m, n] = matmul(A[m, :], B[:, n]) + C[m, n];  E[m, n] = relu(D[m, n] + bias[n])
//
// %init is what fills C, or no operation at all: fused into the loop, each workgroup fills its own tile and nothing is
// left to do before the kernel. %tile has a size for each loop of the matmul, as find_matmul gives it.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @tile_workgroups(%matmul: !transform.any_op {transform.consumed},
                                            %init: !transform.any_op {transform.consumed},
                                            %tile: !transform.param<i64> {transform.readonly})
      -> (!transform.any_op, !transform.any_op) {
    %func = transform.get_parent_op %matmul {op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    // What follows has sizes that come before the loop: not those of its result.
    transform.apply_patterns to %func {
      transform.apply_patterns.memref.resolve_ranked_shaped_type_result_dims
    } : !transform.any_op
    %workgroup_matmul, %workgroups = transform.structured.tile_using_forall %matmul tile_sizes *(%tile)
        : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    %init_tile, %filled_workgroups = transform.structured.fuse_into_containing_op %init into %workgroups
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused_workgroups = transform.xetile.fuse_consumers %filled_workgroups : (!transform.any_op) -> !transform.any_op
    // The fill of the whole of C.
    transform.apply_dce to %func : !transform.any_op
    transform.yield %workgroup_matmul, %fused_workgroups : !transform.any_op, !transform.any_op
  }
}
