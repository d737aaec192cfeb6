// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of a program that isolate_kernel took apart are launched by one function again.
//
//   func(A, B : tensor) -> tensor: P = call matmul(A, B);  D = call rows(P)
//   module: func matmul: launch kernel    module: func rows: launch kernel
// becomes
//   func(A, B : memref) -> memref: launch matmul's kernel;  launch rows' kernel
//   gpu.module: both kernels
//
// %own is the outlined module of one of them; the result is the program around it. Where nothing was taken apart that is
// %own itself, and stays as it is.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @link_rest(%own: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %program = transform.xetile.get_program %own : (!transform.any_op) -> !transform.any_op
    transform.xetile.preserve_arguments in %program : !transform.any_op
    %buffers = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} %program
        {bufferize_function_boundaries = true} : (!transform.any_op) -> !transform.any_op
    transform.xetile.link_kernels %buffers : !transform.any_op
    %linked = transform.apply_registered_pass "inline" with options = {"default-pipeline" = ""} to %buffers
        : (!transform.any_op) -> !transform.any_op
    transform.yield %linked : !transform.any_op
  }
}
