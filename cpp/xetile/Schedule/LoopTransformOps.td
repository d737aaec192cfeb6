// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_LOOPTRANSFORMOPS_TD
#define XETILE_SCHEDULE_LOOPTRANSFORMOPS_TD

include "xetile/Schedule/TransformOpBase.td"

def StageInSlmOp : XeTile_TransformOp<"stage_in_slm"> {
  let summary = "Stages tiles of a loop through a ring of buffers in shared local memory";
  let description = [{
    What several subgroups of a workgroup load is loaded once: all subgroups together copy a step's tile to shared local
    memory, each a part of its own, and read from there what they need. While a step is computed on one buffer of a ring,
    the next step's tile is on its way to the next one; one barrier a step separates who fills a buffer from who reads it.

    A copy's parts are whole blocks of the matrix unit's operands, and each buffer is only accessed by these: in memory
    every block lies as it does in registers (of operand B of 16 bits, two rows interleaved), so that one message without
    a move takes it from there (`convert-xetile-to-xegpu`).

    The loop has `buffers` steps a turn, so that each step's buffer is a constant; steps that are left over follow it. All
    loads of one loop go through one ring and share barriers. Loads outside of an `scf.for` and such of a
    single row or column are passed over, and with 0 buffers nothing happens. What else is in the loop is done in each
    step, as before: prefetches, say.

    ```mlir
    %loops = transform.xetile.stage_in_slm %loads buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    ```

    With 2 buffers, 32 subgroups and `#a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>`

    ```mlir
    %d = scf.for %k = %c0 to %c1024 step %c32 iter_args(%acc = %zero) {
      %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = #a>>
      %a = xetile.load_tile %t : ...
      %s = xetile.tile_mma %a, %b, %acc ...
      scf.yield %s
    }
    ```

    becomes, with `#c = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 32]>` and tiles of %ring in shared memory

    ```mlir
    %ring = memref.alloca() {alignment = 64 : i64} : memref<512x32xf16, 3>
    %a0 = xetile.load_tile (xetile.init_tile %A[%m, 0] by #c)
    xetile.store_tile %a0, (xetile.init_tile %ring[0, 0] by #c)
    %d = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %zero) {
      gpu.barrier
      %a1 = xetile.load_tile (xetile.init_tile %A[%m, %k + 32] by #c)
      %a = xetile.load_tile (xetile.init_tile %ring[0, 0] by #a)
      %s = xetile.tile_mma %a, %b, %acc ...
      xetile.store_tile %a1, (xetile.init_tile %ring[256, 0] by #c)
      gpu.barrier
      %a2 = xetile.load_tile (xetile.init_tile %A[%m, %k + 64] by #c)
      %a' = xetile.load_tile (xetile.init_tile %ring[256, 0] by #a)
      %s' = xetile.tile_mma %a', %b', %s ...
      xetile.store_tile %a2, (xetile.init_tile %ring[0, 0] by #c)
      scf.yield %s'
    }
    ```

    The last step copies what is behind the loop, which nobody reads. `loops` are the new loops.

    Definite failures:
    - stage_in_slm_c1: the target is an `xetile.load_tile` in a `gpu.func`.
    - stage_in_slm_c2: there are 0 or 2 to 8 buffers, the target is a chip of the device tables.
    - stage_in_slm_c3: the tile comes from an `xetile.init_tile` in global memory, whose offsets are pure functions of the
      loop's induction variable and of values from outside of the loop.
    - stage_in_slm_c4: the tile has a wg_map (run `xetile-infer-wg-map` first).
    - stage_in_slm_c5: the tile, and what a subgroup reads of it, are whole blocks of the matrix unit, which all subgroups
      can share evenly.
    - stage_in_slm_c6: `buffers` times the bytes of a step's tiles fit the shared local memory of a workgroup, beside what
      the kernel has of it.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$buffers,
      TransformParamTypeInterface:$chip);
  let results = (outs TransformHandleTypeInterface:$loops);
  let assemblyFormat = [{
    $target `buffers` `=` $buffers `target` `=` $chip attr-dict `:` functional-type(operands, results)
  }];
}

def PipelineOp : XeTile_TransformOp<"pipeline"> {
  let summary = "Loads what a loop multiplies some steps ahead, into registers";
  let description = [{
    What a step of an `scf.for` loads is loaded `depth` steps before, and carried by the loop: a step does not wait for its
    own loads, however late a compiler places them. A tile's next load comes behind the last use of what is there, whose
    registers are free then. The loop is upstream's (`scf::pipelineForLoop`); this op says what is done in which step:
    `transform.loop.pipeline` knows loads of vectors only, and peels the last steps.

    The last steps load what is behind the loop, which nobody reads: tiles may hang over edges. With a depth of 0 nothing
    happens. Loads that do not move with the loop stay, as do those in loops and branches inside of it.

    ```mlir
    %ahead = transform.xetile.pipeline %k_loop depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    ```

    With a depth of 1

    ```mlir
    %d = scf.for %k = %c0 to %c1024 step %c32 iter_args(%acc = %zero) {
      %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16>
      %a = xetile.load_tile %t : ...
      %s = xetile.tile_mma %a, %b, %acc ...
      scf.yield %s
    }
    ```

    becomes

    ```mlir
    %t0 = xetile.init_tile %A[%m, %c0] : ...
    %a0 = xetile.load_tile %t0 : ...
    %d:2 = scf.for %k = %c0 to %c1024 step %c32 iter_args(%acc = %zero, %a = %a0) {
      %s = xetile.tile_mma %a, %b, %acc ...
      %next = arith.addi %k, %c32 : index
      %t = xetile.init_tile %A[%m, %next] : ...
      %a' = xetile.load_tile %t : ...
      scf.yield %s, %a'
    }
    ```

    Silenceable failures, before anything is changed:
    - pipeline_c1: the target is an `scf.for`.
    - pipeline_c2: a load moves with the loop: it is an `xetile.load_tile` in its body, of an `xetile.init_tile` whose
      offsets are pure functions of the induction variable and of values from outside of the loop.
    - pipeline_c3: nothing in the loop writes to memory, or waits for others.
    - pipeline_c4: what the loop carries is computed in its body.
    - pipeline_c6: a subgroup's registers hold what the loop then carries, `depth` steps of loads and its results. What
      spills by construction is not compiled: Intel's compiler looks for registers for minutes.
    - pipeline_c7: the loop's maxima are not lazy (`xetile.lazy`): a step may be done again with what it loaded.
    Definite failures:
    - pipeline_c5: the depth is 0 to 8.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$depth);
  let results = (outs TransformHandleTypeInterface:$loops);
  let assemblyFormat = "$target `depth` `=` $depth attr-dict `:` functional-type(operands, results)";
}

def OrderOp : XeTile_TransformOp<"order"> {
  let summary = "Gives the workgroups of a grid an order that suits the second-level cache";
  let description = [{
    A device starts workgroups along x, then y. Those that run at the same time read the same parts of A and B if their
    tiles of C lie in a square rather than in a few rows. `kernel` is a `gpu.func`, in which `gpu.block_id` x, the column of a
    tile, and y, its row, become those of another order of the same grid. Each place of the grid has one workgroup as
    before, whatever the sizes of the grid, which may be known at run time only. `by` is

    - "rows": as they are started; nothing is changed, whatever `size` is.
    - "groups": `size` rows at a time, column by column.
    - "hilbert": squares of `size` x `size` one after the other along x, each along Hilbert's curve, on which workgroups
      that are started one after the other are neighbours; then what no square covers, at the right and below.

    Kernels without both ids have no grid to order, and stay.

    ```mlir
    transform.xetile.order %kernel by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    ```

    By groups of 4 rows, in a grid of 16 x 16

    ```mlir
    %x = gpu.block_id x
    %y = gpu.block_id y
    ```

    becomes, of 32 bits each,

    ```mlir
    %serial = %y * 16 + %x
    %first = %serial / 64 * 4                                    // row of the group
    %rows = arith.minui(16 - %first, 4)
    %inside = %serial % 64
    %x' = %inside / %rows
    %y' = %first + %inside % %rows
    ```

    Silenceable failures:
    - order_c1: the target is a `gpu.func`.
    Definite failures:
    - order_c2: `by` is "rows", "groups" or "hilbert".
    - order_c3: groups have 2 to 1024 rows, sides of squares are 2, 4, 8, 16, 32 or 64.
  }];
  let arguments = (ins TransformHandleTypeInterface:$kernel, TransformParamTypeInterface:$by,
      TransformParamTypeInterface:$size);
  let assemblyFormat = [{
    $kernel `by` `=` $by `size` `=` $size attr-dict `:` type($kernel) `,` type($by) `,` type($size)
  }];
}

#endif // XETILE_SCHEDULE_LOOPTRANSFORMOPS_TD
