// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one linalg.matmul of a module, if it can be tiled as asked.
//
//   %init -> what fills its accumulator, or no operation
//
// All that a user can get wrong is refused here, before the payload changes: the error is at their matmul, or names the
// parameter and its legal values. The steps that follow rely on whole tiles.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @find_matmul(%module: !transform.any_op {transform.readonly},
                                        %workgroup_m: !transform.param<i64> {transform.readonly},
                                        %workgroup_n: !transform.param<i64> {transform.readonly},
                                        %subgroups_m: !transform.param<i64> {transform.readonly},
                                        %subgroups_n: !transform.param<i64> {transform.readonly},
                                        %k_step: !transform.param<i64> {transform.readonly},
                                        %prefetch: !transform.param<i64> {transform.readonly},
                                        %target: !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op) {
    %matmul, %init = transform.xetile.get_matmul in %module
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield %matmul, %init : !transform.any_op, !transform.any_op
  }
}
