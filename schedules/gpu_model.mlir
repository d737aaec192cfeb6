// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program on tensors, any number of linalg ops -> kernels in XeTile at workgroup level (levels 0 to 1).
//
//   give each op the schedule that it is an anchor of        // match_kernels: change what takes what there
//   give each op the number of a kernel                      // assign_kernels
//   for each kernel, in a module of its own:
//     matmul: for each workgroup, for k: acc += A * B; and what is computed of acc     // as matmul.mlir
//     attention: for each workgroup, for blocks of keys: its scores, and what they weigh // as attention.mlir
//     matmul_rows: the same where a workgroup has whole rows, and what is reduced along these
//     rows: for each workgroup: all that its rows need, in registers                   // as rows.mlir
//     convolution: for each workgroup, for windows and channels: acc += A * B          // as convolution.mlir
//     windows: for each workgroup, for windows: acc = max(acc, A)                      // as windows.mlir
//     scan: for each workgroup, for n: s += A[n], and what is computed of s            // as scan.mlir
//     scatter: for each workgroup: a tile of updates, added by atomics to what a first kernel wrote
//     gather: for each workgroup: a tile of elements at indices                        // as gather.mlir
//     elementwise: for each workgroup: a tile of the results                           // as elementwise.mlir
//   function: launch the kernels, one after the other, in the loops and branches that their ops are in
//
//   %h = matmul(%x, %w);  %y = softmax(relu(%h))         // rows of more than 256 columns
// becomes
//   func: %h = alloc; launch @f_0_matmul(%x, %w, %h); %y = alloc; launch @f_1_rows(%h, %y)
//
// Run it on a payload:
//   mlir-opt-22 --load-dialect-plugin=XeTilePlugin.so --load-pass-plugin=XeTilePlugin.so payload.mlir
//     --transform-preload-library=transform-library-paths=schedules/parts,schedules/gpu_model.mlir --transform-interpreter
//
// To change what is one kernel, write numbers (xetile.kernel) at ops before assign_kernels, or others behind it; to change
// how kernels of a schedule are made, change @matmul or @tiles.
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
  transform.named_sequence private @tile_program(
      !transform.any_op {transform.consumed}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.param<i64> {transform.readonly}, !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op)
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
  transform.named_sequence private @stage_operands(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly},
      !transform.any_param {transform.readonly})
  transform.named_sequence private @prefetch_blocks(
      !transform.any_op {transform.readonly}, !transform.param<i64> {transform.readonly})

  transform.named_sequence private @match_kernels(!transform.any_op {transform.consumed}) -> !transform.any_op
  transform.named_sequence private @link_rest(!transform.any_op {transform.consumed}) -> !transform.any_op

  // The entry yields the transformed module, so that further steps can be appended.
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %precision = transform.tune.knob<"precision"> = "exact" from
        options = {doc = "tf32 allows to multiply f32 with 10 bits of mantissa; exact does not"}
        -> !transform.any_param
    %f32_units = transform.tune.knob<"f32_units"> = "matrix" from
        options = {doc = "where f32 is multiplied exactly: matrix, as products of its parts, where a chip gains by that; vector"}
        -> !transform.any_param
    %slm_buffers = transform.tune.knob<"slm_buffers"> = 0 from
        options = {min = 0, max = 8,
                   doc = "buffers of the rings in shared local memory that operands of matmuls go through; 0 for none"}
        -> !transform.param<i64>
    %target = transform.tune.knob<"target"> = "pvc" from
        options = {doc = "chip to compile for"} -> !transform.any_param

    %fused = transform.include @prepare failures(propagate) (%module, %target)
        : (!transform.any_op, !transform.any_param) -> !transform.any_op
    transform.xetile.anchor_f32_products %fused units = %f32_units chip = %target
        : !transform.any_op, !transform.any_param
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    transform.xetile.split_k %fused parts = %open workgroup_tile = [%open, %open] subgroup_layout = [%open, %open]
        k_step = %open target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.xetile.assign_kernels %fused chip = %target : !transform.any_op, !transform.any_param
    transform.xetile.extract_kernels %fused : !transform.any_op
    // The layers of a model have the same kernels: each is compiled once.
    transform.xetile.share_kernels %fused : !transform.any_op
    // Convolutions of f32 that gain on the matrix unit are matmuls of what their windows see.
    transform.xetile.convolutions_to_products %fused units = %f32_units chip = %target
        : !transform.any_op, !transform.any_param
    %matmuls = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "matmul"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %matmuls : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @matmul failures(propagate) (%kernel, %precision, %slm_buffers, %target)
          : (!transform.any_op, !transform.any_param, !transform.param<i64>, !transform.any_param) -> ()
    }
    %attentions = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "attention"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %attentions : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @attention failures(propagate) (%kernel, %target)
          : (!transform.any_op, !transform.any_param) -> ()
    }
    %matmul_rows = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "matmul_rows"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %matmul_rows : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @matmul_rows failures(propagate) (%kernel, %target)
          : (!transform.any_op, !transform.any_param) -> ()
    }
    %rows = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "rows"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %rows : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @tiles failures(propagate) (%kernel, %target) : (!transform.any_op, !transform.any_param) -> ()
    }
    %convolutions = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "convolution"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %convolutions : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @tiles failures(propagate) (%kernel, %target) : (!transform.any_op, !transform.any_param) -> ()
    }
    %windows = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "windows"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %windows : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @tiles failures(propagate) (%kernel, %target) : (!transform.any_op, !transform.any_param) -> ()
    }
    %scans = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "scan"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %scans : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @tiles failures(propagate) (%kernel, %target) : (!transform.any_op, !transform.any_param) -> ()
    }
    %scatters = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "scatter"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %scatters : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @tiles failures(propagate) (%kernel, %target) : (!transform.any_op, !transform.any_param) -> ()
    }
    %gathers = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "gather"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %gathers : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @tiles failures(propagate) (%kernel, %target) : (!transform.any_op, !transform.any_param) -> ()
    }
    %chains = transform.structured.match ops{["builtin.module"]} attributes {xetile.schedule = "elementwise"} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %chains : !transform.any_op {
    ^bb0(%kernel: !transform.any_op):
      transform.include @tiles failures(propagate) (%kernel, %target) : (!transform.any_op, !transform.any_param) -> ()
    }

    // What is left of the function are calls, in loops and branches: they become launches.
    transform.xetile.preserve_arguments in %fused : !transform.any_op
    // Loops carry what kernels return, in memory that xetile-carry-buffers gives them.
    %buffers = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} %fused
        {bufferize_function_boundaries = true, allow_return_allocs_from_loops = true}
        : (!transform.any_op) -> !transform.any_op
    transform.xetile.link_kernels %buffers : !transform.any_op
    %launches = transform.apply_registered_pass "inline" to %buffers : (!transform.any_op) -> !transform.any_op
    transform.yield %launches : !transform.any_op
  }

  // All ops become such that can be merged. Transposed weights are read as they are. `xetile explain` asks it, too.
  transform.named_sequence @prepare(%module: !transform.any_op {transform.consumed},
                                    %target: !transform.any_param {transform.readonly}) -> !transform.any_op {
    %one = transform.apply_registered_pass "inline" with options = {"default-pipeline" = ""} to %module
        : (!transform.any_op) -> !transform.any_op
    %whole = transform.apply_registered_pass "xetile-drop-empty-pieces" to %one
        : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %whole
        : (!transform.any_op) -> !transform.any_op
    %apart = transform.apply_registered_pass "xetile-expand-groups" to %linalg
        : (!transform.any_op) -> !transform.any_op
    // Slices of an image in groups are those of one that has groups.
    %cut = transform.apply_registered_pass "xetile-slice-reshapes" to %apart
        : (!transform.any_op) -> !transform.any_op
    // Images of the matrix unit have channels last, on the way from one convolution to the next, too.
    %last = transform.apply_registered_pass "xetile-channels-last" with options = {"chip" = %target} to %cut
        : (!transform.any_op, !transform.any_param) -> !transform.any_op
    %decomposed = transform.apply_registered_pass "xetile-decompose-linalg" to %last
        : (!transform.any_op) -> !transform.any_op
    %computed = transform.apply_registered_pass "xetile-drop-unit-reductions" to %decomposed
        : (!transform.any_op) -> !transform.any_op
    %split = transform.apply_registered_pass "xetile-split-argmax" to %computed
        : (!transform.any_op) -> !transform.any_op
    %placed = transform.apply_registered_pass "xetile-inline-indices" to %split
        : (!transform.any_op) -> !transform.any_op
    %few = transform.apply_registered_pass "xetile-split-concats" to %placed
        : (!transform.any_op) -> !transform.any_op
    %whole_slices = transform.apply_registered_pass "xetile-slice-reshapes" to %few
        : (!transform.any_op) -> !transform.any_op
    %indexed = transform.apply_registered_pass "xetile-index-interleaves" with options = {"chip" = %target} to %whole_slices
        : (!transform.any_op, !transform.any_param) -> !transform.any_op
    %inclusive = transform.apply_registered_pass "xetile-pad-scans" to %indexed
        : (!transform.any_op) -> !transform.any_op
    %blocked = transform.apply_registered_pass "xetile-block-scans" with options = {"chip" = %target} to %inclusive
        : (!transform.any_op, !transform.any_param) -> !transform.any_op
    %short = transform.apply_registered_pass "xetile-split-reductions" to %blocked
        : (!transform.any_op) -> !transform.any_op
    %straight = transform.apply_registered_pass "xetile-fold-transposes" to %short
        : (!transform.any_op) -> !transform.any_op
    %fused = transform.apply_registered_pass "xetile-fuse-elementwise" with options = {"most-inputs" = 16} to %straight
        : (!transform.any_op) -> !transform.any_op
    // What folding leaves without use, as the operands of x - x, is no kernel's: what is computed twice is one x first.
    // Named ops have no body that folds.
    %named = transform.structured.match ops{["linalg.elementwise", "linalg.map", "linalg.sub"]} in %fused
        : (!transform.any_op) -> !transform.any_op
    transform.structured.generalize %named : (!transform.any_op) -> !transform.any_op
    %functions = transform.structured.match ops{["func.func"]} in %fused : (!transform.any_op) -> !transform.any_op
    transform.apply_cse to %functions : !transform.any_op
    transform.apply_patterns to %functions {
      transform.apply_patterns.linalg.erase_unnecessary_inputs
      // An op of whose result only sizes are asked is no kernel's, either.
      transform.apply_patterns.memref.resolve_ranked_shaped_type_result_dims
    } : !transform.any_op
    // A bias that several kernels read is read by each, not repeated in memory.
    %own = transform.apply_registered_pass "xetile-copy-broadcasts" to %fused : (!transform.any_op) -> !transform.any_op
    %written = transform.apply_registered_pass "xetile-write-results" to %own
        : (!transform.any_op) -> !transform.any_op
    %matched = transform.include @match_kernels failures(propagate) (%written) : (!transform.any_op) -> !transform.any_op
    transform.yield %matched : !transform.any_op
  }

  // One matmul, with elementwise ops before and after: the steps of matmul.mlir, sizes chosen by the compiler.
  transform.named_sequence @matmul(%module: !transform.any_op {transform.consumed},
                                   %precision: !transform.any_param {transform.readonly},
                                   %slm_buffers: !transform.param<i64> {transform.readonly},
                                   %target: !transform.any_param {transform.readonly}) {
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    // Sums of f16 and bf16 are made in f32 and rounded once.
    %wide = transform.apply_registered_pass "xetile-widen-sums" to %module : (!transform.any_op) -> !transform.any_op
    %linalg = transform.apply_registered_pass "xetile-elementwise-to-linalg" to %wide
        : (!transform.any_op) -> !transform.any_op
    %fused = transform.apply_registered_pass "xetile-fuse-elementwise" to %linalg
        : (!transform.any_op) -> !transform.any_op
    %open_distance = transform.param.constant -1 : i64 -> !transform.param<i64>
    %matmul, %init, %workgroup_m, %workgroup_n, %subgroups_m, %subgroups_n, %k_step, %prefetch, %tile =
        transform.include @find_matmul failures(propagate)
        (%fused, %open, %open, %open, %open, %open, %open_distance, %precision, %target)
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
    transform.xetile.refuse_rest in %fused : !transform.any_op
    %buffers = transform.include @bufferize failures(propagate) (%fused) : (!transform.any_op) -> !transform.any_op
    %outlined, %kernel = transform.include @outline_kernel failures(propagate)
        (%buffers, %subgroups_m, %subgroups_n, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.any_param)
        -> (!transform.any_op, !transform.any_op)
    %tiled_kernel, %mma = transform.include @to_xetile failures(propagate) (%kernel, %subgroups_m, %subgroups_n)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.xetile.set_precision %mma precision = %precision : !transform.any_op, !transform.any_param
    transform.include @prefetch_operands failures(propagate) (%mma, %prefetch)
        : (!transform.any_op, !transform.param<i64>) -> ()
    transform.include @stage_operands failures(propagate) (%mma, %slm_buffers, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> ()
    transform.yield
  }

  // One attention: the steps of attention.mlir, sizes chosen by the compiler.
  transform.named_sequence @attention(%module: !transform.any_op {transform.consumed},
                                      %target: !transform.any_param {transform.readonly}) {
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %simple = transform.apply_registered_pass "xetile-simplify-attention"
        with options = {"narrow" = true} to %module : (!transform.any_op) -> !transform.any_op
    // Of few queries, parts of the keys are the attention, and what puts them together a kernel of its own.
    %whole = transform.structured.match ops{["func.func"]} in %simple : (!transform.any_op) -> !transform.any_op
    transform.xetile.split_keys %whole parts = %open target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    %own, %rest = transform.xetile.isolate_kernel %simple {schedule = "attention"}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.foreach %rest : !transform.any_op {
    ^bb0(%other: !transform.any_op):
      transform.include @tiles failures(propagate) (%other, %target) : (!transform.any_op, !transform.any_param) -> ()
    }
    %func = transform.structured.match ops{["func.func"]} in %own : (!transform.any_op) -> !transform.any_op
    %loop = transform.xetile.online %func block = %open target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%own, %open, %open, %open, %open, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    %ahead = transform.param.constant 2 : i64 -> !transform.param<i64>
    transform.include @prefetch_blocks failures(propagate) (%kernel, %ahead)
        : (!transform.any_op, !transform.param<i64>) -> ()
    %linked = transform.include @link_rest failures(propagate) (%outlined) : (!transform.any_op) -> !transform.any_op
    transform.yield
  }

  // One matmul whose rows are reduced behind it, as by a softmax: all of a row in the registers of some subgroups.
  transform.named_sequence @matmul_rows(%module: !transform.any_op {transform.consumed},
                                        %target: !transform.any_param {transform.readonly}) {
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%module, %open, %open, %open, %open, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    %ahead = transform.param.constant 3 : i64 -> !transform.param<i64>
    transform.include @prefetch_blocks failures(propagate) (%kernel, %ahead)
        : (!transform.any_op, !transform.param<i64>) -> ()
    transform.yield
  }

  // All else, with and without reductions: the steps of rows.mlir, convolution.mlir, windows.mlir, scan.mlir, gather.mlir
  // and elementwise.mlir.
  transform.named_sequence @tiles(%module: !transform.any_op {transform.consumed},
                                  %target: !transform.any_param {transform.readonly}) {
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %outlined, %kernel = transform.include @tile_program failures(propagate)
        (%module, %open, %open, %open, %open, %target)
        : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
