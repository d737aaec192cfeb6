// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule of one's own, from the parts of schedules/ and one step more: two slices of k in each turn of the loop.
//
//   for each workgroup (m, n):                               // 128 x 128 of C, by 4 x 2 subgroups of 32 x 64
//     acc = C[m : m+128, n : n+128]
//     for k = 0 .. K step 64:
//       acc += A[m : m+128, k : k+32] * B[k : k+32, n : n+128]
//       acc += A[m : m+128, k+32 : k+64] * B[k+32 : k+64, n : n+128]
//     D[m : m+128, n : n+128] = acc
//
// Run it on a payload, from a checkout with stock mlir-opt-22, or from anywhere with `xetile`:
//   mlir-opt-22 --load-dialect-plugin=build/lib/XeTilePlugin.so --load-pass-plugin=build/lib/XeTilePlugin.so
//     schedules/payloads/matmul_f16.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,examples/unrolled_matmul.mlir
//     --transform-interpreter
//   xetile run schedules/payloads/matmul_f16.mlir --schedule examples/unrolled_matmul.mlir --check
//
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %schedules/payloads/matmul_f16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%s' --transform-interpreter \
// RUN:   | FileCheck %s
//
// CHECK-DAG: #[[C_MAP:.*]] = #xetile.wg_map<sg_layout = [4, 2], sg_data = [32, 64]>
// CHECK:     gpu.func @matmul_kernel
// CHECK-DAG: %[[STEP:.*]] = arith.constant 64 : index
// CHECK:     scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[STEP]] iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK:       %[[FIRST:.*]] = xetile.tile_mma %{{.*}}, %{{.*}}, %[[SUM]] {wg_map = #[[C_MAP]]}
// CHECK:       %[[SECOND:.*]] = xetile.tile_mma %{{.*}}, %{{.*}}, %[[FIRST]] {wg_map = #[[C_MAP]]}
// CHECK-NEXT:  scf.yield %[[SECOND]]
// CHECK-NOT: xetile.prefetch_tile
module attributes {transform.with_named_sequence} {
  // The parts: each is a file of that name in schedules/parts.
  transform.named_sequence private @find_matmul(
      !transform.any_op {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.any_param {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
          !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
  transform.named_sequence private @tile_workgroups(
      !transform.any_op {transform.consumed}, !transform.any_op {transform.consumed},
      !transform.param<i64> {transform.readonly}) -> (!transform.any_op, !transform.any_op)
  transform.named_sequence private @tile_k(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly})
      -> (!transform.any_op, !transform.any_op)
  transform.named_sequence private @vectorize(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly})
  transform.named_sequence private @bufferize(!transform.any_op {transform.consumed}) -> !transform.any_op
  transform.named_sequence private @outline_kernel(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)
  transform.named_sequence private @to_xetile(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}) -> (!transform.any_op, !transform.any_op)

  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    // What users may choose is a knob; what is always so is a constant.
    %target = transform.tune.knob<"target"> = "pvc" from
        options = {doc = "chip to compile for"} -> !transform.any_param
    %workgroup = transform.param.constant 128 : i64 -> !transform.param<i64>
    %rows = transform.param.constant 4 : i64 -> !transform.param<i64>
    %columns = transform.param.constant 2 : i64 -> !transform.param<i64>
    %slice = transform.param.constant 32 : i64 -> !transform.param<i64>
    %no_prefetch = transform.param.constant 0 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param

    %matmul, %init, %m, %n, %subgroups_m, %subgroups_n, %k_step, %prefetch, %tile =
        transform.include @find_matmul failures(propagate)
        (%module, %workgroup, %workgroup, %rows, %columns, %slice, %no_prefetch, %precision, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.any_param, !transform.any_param)
        -> (!transform.any_op, !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
            !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
    %workgroup_matmul, %workgroups = transform.include @tile_workgroups failures(propagate) (%matmul, %init, %tile)
        : (!transform.any_op, !transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    %slice_matmul, %k_loop = transform.include @tile_k failures(propagate) (%workgroup_matmul, %k_step)
        : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.include @vectorize failures(propagate) (%workgroups, %m, %n, %k_step)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> ()
    %buffers = transform.include @bufferize failures(propagate) (%module) : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @outline_kernel failures(propagate)
        (%buffers, %subgroups_m, %subgroups_n, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.any_param)
        -> (!transform.any_op, !transform.any_op)
    %tiled_kernel, %mma = transform.include @to_xetile failures(propagate) (%kernel, %subgroups_m, %subgroups_n)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)

    // The step of one's own.
    %xetile_loop = transform.get_parent_op %mma {op_name = "scf.for"} : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %xetile_loop {factor = 2} : !transform.any_op
    transform.yield %outlined : !transform.any_op
  }
}
