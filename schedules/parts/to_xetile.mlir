// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors that are read and written become XeTile at workgroup level, owned by subgroups.
//
//   a = read A[m, k];  acc = contract(a, b, acc)
// becomes
//   a = load_tile (init_tile A[m, k]);  acc = tile_mma a, b, acc
//
// One map is decided here, that of the result: an even grid of subgroups. All others follow from it.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @to_xetile(%kernel: !transform.any_op {transform.consumed},
                                      %subgroups_m: !transform.param<i64> {transform.readonly},
                                      %subgroups_n: !transform.param<i64> {transform.readonly})
      -> (!transform.any_op, !transform.any_op) {
    %tiles = transform.apply_registered_pass "convert-vector-to-xetile" to %kernel
        : (!transform.any_op) -> !transform.any_op
    %mma = transform.structured.match ops{["xetile.tile_mma"]} in %tiles : (!transform.any_op) -> !transform.any_op
    transform.xetile.set_wg_map %mma sg_layout = [%subgroups_m, %subgroups_n]
        : !transform.any_op, !transform.param<i64>
    %mapped = transform.apply_registered_pass "xetile-infer-wg-map" to %tiles : (!transform.any_op) -> !transform.any_op
    %mapped_mma = transform.structured.match ops{["xetile.tile_mma"]} in %mapped
        : (!transform.any_op) -> !transform.any_op
    transform.yield %mapped, %mapped_mma : !transform.any_op, !transform.any_op
  }
}
