// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles become vectors, and the accumulator stays in registers for the whole k loop.
//
//   for k: D += matmul(A[:, k], B[k, :])                     // tensors
// becomes
//   acc = read D                                             // vectors from here on
//   for k: acc = contract(read A[:, k], read B[k, :], acc)
//   write acc to D
//
// %init_tile is the fill of the accumulator's tile, or no operation; it becomes a constant to start from.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @vectorize(%matmul: !transform.any_op {transform.consumed},
                                      %init_tile: !transform.any_op {transform.consumed},
                                      %k_loop: !transform.any_op {transform.readonly}) {
    // Only the loop's body is cleaned up: a loop over a single workgroup must stay, it becomes the kernel.
    %workgroups = transform.get_parent_op %k_loop {op_name = "scf.forall"} : (!transform.any_op) -> !transform.any_op
    // A named contraction: the inputs stay f16 or bf16, as the matrix unit takes them.
    transform.structured.vectorize %matmul {create_named_contraction} : !transform.any_op
    transform.structured.vectorize %init_tile : !transform.any_op
    // Reads of slices become reads of the whole matrix at an offset, the form that hoisting and level 1 know.
    transform.apply_patterns to %workgroups {
      transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    } {apply_cse} : !transform.any_op
    transform.apply_licm to %k_loop : !transform.any_op
    transform.loop.hoist_loop_invariant_subsets %k_loop : !transform.any_op
    // Last, since it may remove a loop of a single step.
    transform.apply_patterns to %workgroups {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    } {apply_cse} : !transform.any_op
    transform.yield
  }
}
