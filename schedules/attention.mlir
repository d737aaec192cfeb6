// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention on tensors -> one XeTile kernel at workgroup level (levels 0 to 1).
//
//   for each workgroup (m, heads):                           // 8 subgroups own 16 queries each
//     q = Q[m : m+128, :];  top, l, o = -inf, 0, 0           // of each query: all in registers
//     for n = 0 .. N step 64:                                // blocks of keys; the next ones are prefetched
//       s = f(q * K[n : n+64, :]^T)                          // scale, masks; scores never reach memory
//       t = max(top, max(s, rows))
//       p = exp(s - t)
//       l = l * exp(top - t) + sum(p, rows)
//       o = o * exp(top - t) + p * V[n : n+64, :]
//       top = t
//     D[m : m+128, :] = o / l
//
// With `lazy` the maximum is that of an earlier step as long as no sum of a subgroup's rows passes 2^lazy:
//
//       p = exp(s - top);  t = l + sum(p, rows)
//       if any t > 2^lazy:  l, o, top = what they are with the maximum of s, computed anew;  this step again
//       else:               l, o = t, o + p * V[n : n+64, :]
//
// Where few queries leave most of a device idle, workgroups share the keys, and a second kernel puts together what they give:
//
//   for each workgroup (m, heads, part):  T[part], L[part], O[part] = top, l, o of the keys of the part, as above
//   top = max T;  D = sum of O exp(T - top) over parts / sum of L exp(T - top)
//
// It takes softmax(f(Q K^T)) V in f16, bf16 and f32 as it comes: with any elementwise ops between the products, as scales,
// masks that are added or select, with heads that share keys, in tensors of any sizes that are known when they are compiled.
// Of a causal mask or a window, blocks that all queries of a workgroup see are done without it, those that none sees not at all.
// Queries and keys hang over the edges; keys that do not exist are minus infinity. f32 is multiplied on vector units.
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/attention.mlir --transform-interpreter
//
// Parameters are knobs; what is left open is chosen (cpp/xetile/Schedule/Tiles/PlanProducts.cpp):
//   (1) A subgroup has whole rows of scores: maxima and sums are its own, and powers stay where the second product reads them.
//   (2) 16 queries of 64 elements, 8 of more, and a block's scores fill the registers beside the output.
//   (3) 64 keys a step, 128 where values have 65 to 128 elements of f16: what is done once a step and query costs little then,
//       and the powers of f16 take the registers of scores, those of bf16 their own.
//   (4) Values of more than 128 elements are for two workgroups, each with all scores.
//   (5) Keys are split where workgroups fill half of their places or less, into parts of 256 keys or more.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @tile_program(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)
  transform.named_sequence private @prefetch_blocks(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly})

  transform.named_sequence private @tile_rest(
      !transform.any_op {transform.consumed}, !transform.any_param {transform.readonly})
  transform.named_sequence private @link_rest(!transform.any_op {transform.consumed}) -> !transform.any_op

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %given_m = transform.tune.knob<"workgroup_m"> = 0 from
        options = {min = 0, doc = "queries of a workgroup; 0 leaves it to the compiler, here and below"}
        -> !transform.param<i64>
    %given_n = transform.tune.knob<"workgroup_n"> = 0 from
        options = {min = 0, doc = "elements of a value that a workgroup computes"} -> !transform.param<i64>
    %given_rows = transform.tune.knob<"subgroups_m"> = 0 from
        options = {min = 0, doc = "subgroups of a workgroup, which share its queries"} -> !transform.param<i64>
    %given_keys = transform.tune.knob<"keys"> = 0 from
        options = {min = 0, doc = "keys of a step"} -> !transform.param<i64>
    %given_parts = transform.tune.knob<"split_keys"> = 0 from
        options = {min = 0, max = 1024, doc = "parts of the keys that workgroups share, put together by a second kernel; 1 for none"}
        -> !transform.param<i64>
    %prefetch = transform.tune.knob<"prefetch"> = 2 from
        options = {min = 0, max = 64, doc = "steps that prefetches of keys and values run ahead; 0 for none"}
        -> !transform.param<i64>
    %lazy = transform.tune.knob<"lazy"> = 0 from
        options = {min = 0, max = 111, doc = "a new maximum only where a sum of powers passes 2^lazy; 0 for one each step"}
        -> !transform.param<i64>
    %target = transform.tune.knob<"target"> = "pvc" from
        options = {doc = "chip to compile for"} -> !transform.any_param

    // linalg.softmax has no loops of its own; all else becomes few ops that are indexed by dimensions.
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %module
        : (!transform.any_op) -> !transform.any_op
    %decomposed = transform.apply_registered_pass "xetile-decompose-linalg" to %linalg
        : (!transform.any_op) -> !transform.any_op
    %split = transform.apply_registered_pass "xetile-split-argmax" to %decomposed
        : (!transform.any_op) -> !transform.any_op
    %placed = transform.apply_registered_pass "xetile-inline-indices" to %split
        : (!transform.any_op) -> !transform.any_op
    %simple = transform.apply_registered_pass "xetile-simplify-attention"
        with options = {"narrow" = true} to %placed : (!transform.any_op) -> !transform.any_op
    %whole = transform.structured.match ops{["func.func"]} in %simple : (!transform.any_op) -> !transform.any_op
    transform.xetile.split_keys %whole parts = %given_parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    %own, %rest = transform.xetile.isolate_kernel %simple {schedule = "attention"}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.foreach %rest : !transform.any_op {
    ^bb0(%other: !transform.any_op):
      transform.include @tile_rest failures(propagate) (%other, %target)
          : (!transform.any_op, !transform.any_param) -> ()
    }
    %func = transform.structured.match ops{["func.func"]} in %own : (!transform.any_op) -> !transform.any_op
    %loop = transform.xetile.online %func block = %given_keys lazy = %lazy target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%own, %given_m, %given_n, %given_rows, %open, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    transform.include @prefetch_blocks failures(propagate) (%kernel, %prefetch)
        : (!transform.any_op, !transform.param<i64>) -> ()
    %linked = transform.include @link_rest failures(propagate) (%outlined) : (!transform.any_op) -> !transform.any_op
    transform.yield %linked : !transform.any_op
  }
}
