// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scan, and elementwise ops before and after it, -> one XeTile kernel at workgroup level (levels 0 to 1): cumsum, cumprod,
// running maxima, along any dimension.
//
//   for each workgroup m:                                    // 16 or 32 places of another dimension, one a lane
//     s = neutral
//     for n = 0 .. N:                                        // 8 loads ahead
//       s = s + f(A[n, m : m+32])
//       D[n, m : m+32] = g(s)
//
// and on sm_90a, along the last dimension:
//
//   for each workgroup m:                                    // a row of many elements, or some short ones
//     s = neutral
//     for n = 0 .. N step 8192:
//       a = f(A[m, n : n+8192])                              // 16 elements a thread, loads of 16 bytes
//       p = s + a[0] + .. + a[j]  for each j                 // vector.scan: all of a workgroup together
//       D[m, n : n+8192] = g(p);  s = p[8191]
//
// Elements are combined in the type that the op carries. Long scans are cut into blocks before (xetile-block-scans), as
// gpu_model.mlir does it, in three kernels or more; on sm_90a where there are less than 128 rows:
//
//   T[b] = A[b, 0] + .. + A[b, last]                         // rows.mlir
//   C[b] = T[0] + .. + T[b - 1]                              // rows.mlir
//   D[b, n] = g(C[b] + (A[b, 0] + .. + A[b, n]))             // this kernel
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/scan.mlir --transform-interpreter
//
// Parameters are knobs; what is left open is chosen (planScan in cpp/xetile/Schedule/Tiles/PlanScan.cpp):
//   (1) Lanes are neighbours in memory, if the scanned dimension is not the last one; else the largest other dimension.
//   (2) Tiles are scanned two at a time where that leaves none: what is loaded for the second does not wait for the first.
//   (3) On sm_90a (chooseScan in cpp/xetile/Target/Nvidia/Hopper.cpp) a tile has 8192 elements where there are few rows, so
//       that what is in flight covers memory's latency, else 4096; workgroup_n is a power of two.
module attributes {transform.with_named_sequence} {
  transform.named_sequence private @tile_program(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %given_m = transform.tune.knob<"workgroup_m"> = 0 from
        options = {min = 0, doc = "rows of a workgroup's tile; 0 leaves it to the compiler, here and below"}
        -> !transform.param<i64>
    %given_n = transform.tune.knob<"workgroup_n"> = 0 from
        options = {min = 0, doc = "columns of a workgroup's tile"} -> !transform.param<i64>
    %given_rows = transform.tune.knob<"subgroups_m"> = 0 from
        options = {min = 0, doc = "subgroups along the rows of a workgroup's tile"} -> !transform.param<i64>
    %given_columns = transform.tune.knob<"subgroups_n"> = 0 from
        options = {min = 0, doc = "subgroups along the columns of a workgroup's tile"} -> !transform.param<i64>
    %target = transform.tune.knob<"target"> = "pvc" from
        options = {doc = "chip to compile for"} -> !transform.any_param

    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %module
        : (!transform.any_op) -> !transform.any_op
    %fused = transform.apply_registered_pass "xetile-fuse-elementwise" to %linalg
        : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%fused, %given_m, %given_n, %given_rows, %given_columns, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    transform.yield %outlined : !transform.any_op
  }
}
