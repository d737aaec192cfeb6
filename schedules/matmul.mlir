// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matmul on tensors -> one XeTile kernel at workgroup level (levels 0 to 1).
//
//   for each workgroup (m, n, batches):                      // a grid of workgroups, any order
//     acc = C[m : m+256, n : n+256]                          // or zeros; 8 x 4 subgroups own 32 x 64 each
//     prefetch the first 3 slices of A and B
//     for k = 0 .. K step 32:
//       prefetch A[m : m+256, k+96 : k+128], B[k+96 : k+128, n : n+256]
//       acc += A[m : m+256, k : k+32] * B[k : k+32, n : n+256]
//     D[m : m+256, n : n+256] = acc                          // and what is computed of it
//
// Where C has few tiles and k is long, workgroups share k, and a second kernel adds what they give up:
//
//   for each workgroup (m, n, part, batches):
//     acc = 0;  for k of the part: as above;  P[part, m : m+256, n : n+256] = acc
//   D = C + sum of P over parts                              // in their order, and what is computed of it
//
// With `slm_buffers` a workgroup loads each slice once, through rings of buffers in shared local memory (`parts/stage_operands.mlir`):
//
//     copy A[m : m+256, 0 : 32], B[0 : 32, n : n+256] to buffer 0
//     for k = 0 .. K step 32:  barrier;  acc += buffer k of A * buffer k of B, while k + 32 is copied to the next one
//
// With `prefetch_far` slices are on their way to the second-level cache before those prefetches fetch them for the first-level one,
// with `load_ahead` a step's slices are in registers before it begins, with `order` workgroups that run together lie in a square:
//
//     for k = 0 .. K step 32:
//       prefetch A[.., k + 32 * far], B[k + 32 * far, ..] to the second-level cache;  prefetch A[.., k+96], B[k+96, ..]
//       acc += a * b;  a, b = A[.., k+32], B[k+32, ..]
//
// It takes matrices of any size, known or not when it is compiled, with transposed operands, batches, and elementwise ops
// before and after. Tiles hang over the edges: what is read there is zero, what is written there is dropped.
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/matmul.mlir --transform-interpreter
//
// Parameters are knobs: `xetile compile --set workgroup_m=128` and Python's `with_params` choose values. What is left open
// is chosen from the matmul and the device (cpp/xetile/Target/MatmulTiling.cpp), and written at the function as
// `xetile.tiling`. The sizes above are those for large f16 problems on pvc:
//   (1) 8 x 4 subgroups are all the threads of a core that have 256 registers, and 32 x 64 elements of C for each fill
//       half of these with accumulators.
//   (2) A workgroup's 256 x 256 elements of C then load each element of A and of B once for 256 multiplications.
//   (3) Steps of 32 along k make rows of A of 64 bytes, a cache line.
//   (4) Prefetches run 3 steps ahead, so that a step's loads do not wait for memory.
//   (5) k is split where tiles of C leave half of the device idle, and parts have 32 steps or more.
module attributes {transform.with_named_sequence} {
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
  transform.named_sequence private @prefetch_operands(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly})
  transform.named_sequence private @prefetch_far(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly})
  transform.named_sequence private @stage_operands(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.any_param {transform.readonly})
  transform.named_sequence private @load_ahead(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly})
  transform.named_sequence private @order_workgroups(
      !transform.any_op {transform.readonly}, !transform.any_param {transform.readonly},
      !transform.param<i64> {transform.readonly})

  transform.named_sequence private @tile_rest(
      !transform.any_op {transform.consumed}, !transform.any_param {transform.readonly})
  transform.named_sequence private @link_rest(!transform.any_op {transform.consumed}) -> !transform.any_op

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %given_m = transform.tune.knob<"workgroup_m"> = 0 from
        options = {min = 0, doc = "rows of C per workgroup; 0 leaves it to the compiler, here and below"}
        -> !transform.param<i64>
    %given_n = transform.tune.knob<"workgroup_n"> = 0 from
        options = {min = 0, doc = "columns of C per workgroup"} -> !transform.param<i64>
    %given_rows = transform.tune.knob<"subgroups_m"> = 0 from
        options = {min = 0, doc = "subgroups along the rows of a workgroup's tile"} -> !transform.param<i64>
    %given_columns = transform.tune.knob<"subgroups_n"> = 0 from
        options = {min = 0, doc = "subgroups along the columns of a workgroup's tile"} -> !transform.param<i64>
    %given_k = transform.tune.knob<"k_step"> = 0 from
        options = {min = 0, doc = "columns of A and rows of B per step of the k loop"} -> !transform.param<i64>
    %given_prefetch = transform.tune.knob<"prefetch"> = -1 from
        options = {min = -1, max = 64, doc = "steps of the k loop that prefetches run ahead; 0 for none, -1 leaves it open"}
        -> !transform.param<i64>
    %far = transform.tune.knob<"prefetch_far"> = 0 from
        options = {min = 0, max = 64, doc = "steps that prefetches to the second-level cache run ahead besides; 0 for none"}
        -> !transform.param<i64>
    %load_ahead = transform.tune.knob<"load_ahead"> = 0 from
        options = {min = 0, max = 8, doc = "steps that loads run ahead, in registers; 0 for none"} -> !transform.param<i64>
    %order = transform.tune.knob<"order"> = "rows" from
        options = {doc = "of workgroups: rows as they are started, groups of order_size rows, hilbert in squares"}
        -> !transform.any_param
    %order_size = transform.tune.knob<"order_size"> = 8 from
        options = {min = 0, max = 1024, doc = "rows of a group; side of a square, a power of two up to 64"}
        -> !transform.param<i64>
    %slm_buffers = transform.tune.knob<"slm_buffers"> = 0 from
        options = {min = 0, max = 8, doc = "buffers of the rings in shared local memory that A and B go through; 0 for none"}
        -> !transform.param<i64>
    %given_parts = transform.tune.knob<"split_k"> = 0 from
        options = {min = 0, max = 1024, doc = "parts of k that workgroups share and a second kernel adds up; 1 for none"}
        -> !transform.param<i64>
    %precision = transform.tune.knob<"precision"> = "exact" from
        options = {doc = "tf32 allows to multiply f32 with 10 bits of mantissa; exact refuses f32 on Intel's chips"} -> !transform.any_param
    %target = transform.tune.knob<"target"> = "pvc" from
        options = {doc = "chip to compile for"} -> !transform.any_param

    // As PyTorch's layers come: transposed weights are read as they are, f16 and bf16 that were extended to f32 as such;
    // what follows on a result, maybe on several ways, as in y * sigmoid(y), becomes one op.
    // Sums of f16 and bf16 are made in f32 and rounded once.
    %wide = transform.apply_registered_pass "xetile-widen-sums" to %module : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %wide
        : (!transform.any_op) -> !transform.any_op
    %straight = transform.apply_registered_pass "xetile-fold-transposes" to %linalg
        : (!transform.any_op) -> !transform.any_op
    %fused = transform.apply_registered_pass "xetile-fuse-elementwise" to %straight
        : (!transform.any_op) -> !transform.any_op
    transform.xetile.refuse_rest in %fused : !transform.any_op
    transform.xetile.split_k %fused parts = %given_parts
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k target = %target precision = %precision
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.any_param
    %own, %rest = transform.xetile.isolate_kernel %fused {schedule = "matmul"}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.foreach %rest : !transform.any_op {
    ^bb0(%other: !transform.any_op):
      transform.include @tile_rest failures(propagate) (%other, %target)
          : (!transform.any_op, !transform.any_param) -> ()
    }
    %matmul, %init, %workgroup_m, %workgroup_n, %subgroups_m, %subgroups_n, %k_step, %prefetch, %tile =
        transform.include @find_matmul failures(propagate)
        (%own, %given_m, %given_n, %given_rows, %given_columns, %given_k, %given_prefetch, %precision, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.any_param, !transform.any_param)
        -> (!transform.any_op, !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
            !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
    transform.xetile.check_matmul_tiling %matmul workgroup_tile = [%workgroup_m, %workgroup_n]
        subgroup_layout = [%subgroups_m, %subgroups_n] k_step = %k_step prefetch = %prefetch target = %target
        slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    %workgroup_matmul, %workgroups = transform.include @tile_workgroups failures(propagate) (%matmul, %init, %tile)
        : (!transform.any_op, !transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    %slice_matmul, %k_loop = transform.include @tile_k failures(propagate) (%workgroup_matmul, %k_step)
        : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.include @vectorize failures(propagate) (%workgroups, %workgroup_m, %workgroup_n, %k_step)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> ()
    transform.xetile.refuse_rest in %own : !transform.any_op
    %buffers = transform.include @bufferize failures(propagate) (%own) : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @outline_kernel failures(propagate)
        (%buffers, %subgroups_m, %subgroups_n, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.any_param)
        -> (!transform.any_op, !transform.any_op)
    %tiled_kernel, %mma = transform.include @to_xetile failures(propagate) (%kernel, %subgroups_m, %subgroups_n)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.xetile.set_precision %mma precision = %precision : !transform.any_op, !transform.any_param
    transform.include @prefetch_far failures(propagate) (%mma, %far)
        : (!transform.any_op, !transform.param<i64>) -> ()
    transform.include @prefetch_operands failures(propagate) (%mma, %prefetch)
        : (!transform.any_op, !transform.param<i64>) -> ()
    transform.include @stage_operands failures(propagate) (%mma, %slm_buffers, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> ()
    transform.include @load_ahead failures(propagate) (%tiled_kernel, %load_ahead)
        : (!transform.any_op, !transform.param<i64>) -> ()
    transform.include @order_workgroups failures(propagate) (%tiled_kernel, %order, %order_size)
        : (!transform.any_op, !transform.any_param, !transform.param<i64>) -> ()
    %linked = transform.include @link_rest failures(propagate) (%outlined) : (!transform.any_op) -> !transform.any_op
    transform.yield %linked : !transform.any_op
  }
}
