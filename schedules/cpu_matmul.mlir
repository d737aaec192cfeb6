// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matmuls on tensors -> nine loops around a microkernel, for a CPU (level 0 to 1).
//
//   in parallel, for each thread (mt, nt, kt):               // MThreads x NThreads x KThreads
//     for blocks of m, n, k, in the order `loopOrder`:       // MBlock x NBlock x KBlock
//       copy the blocks of A and B, with what is computed before   // `pack`; constants were copied by the compiler
//       for innermost blocks of m and n:                     // innermostMBlock x innermostNBlock
//         C tile += A rows * B panel                         // all k of the block; the first step starts from the fill
//         in the last step of k: what follows on C           // bias, activation, residual, cast
//   add the results of the threads of k
//   what is left besides: elementwise ops and rows, fused         // cpu_fuse.mlir
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/cpu_fuse.mlir,schedules/cpu_matmul.mlir
//     --transform-interpreter
//
// Parameters are knobs: `xetile compile --target cpu --schedule cpu_matmul --set MBlock=128` and Python's `with_params`
// choose other values. The defaults leave every choice to the cost model, which `xetile explain` prints; to choose:
//   (1) innermostMBlock x innermostNBlock sums fill the vector registers: rows times vectors of n, some left for B.
//   (2) innermostNBlock is whole vectors, as panels of packed B are.
//   (3) innermostMBlock * KBlock elements of A stay in three quarters of the first-level cache, KBlock * innermostNBlock
//       of B, a panel, in a quarter of the second.
//   (4) MBlock * KBlock elements of A fit half of the second-level cache; NBlock * KBlock of B half of a core's share of
//       the third, or of the second if all of m is one block.
//   (5) Threads share m and n first. Threads of k need memory for partial results: they pay where m and n are small.
//   (6) The order that has k inside adds to a block of C while it is in cache; with k outside B is copied only once.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @cpu_fuse(!transform.any_op {transform.consumed},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly}) -> !transform.any_op

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %threads = transform.tune.knob<"threads"> = 0 from
        options = {min = 0, doc = "threads to use; 0 for the machine's cores"} -> !transform.param<i64>
    %m_threads = transform.tune.knob<"MThreads"> = 0 from
        options = {min = 0, doc = "threads that share m; 0 leaves it to the cost model, here and below"}
        -> !transform.param<i64>
    %n_threads = transform.tune.knob<"NThreads"> = 0 from
        options = {min = 0, doc = "threads that share n"} -> !transform.param<i64>
    %k_threads = transform.tune.knob<"KThreads"> = 0 from
        options = {min = 0, doc = "threads that share k"} -> !transform.param<i64>
    %m_block = transform.tune.knob<"MBlock"> = 0 from
        options = {min = 0, doc = "rows of A per block, a multiple of innermostMBlock"} -> !transform.param<i64>
    %n_block = transform.tune.knob<"NBlock"> = 0 from
        options = {min = 0, doc = "columns of B per block, a multiple of innermostNBlock"} -> !transform.param<i64>
    %k_block = transform.tune.knob<"KBlock"> = 0 from
        options = {min = 0, doc = "k per block, a multiple of innermostKBlock"} -> !transform.param<i64>
    %m_innermost = transform.tune.knob<"innermostMBlock"> = 0 from
        options = {min = 0, doc = "rows of C per call of the microkernel"} -> !transform.param<i64>
    %n_innermost = transform.tune.knob<"innermostNBlock"> = 0 from
        options = {min = 0, doc = "columns of C per call of the microkernel"} -> !transform.param<i64>
    %k_innermost = transform.tune.knob<"innermostKBlock"> = 0 from
        options = {min = 0, doc = "step that blocks of k are multiples of"} -> !transform.param<i64>
    %order = transform.tune.knob<"loopOrder"> = -1 from
        options = {min = -1, max = 5, names = ["mnk", "mkn", "nmk", "nkm", "kmn", "knm"],
                   doc = "loops over blocks: 0 mnk, 1 mkn, 2 nmk, 3 nkm, 4 kmn, 5 knm; -1 leaves it to the cost model"}
        -> !transform.param<i64>
    %pack = transform.tune.knob<"pack"> = "auto" from
        options = {doc = "copies of blocks of A and B: auto, always or never"} -> !transform.any_param

    // Convolutions as matmuls of what their windows see, matmuls on what was transposed, short comparisons.
    %copied = transform.apply_registered_pass "xetile-convolutions-to-matmuls" to %module
        : (!transform.any_op) -> !transform.any_op
    %straight = transform.apply_registered_pass "xetile-fold-transposes" to %copied
        : (!transform.any_op) -> !transform.any_op
    %compared = transform.apply_registered_pass "xetile-narrow-comparisons" to %straight
        : (!transform.any_op) -> !transform.any_op
    %matmuls = transform.collect_matching @is_tiled in %compared : (!transform.any_op) -> !transform.any_op
    transform.xetile.deep_tile_matmul %matmuls
        set ["threads", "MThreads", "NThreads", "KThreads", "MBlock", "NBlock", "KBlock", "innermostMBlock",
             "innermostNBlock", "innermostKBlock", "loopOrder", "pack"]
          = (%threads, %m_threads, %n_threads, %k_threads, %m_block, %n_block, %k_block, %m_innermost,
             %n_innermost, %k_innermost, %order, %pack
             : !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
               !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
               !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.any_param)
        : !transform.any_op
    %rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %fused = transform.include @cpu_fuse failures(propagate) (%compared, %threads, %rows)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> !transform.any_op
    transform.yield %fused : !transform.any_op
  }

  // Matmuls of any form.
  transform.named_sequence private @is_tiled(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.xetile.match_matmul %op : !transform.any_op
    transform.yield %op : !transform.any_op
  }
}
