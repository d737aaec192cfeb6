// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model on tensors, any number of linalg ops -> tiled and fused loops, for a CPU (level 0 to 1).
//
//   give each op the name of a schedule                     // match.mlir: change what takes what there
//   sums of rows by their numbers, and what else updates these: a loop over the updates
//   cpu_convolution: for each image, for some rows: copy what the windows see, multiply it with the filter
//   attention: for each head, for blocks of its queries: the scores of all keys, their softmax, its product with the values
//   cpu_matmul: nine loops around a microkernel, as in cpu_matmul.mlir; elementwise ops before and after inside of them
//   frozen arguments: what is computed from them alone, as packed weights, becomes a function of its own
//   cpu_elementwise: chains become one loop nest            // cpu_fuse.mlir, as the next
//   cpu_rows: for blocks of rows that stay in a cache: sums, and what surrounds them
//   cpu_windows: a loop nest each; nothing to do here
//
// This is what the compiler does without a schedule: the library has these files in it, from when it was built, and the pass
// xetile-tile-for-cpu applies them. `xetile explain --target cpu` tells what comes of it.
//
// Run it on a payload (beside this file Python and xetile-compile find the others by themselves):
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/match.mlir,schedules/cpu_fuse.mlir,schedules/cpu_model.mlir
//     --transform-interpreter
//
// A step takes the ops that have one of the names in its `schedules`, and what other steps made. One that is taken out here
// does not happen.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @match(!transform.any_op {transform.consumed}) -> !transform.any_op
  transform.named_sequence private @cpu_fuse(!transform.any_op {transform.consumed},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly}) -> !transform.any_op

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %threads = transform.tune.knob<"threads"> = 0 from
        options = {min = 0, doc = "threads to use; 0 for the machine's cores"} -> !transform.param<i64>
    %pack = transform.tune.knob<"pack"> = "auto" from
        options = {doc = "copies of blocks of A and B of matmuls: auto, always or never"} -> !transform.any_param
    %rows = transform.tune.knob<"rows"> = 0 from
        options = {min = 0, doc = "rows per block, at most; 0 for as many as half of the second-level cache holds"}
        -> !transform.param<i64>
    %fuse = transform.tune.knob<"fuse"> = 1 from
        options = {min = 0, max = 1, doc = "1 computes elementwise ops around a matmul inside its loops, 0 does not"}
        -> !transform.param<i64>
    %attention = transform.tune.knob<"attention"> = 1 from
        options = {min = 0, max = 1, doc = "1 computes attention block by block of its rows, unless there is a config; 0 does not"}
        -> !transform.param<i64>
    %config = transform.tune.knob<"config"> = "{}" from
        options = {doc = "fields of the configuration of all matmuls, as a JSON object; the cost model chooses the others"}
        -> !transform.any_param

    // Updates of rows by their numbers, one after the other.
    %updated = transform.apply_registered_pass "xetile-scatters-to-loops" to %module
        : (!transform.any_op) -> !transform.any_op
    %found = transform.include @find_matmuls failures(propagate) (%updated) : (!transform.any_op) -> !transform.any_op

    // Options are in the alphabet's order here and below: MLIR prints them so, but their types as they were written.
    // Attention first: blocks of its rows, whose matmuls are smaller ones. Without this step its scores are a tensor.
    %attended = transform.apply_registered_pass "xetile-fuse-attention"
        with options = {"config" = %config, "enabled" = %attention, "threads" = %threads} to %found
        : (!transform.any_op, !transform.any_param, !transform.param<i64>, !transform.param<i64>) -> !transform.any_op
    %ready = transform.include @match failures(propagate) (%attended) : (!transform.any_op) -> !transform.any_op

    // cpu_matmul.
    %tiled = transform.apply_registered_pass "deep-tile-matmul"
        with options = {"config" = %config, "fuse" = %fuse, "pack" = %pack, "schedules" = ["cpu_matmul"],
                        "threads" = %threads} to %ready
        : (!transform.any_op, !transform.any_param, !transform.param<i64>, !transform.any_param, !transform.param<i64>)
        -> !transform.any_op
    %split = transform.apply_registered_pass "xetile-split-frozen" to %tiled : (!transform.any_op) -> !transform.any_op

    // cpu_elementwise and cpu_rows.
    %fused = transform.include @cpu_fuse failures(propagate) (%split, %threads, %rows)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> !transform.any_op
    transform.yield %fused : !transform.any_op
  }

  // What `xetile tune` measures configurations of: all matmuls, those of convolutions, too.
  transform.named_sequence @find_matmuls(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
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
    transform.yield %compared : !transform.any_op
  }
}
