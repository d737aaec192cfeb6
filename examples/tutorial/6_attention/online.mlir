// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of schedules/attention.mlir: a softmax and what is multiplied by it, in one loop over 64 keys at a time.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    %keys = transform.param.constant 64 : i64 -> !transform.param<i64>
    %loop = transform.xetile.online %func block = %keys
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
