// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two layers of a perceptron on tensors -> one XeTile kernel at workgroup level (levels 0 to 1).
//
//   for each workgroup m:                                    // subgroups own 16 rows each
//     x = X[m : m+128, :];  y = 0                            // in registers
//     for n = 0 .. N step 64:                                // blocks of hidden values; the next weights are prefetched
//       h = f(x * W[:, n : n+64])                            // with a gate f(x * W[:, n : n+64], x * U[:, n : n+64])
//       y += h * V[n : n+64, :]                              // hidden values never reach memory
//     Y[m : m+128, :] = g(y)
//
// It takes Y = g(f(X W) V) in f16, bf16 and f32, with any elementwise ops for f and g: activations, gates, biases, residuals;
// and of any number of hidden values. Inputs and results of the layers have to fit the registers: results of 2 to 256 columns,
// those of more than 128 for two workgroups, each with all hidden values, and inputs of some hundred columns.
// Wider layers, and those of a single row or column of results, are two kernels of gpu_model.mlir, whose hidden values are in memory.
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/mlp.mlir --transform-interpreter
//
// Parameters are knobs; what is left open is chosen (cpp/xetile/Schedule/Tiles/PlanProducts.cpp):
//   (1) A subgroup has whole rows of hidden values: what it multiplies stays where it was made.
//   (2) 16 rows of 64 results, 8 of more, as in attention.mlir.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @tile_program(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)
  transform.named_sequence private @prefetch_blocks(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly})

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %given_m = transform.tune.knob<"workgroup_m"> = 0 from
        options = {min = 0, doc = "rows of a workgroup; 0 leaves it to the compiler, here and below"}
        -> !transform.param<i64>
    %given_rows = transform.tune.knob<"subgroups_m"> = 0 from
        options = {min = 0, doc = "subgroups of a workgroup, which share its rows"} -> !transform.param<i64>
    %given_hidden = transform.tune.knob<"hidden"> = 0 from
        options = {min = 0, doc = "hidden values of a step"} -> !transform.param<i64>
    %prefetch = transform.tune.knob<"prefetch"> = 2 from
        options = {min = 0, max = 64, doc = "steps that prefetches of weights run ahead; 0 for none"}
        -> !transform.param<i64>
    %target = transform.tune.knob<"target"> = "pvc" from
        options = {doc = "chip to compile for"} -> !transform.any_param

    // Sums of f16 and bf16 are made in f32 and rounded once; all else becomes few ops that are indexed by dimensions.
    %wide = transform.apply_registered_pass "xetile-widen-sums" to %module : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %wide
        : (!transform.any_op) -> !transform.any_op
    %simple = transform.apply_registered_pass "xetile-simplify-attention"
        with options = {"narrow" = true} to %linalg : (!transform.any_op) -> !transform.any_op
    %func = transform.structured.match ops{["func.func"]} in %simple : (!transform.any_op) -> !transform.any_op
    %loop = transform.xetile.online %func block = %given_hidden products
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%simple, %given_m, %open, %given_rows, %open, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    transform.include @prefetch_blocks failures(propagate) (%kernel, %prefetch)
        : (!transform.any_op, !transform.param<i64>) -> ()
    transform.yield %outlined : !transform.any_op
  }
}
