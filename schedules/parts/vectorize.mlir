// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles become vectors, and the accumulator stays in registers for the whole k loop.
//
//   for k: D += matmul(A[:, k], B[k, :])                     // tensors
//   E = relu(D)
// becomes
//   acc = read D                                             // vectors from here on
//   for k: acc = contract(read A[:, k], read B[k, :], acc)
//   write relu(acc) to E
//
// The vectors have the size of whole tiles at the edges of the matrices, too: reads give zeros there, writes are dropped.
// What A, B and the start of D are computed from is computed where they are read.
//
// The general way to vectors is to_tiles (tile_program.mlir). Of f16 it makes the same loop: for 1024 x 1024 x 1024 on
// pvc, tiles of 256 x 256 and no prefetches, 366 instructions for the 364 of here, 0.09 moves for a dpas in both. This
// step stays for what to_tiles does not have: products of bytes on the matrix unit, the step of k as a parameter, and
// loops that tile_workgroups and tile_k leave for other steps to change before there are vectors.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @vectorize(%workgroups: !transform.any_op {transform.readonly},
                                      %workgroup_m: !transform.param<i64> {transform.readonly},
                                      %workgroup_n: !transform.param<i64> {transform.readonly},
                                      %k_step: !transform.param<i64> {transform.readonly}) {
    %func = transform.get_parent_op %workgroups {op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    transform.xetile.hang_over_edges %workgroups tile = [%workgroup_m, %workgroup_n, %k_step]
        : !transform.any_op, !transform.param<i64>
    // What was computed before the matmul, and is part of it now: of its sizes, those of its operands are known, too.
    transform.apply_patterns to %func {
      transform.apply_patterns.memref.resolve_ranked_shaped_type_result_dims
    } : !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    // Reads that are the same in each step leave the loop; a loop of a single step goes. Only the body is cleaned up: a
    // loop over a single workgroup must stay, it becomes the kernel.
    %loops = transform.structured.match ops{["scf.for"]} in %workgroups : (!transform.any_op) -> !transform.any_op
    transform.apply_licm to %loops : !transform.any_op
    transform.apply_patterns to %workgroups { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op
    transform.yield
  }
}
