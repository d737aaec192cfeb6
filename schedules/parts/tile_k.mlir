// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A workgroup walks along k and adds one slice at a time.
//
//   D = matmul(A, B) + C
// becomes
//   D = C
//   for k: D += matmul(A[:, k], B[k, :])
module attributes {transform.with_named_sequence} {
  transform.named_sequence @tile_k(%matmul: !transform.any_op {transform.consumed},
                                   %k_step: !transform.param<i64> {transform.readonly})
      -> (!transform.any_op, !transform.any_op) {
    //                                                                       m  n     k
    %slice, %k_loop = transform.structured.tile_using_for %matmul tile_sizes [0, 0, %k_step]
        : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.yield %slice, %k_loop : !transform.any_op, !transform.any_op
  }
}
