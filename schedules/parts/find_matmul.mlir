// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one matmul of a module, with its loops in the order m, n, k, batches, and the sizes of its tiles.
//
//   %init -> what fills its accumulator, or no operation
//
// Sizes that are open (0; a prefetch distance of -1) are chosen from the matmul and the device. The results are those that
// apply, in the order of the arguments, and the tile of a workgroup: one size for each loop. All that a user can get wrong
// is refused here, before tiling: the error is at their matmul, or names the parameter and its legal values.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @find_matmul(%module: !transform.any_op {transform.readonly},
                                        %workgroup_m: !transform.param<i64> {transform.readonly},
                                        %workgroup_n: !transform.param<i64> {transform.readonly},
                                        %subgroups_m: !transform.param<i64> {transform.readonly},
                                        %subgroups_n: !transform.param<i64> {transform.readonly},
                                        %k_step: !transform.param<i64> {transform.readonly},
                                        %prefetch: !transform.param<i64> {transform.readonly},
                                        %precision: !transform.any_param {transform.readonly},
                                        %target: !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
          !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) {
    %found, %init = transform.xetile.get_matmul in %module
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %matmul = transform.xetile.normalize_matmul %found : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%m, %n] subgroup_layout = [%rows, %columns] k_step = %k prefetch = %ahead target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield %matmul, %init, %m, %n, %rows, %columns, %k, %ahead, %tile
        : !transform.any_op, !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
          !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
  }
}
