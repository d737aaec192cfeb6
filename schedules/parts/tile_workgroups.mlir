// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every workgroup computes one tile of C.
//
//   D = matmul(A, B) + C
// becomes
//   forall workgroups (m, n):
//     D[m, n] = matmul(A[m, :], B[:, n]) + C[m, n]
//
// %init is what fills C, or no operation at all: fused into the loop, each workgroup fills its own tile and nothing is
// left to do before the kernel.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @tile_workgroups(%matmul: !transform.any_op {transform.consumed},
                                            %init: !transform.any_op {transform.consumed},
                                            %workgroup_m: !transform.param<i64> {transform.readonly},
                                            %workgroup_n: !transform.param<i64> {transform.readonly})
      -> (!transform.any_op, !transform.any_op) {
    %func = transform.get_parent_op %matmul {op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    //                                                                                m             n        k
    %tile, %workgroups = transform.structured.tile_using_forall %matmul tile_sizes [%workgroup_m, %workgroup_n, 0]
        // Adjacent workgroups (x) share rows of A in the caches.
        (mapping = [#gpu.block<y>, #gpu.block<x>])
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    %init_tile, %fused_workgroups = transform.structured.fuse_into_containing_op %init into %workgroups
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    // The fill of the whole of C.
    transform.apply_dce to %func : !transform.any_op
    transform.yield %tile, %init_tile : !transform.any_op, !transform.any_op
  }
}
