// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel of elementwise ops and reductions beside the one that a schedule is for: all of it as tiles of chosen sizes.
//
//   func(P : tensor) -> tensor: D = sum(P);  E = relu(D)
// becomes
//   func(P : memref) -> memref: launch kernel, one workgroup for each tile of E
//   gpu.module: kernel: d = sum of tiles of P;  E[m, n] = relu(d)
//
// %module is one of those that isolate_kernel calls the rest.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @tile_program(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)

  transform.named_sequence @tile_rest(%module: !transform.any_op {transform.consumed},
                                      %target: !transform.any_param {transform.readonly}) {
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%module, %open, %open, %open, %open, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
