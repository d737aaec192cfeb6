// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model on tensors, any number of linalg ops -> tiled and fused loops, for a CPU (level 0 to 1).
//
//   give each op the name of a schedule                     // match.mlir: change what takes what there
//   cpu_convolution: for each image, for some rows: copy what the windows see, multiply it with the filter
//   attention: for each head, for blocks of its queries: the scores of all keys, their softmax, its product with the values
//   cpu_matmul: nine loops around a microkernel, as in cpu_matmul.mlir; elementwise ops before and after inside of them
//   cpu_elementwise: chains become one loop nest
//   cpu_rows: for blocks of rows that stay in a cache: sums, and what surrounds them
//   cpu_windows: a loop nest each; nothing to do here
//
// This is what the compiler does without a schedule, step by step (test/python/targets/cpu/test_cpu_model.py compares the
// two), but for what is packed ahead for frozen arguments: `xetile explain --target cpu` tells the same of both.
//
// Run it on a payload (beside this file Python and xetile-compile find match.mlir by themselves):
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/match.mlir,schedules/cpu_model.mlir
//     --transform-interpreter
//
// A step takes the ops that have one of the names in its `schedules`, and what other steps made. Later passes leave the
// module as it is, since it says xetile.fused: a step that is taken out here does not happen.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @match(!transform.any_op {transform.consumed}) -> !transform.any_op

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %threads = transform.tune.knob<"threads"> = 0 from
        options = {min = 0, doc = "threads to use; 0 for the machine's cores"} -> !transform.param<i64>
    %pack = transform.tune.knob<"pack"> = "auto" from
        options = {doc = "copies of blocks of A and B of matmuls: auto, always or never"} -> !transform.any_param
    %rows = transform.tune.knob<"rows"> = 0 from
        options = {min = 0, doc = "rows per block, at most; 0 for as many as half of the second-level cache holds"}
        -> !transform.param<i64>

    %matched = transform.include @match failures(propagate) (%module) : (!transform.any_op) -> !transform.any_op

    // cpu_convolution. It makes matmuls and copies, which get their names, too.
    %copied = transform.apply_registered_pass "xetile-convolutions-to-matmuls"
        with options = {"schedules" = ["cpu_convolution"]} to %matched : (!transform.any_op) -> !transform.any_op
    %rematched = transform.include @match failures(propagate) (%copied) : (!transform.any_op) -> !transform.any_op

    // cpu_matmul. Weights are read as they are, not transposed before.
    %straight = transform.apply_registered_pass "xetile-fold-transposes"
        with options = {"schedules" = ["cpu_matmul"]} to %rematched : (!transform.any_op) -> !transform.any_op
    // Comparisons with constants in the type of what is compared, vectors of which are longer.
    %compared = transform.apply_registered_pass "xetile-narrow-comparisons" to %straight
        : (!transform.any_op) -> !transform.any_op
    // Attention first: blocks of its rows, whose matmuls are smaller ones. Without this step its scores are a tensor.
    %attended = transform.apply_registered_pass "xetile-fuse-attention" with options = {"threads" = %threads} to %compared
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    %ready = transform.include @match failures(propagate) (%attended) : (!transform.any_op) -> !transform.any_op
    %matmuls = transform.structured.match attributes {xetile.schedule = "cpu_matmul"} in %ready
        : (!transform.any_op) -> !transform.any_op
    transform.xetile.deep_tile_matmul %matmuls set ["threads", "pack"] = (%threads, %pack
        : !transform.param<i64>, !transform.any_param) : !transform.any_op

    // cpu_elementwise. First all ops become such that can be merged: sums that are wide, no dimensions of size one.
    %wide = transform.apply_registered_pass "xetile-widen-sums" to %ready : (!transform.any_op) -> !transform.any_op
    %whole = transform.apply_registered_pass "xetile-drop-empty-pieces" to %wide : (!transform.any_op) -> !transform.any_op
    %sliced = transform.apply_registered_pass "xetile-split-slices" to %whole : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %sliced
        : (!transform.any_op) -> !transform.any_op
    %clean = transform.apply_registered_pass "xetile-replace-poison" to %linalg : (!transform.any_op) -> !transform.any_op
    %dense = transform.apply_registered_pass "xetile-drop-unit-dims" to %clean : (!transform.any_op) -> !transform.any_op
    %merged = transform.apply_registered_pass "xetile-fuse-elementwise"
        with options = {"schedules" = ["cpu_elementwise", "cpu_rows"]} to %dense
        : (!transform.any_op) -> !transform.any_op
    %canonical = transform.apply_registered_pass "canonicalize" to %merged : (!transform.any_op) -> !transform.any_op
    %unique = transform.apply_registered_pass "cse" to %canonical : (!transform.any_op) -> !transform.any_op

    // cpu_rows.
    %blocked = transform.apply_registered_pass "xetile-fuse-rows"
        with options = {"threads" = %threads, "rows" = %rows, "schedules" = ["cpu_elementwise", "cpu_rows"]} to %unique
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> !transform.any_op

    // Sums along a dimension that keep all their terms.
    %scanned = transform.apply_registered_pass "xetile-vectorize-scans" with options = {"threads" = %threads} to %blocked
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op

    transform.annotate %scanned "xetile.fused" : !transform.any_op
    transform.yield %scanned : !transform.any_op
  }
}
