// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops on tensors, any number of them, -> one XeTile kernel at workgroup level (levels 0 to 1).
//
//   for each workgroup (m, n, others):                       // a grid of workgroups, any order
//     a, b, .. = A[m : m+128, n : n+64], B[n : n+64], ..     // 4 x 2 subgroups own 32 x 32 each
//     D[m : m+128, n : n+64] = f(a, b, ..)
//
// It takes chains with broadcasts, transposes, slices, pads, concatenations, casts and `linalg.index`, of tensors of any
// sizes, also such that only a run knows. Tiles hang over the edges: what is written there is dropped.
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/elementwise.mlir --transform-interpreter
//
// Parameters are knobs; what is left open is chosen (cpp/xetile/Schedule/Tiles/TilePlan.cpp):
//   (1) 32 x 32 elements of f32 are loads of 2048 bytes, the most that one message takes, and two of them fit the
//       registers of a subgroup beside the results; chains of many operands take half.
//   (2) More subgroups share nothing here; 8 of them are one workgroup, so that small tensors fill the machine, too.
//   (3) On sm_90a 256 threads have 16 elements each, of rows as long as there are: what is not in one place of memory costs.
//   (4) Rows of a pitch that blocks do not take are 8 x 64 elements a subgroup: a lane has four neighbours. Their last tiles
//       end where the matrix does, and compute again what the tiles before them did: no element is tested.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @clean_tiles(!transform.any_op {transform.readonly})
  transform.named_sequence private @bufferize(!transform.any_op {transform.consumed}) -> !transform.any_op
  transform.named_sequence private @outline_kernel(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %given_m = transform.tune.knob<"workgroup_m"> = 0 from
        options = {min = 0, doc = "rows of a workgroup's tile; 0 leaves it to the compiler, here and below"}
        -> !transform.param<i64>
    %given_n = transform.tune.knob<"workgroup_n"> = 0 from
        options = {min = 0, doc = "columns of a workgroup's tile"} -> !transform.param<i64>
    %given_rows = transform.tune.knob<"subgroups_m"> = 0 from
        options = {min = 0, doc = "subgroups along the rows of a workgroup's tile"} -> !transform.param<i64>
    %given_columns = transform.tune.knob<"subgroups_n"> = 0 from
        options = {min = 0, doc = "subgroups along the columns of a workgroup's tile"} -> !transform.param<i64>
    %target = transform.tune.knob<"target"> = "pvc" from
        options = {doc = "chip to compile for"} -> !transform.any_param

    // linalg.softmax, pack and unpack have no loops of their own.
    %whole = transform.apply_registered_pass "xetile-drop-empty-pieces" to %module
        : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %whole
        : (!transform.any_op) -> !transform.any_op
    %decomposed = transform.apply_registered_pass "xetile-decompose-linalg" to %linalg
        : (!transform.any_op) -> !transform.any_op
    %fused = transform.apply_registered_pass "xetile-fuse-elementwise" to %decomposed
        : (!transform.any_op) -> !transform.any_op
    %func = transform.structured.match ops{["func.func"]} in %fused : (!transform.any_op) -> !transform.any_op
    %workgroups, %subgroups_m, %subgroups_n = transform.xetile.to_tiles %func
        tile = [%given_m, %given_n] sg_layout = [%given_rows, %given_columns] target = %target elementwise
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.include @clean_tiles failures(propagate) (%fused) : (!transform.any_op) -> ()
    %buffers = transform.include @bufferize failures(propagate) (%fused) : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @outline_kernel failures(propagate)
        (%buffers, %subgroups_m, %subgroups_n, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.any_param)
        -> (!transform.any_op, !transform.any_op)
    %mapped = transform.apply_registered_pass "xetile-infer-wg-map" to %kernel : (!transform.any_op) -> !transform.any_op
    transform.yield %outlined : !transform.any_op
  }
}
