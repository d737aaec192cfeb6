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

#endif // XETILE_SCHEDULE_LOOPTRANSFORMOPS_TD
