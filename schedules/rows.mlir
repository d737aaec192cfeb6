// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, and elementwise ops before, between and after them, -> one XeTile kernel at workgroup level (levels 0 to 1):
// softmax, norms, sums, maxima, means, along any dimensions.
//
//   for each workgroup m:                                    // a row; or 8 rows and more where rows are no whole vectors
//     x = A[m, :]                                            // folded to [n / 16, 16] of f32, [n / 32, 32] of f16
//     e = exp(x - reduce(max, x))
//     D[m, :] = e / reduce(+, e)
//
// A row that is too long for the registers is read in blocks, once for each reduction and once for the results:
//
//     for n = 0 .. N step 1024: m = max(m, A[m, n : n+1024])
//
// Reductions along columns are the same with rows and columns exchanged; what is reduced besides is a loop. Elements that
// do not exist are the neutral ones of the reduction that reads them.
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/rows.mlir --transform-interpreter
//
// Parameters are knobs; what is left open is chosen (cpp/xetile/Schedule/Tiles/TilePlan.cpp):
//   (1) Up to 1024 elements are one row a subgroup: sums across lanes, once a row, are all that is not elementwise.
//   (2) Longer rows are for up to 16 subgroups, which exchange their parts of a sum through shared memory.
//   (3) Sums of products of narrow floats with rows and columns, as convolutions of channels last, are tile_mma: pixels of a
//       row of the image are rows of a matrix, channels are k, and nothing is copied. For each window's row and column:
//       acc += A[rows + p, k] * B[p, q, k, columns].
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

    // linalg.softmax, pack and unpack have no loops of their own.
    %whole = transform.apply_registered_pass "xetile-drop-empty-pieces" to %module
        : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %whole
        : (!transform.any_op) -> !transform.any_op
    %decomposed = transform.apply_registered_pass "xetile-decompose-linalg" to %linalg
        : (!transform.any_op) -> !transform.any_op
    %split = transform.apply_registered_pass "xetile-split-argmax" to %decomposed
        : (!transform.any_op) -> !transform.any_op
    %fused = transform.apply_registered_pass "xetile-fuse-elementwise" to %split
        : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%fused, %given_m, %given_n, %given_rows, %given_columns, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    transform.yield %outlined : !transform.any_op
  }
}
