// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements read at indices that are computed, and elementwise ops before and after that, -> one XeTile kernel at workgroup
// level (levels 0 to 1): embeddings, selections along a dimension, `tensor.extract` in the body of a linalg op.
//
//   for each workgroup (m, n, others):                       // 4 x 2 subgroups own 32 x 32 each
//     i = f(I[m : m+128, n : n+64])                          // indices, in the range of what is read
//     D[m : m+128, n : n+64] = g(A[i, ..], ..)               // load_gather: an address for each element
//
// Indices that are the same along a row of the tile leave its columns neighbours in memory.
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/gather.mlir --transform-interpreter
//
// Parameters are knobs; what is left open is chosen as for elementwise.mlir (cpp/xetile/Schedule/Tiles/TilePlan.cpp).
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

    %whole = transform.apply_registered_pass "xetile-drop-empty-pieces" to %module
        : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %whole
        : (!transform.any_op) -> !transform.any_op
    %fused = transform.apply_registered_pass "xetile-fuse-elementwise" to %linalg
        : (!transform.any_op) -> !transform.any_op
    %func = transform.structured.match ops{["func.func"]} in %fused : (!transform.any_op) -> !transform.any_op
    %workgroups, %subgroups_m, %subgroups_n = transform.xetile.to_tiles %func
        tile = [%given_m, %given_n] sg_layout = [%given_rows, %given_columns] elementwise
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
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
