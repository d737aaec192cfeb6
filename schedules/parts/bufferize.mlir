// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors become buffers.
//
//   func(A, B, C : tensor) -> tensor
// becomes
//   func(A, B, C : memref) -> memref                         // a new buffer, C is read only
//
// Callers rely on arguments that never change. A function that may overwrite one says so itself:
// `%C: tensor<...> {bufferization.writable = true}` makes the result C's own buffer.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @bufferize(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    transform.xetile.preserve_arguments in %module : !transform.any_op
    // Identity layouts: kernels take whole row-major matrices, whose pitch is known.
    %buffers = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} %module
        {bufferize_function_boundaries = true} : (!transform.any_op) -> !transform.any_op
    // Subviews fold into the transfers' offsets, and what they copied onto itself disappears.
    %workgroups = transform.structured.match ops{["scf.forall"]} in %buffers : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %workgroups {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.memref.fold_memref_alias_ops
    } {apply_cse} : !transform.any_op
    transform.yield %buffers : !transform.any_op
  }
}
