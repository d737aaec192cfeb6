// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over windows that overlap, and elementwise ops before and after them, -> one XeTile kernel at workgroup level
// (levels 0 to 1): poolings, depthwise convolutions, any strides and dilations.
//
//   for each workgroup (image, channel, y, x):
//     acc = -inf
//     for p, q of the window:
//       acc = max(acc, A[image, channel, s * y + p, s * x + q : + s * 32])
//     D[image, channel, y, x : x+32] = g(acc)
//
// Each element of the image is loaded once for each window that it is in: from a cache after the first time.
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/windows.mlir --transform-interpreter
//
// Parameters are knobs; what is left open is chosen (cpp/xetile/Schedule/Tiles/TilePlan.cpp):
//   (1) Of images that are read in steps of two elements a lane has two neighbours of the results: four elements are one load.
//   (2) The last tiles end where the results do, so that no element is tested.
//   (3) Windows that overlap are steps, whatever their length: as rows or columns of a tile each element would be gathered
//       for each window that it is in.
//   (4) On sm_90a 256 threads have 4 results each, neighbours in memory those of neighbouring threads.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @tile_program(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
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

    %whole = transform.apply_registered_pass "xetile-drop-empty-pieces" to %module
        : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %whole
        : (!transform.any_op) -> !transform.any_op
    %fused = transform.apply_registered_pass "xetile-fuse-elementwise" to %linalg
        : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%fused, %given_m, %given_n, %given_rows, %given_columns, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    transform.yield %outlined : !transform.any_op
  }
}
