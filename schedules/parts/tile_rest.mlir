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
  transform.named_sequence private @clean_tiles(!transform.any_op {transform.readonly})
  transform.named_sequence private @bufferize(!transform.any_op {transform.consumed}) -> !transform.any_op
  transform.named_sequence private @outline_kernel(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)

  transform.named_sequence @tile_rest(%module: !transform.any_op {transform.consumed},
                                      %target: !transform.any_param {transform.readonly}) {
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %func = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    %workgroups, %subgroups_m, %subgroups_n = transform.xetile.to_tiles %func
        tile = [%open, %open] sg_layout = [%open, %open]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.include @clean_tiles failures(propagate) (%module) : (!transform.any_op) -> ()
    %buffers = transform.include @bufferize failures(propagate) (%module) : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @outline_kernel failures(propagate)
        (%buffers, %subgroups_m, %subgroups_n, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.any_param)
        -> (!transform.any_op, !transform.any_op)
    %mapped = transform.apply_registered_pass "xetile-infer-wg-map" to %kernel : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
