// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All that a function computes becomes one loop over workgroups, each of which computes a tile of the results.
//
//   E = exp(A - max(A, rows));  D = E / sum(E, rows)
// becomes
//   forall workgroups m:
//     a = load_tile A[m];  e = exp(a - tile_reduce max a);  store_tile e / tile_reduce add e, D[m]
module attributes {transform.with_named_sequence} {
  transform.named_sequence @clean_tiles(%module: !transform.any_op {transform.readonly}) {
    %workgroups = transform.structured.match ops{["scf.forall"]} in %module : (!transform.any_op) -> !transform.any_op
    // The ops on whole tensors, which nobody uses any more. A loop over a single workgroup must stay.
    %func = transform.get_parent_op %workgroups {deduplicate, op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.apply_patterns to %workgroups { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op
    %loops = transform.structured.match ops{["scf.for"]} in %func : (!transform.any_op) -> !transform.any_op
    transform.apply_licm to %loops : !transform.any_op
    transform.xetile.refuse_rest in %module : !transform.any_op
    transform.yield
  }
}
