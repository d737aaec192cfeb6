// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All that a module's function computes becomes one kernel of tiles.
//
//   func(A : tensor) -> tensor: E = exp(A - max(A, rows));  D = E / sum(E, rows)
// becomes
//   func(A : memref) -> memref: launch kernel, one workgroup for each tile of D
//   gpu.module: kernel: a = load A[m];  e = exp(a - max a);  store e / sum e, D[m]
//
// What is multiplied is tile_mma, and loops on tensors, as `online` makes them, are loops of the kernel. Sizes of a tile and
// numbers of subgroups that are 0 are chosen.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @clean_tiles(!transform.any_op {transform.readonly})
  transform.named_sequence private @bufferize(!transform.any_op {transform.consumed}) -> !transform.any_op
  transform.named_sequence private @outline_kernel(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)

  transform.named_sequence @tile_program(
      %module: !transform.any_op {transform.consumed},
      %tile_m: !transform.param<i64> {transform.readonly}, %tile_n: !transform.param<i64> {transform.readonly},
      %rows: !transform.param<i64> {transform.readonly}, %columns: !transform.param<i64> {transform.readonly},
      %target: !transform.any_param {transform.readonly}) -> (!transform.any_op, !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    %workgroups, %subgroups_m, %subgroups_n = transform.xetile.to_tiles %func
        tile = [%tile_m, %tile_n] sg_layout = [%rows, %columns] target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.include @clean_tiles failures(propagate) (%module) : (!transform.any_op) -> ()
    %buffers = transform.include @bufferize failures(propagate) (%module) : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @outline_kernel failures(propagate)
        (%buffers, %subgroups_m, %subgroups_n, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.any_param)
        -> (!transform.any_op, !transform.any_op)
    %mapped = transform.apply_registered_pass "xetile-infer-wg-map" to %kernel : (!transform.any_op) -> !transform.any_op
    transform.yield %outlined, %mapped : !transform.any_op, !transform.any_op
  }
}
