// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workgroups that run at the same time share what they read.
//
//   workgroup (x, y) of the grid, started along x, then y
// becomes, by groups of rows or along Hilbert's curve,
//   workgroup (x', y') of the same grid
//
// %order is "rows", which changes nothing, "groups" or "hilbert"; %size the rows of a group, the side of a square.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @order_workgroups(%kernel: !transform.any_op {transform.readonly},
                                             %order: !transform.any_param {transform.readonly},
                                             %size: !transform.param<i64> {transform.readonly}) {
    %func = transform.structured.match ops{["gpu.func"]} in %kernel : (!transform.any_op) -> !transform.any_op
    transform.xetile.order %func by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}
