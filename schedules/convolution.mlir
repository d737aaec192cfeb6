// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution that adds up over channels, and elementwise ops before and after it, -> one XeTile kernel at workgroup level
// (levels 0 to 1): 1D to 3D, any strides and dilations, groups, channels first or last.
//
//   for each workgroup (image, y, x, f):                     // 32 pixels of a row of the image, 32 or 64 filters
//     acc = 0
//     for p, q of the filter's window:
//       for c = 0 .. C step k:                               // channels of the image
//         acc += A[image, y + p, x + q : + 32, c : c+k] * B[p, q, c : c+k, f : f+64]
//     D[image, y, x : x+32, f : f+64] = g(acc)
//
// Nothing is copied: pixels of a row of the image are rows of a matrix where channels are last, and the window moves its
// first row. Neighbours' loads of the same pixels come from a cache.
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/convolution.mlir --transform-interpreter
//
// Parameters are knobs; what is left open is chosen (cpp/xetile/Schedule/Tiles/TilePlan.cpp):
//   (1) Sums of products of narrow floats with rows and columns are tile_mma; of f32, exactly, multiply-adds on vector units.
//       (gpu_model.mlir makes products of f32 of its matrices of windows for chips that gain by it: convolutions_to_products.)
//   (2) Channels that come first are no columns of memory: each element of the result is a sum along loops there.
//       (gpu_model.mlir gives images and filters channels that are last, for Intel's GPUs: xetile-channels-last.)
//   (3) On sm_90a the tile has filters and a row of the image, where that comes last: 8 x 256, of which a thread has 8 x 2,
//       so that what it loads serves several (PlanConvolution.cpp). So are those of fewer than 16 filters and long rows.
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
