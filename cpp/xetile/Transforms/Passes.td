// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_PASSES_TD
#define XETILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckDistribution : Pass<"xetile-check-distribution", "::mlir::ModuleOp"> {
  let summary = "Check that the subgroups of each launch have work of their own";
  let description = [{
    A kernel on XeTile has one of two forms. At workgroup level `wg_map`s say which subgroup does what; at subgroup level the
    code asks `gpu.subgroup_id` (or `gpu.thread_id`). One with neither, launched with several subgroups, would do all of its
    work once in each of them: atomic updates and sums in place would be wrong.
    ```mlir
    gpu.func @k(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      // error: 'xetile.init_tile' op has no wg_map, and neither has any other value of @k ..
      %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
    ```
    The size of a workgroup is that of `known_block_size`, or of the constants of a `gpu.launch_func`. What `xetile-wg-to-sg`
    distributed has the attribute `xetile.subgroups` and is accepted, also where all subgroups do the same.

    Refused: the first XeTile operation of such a kernel; kernels whose launch has another number of work-items than their
    maps need.
  }];
  let options = [
    Option<"subgroupSize", "subgroup-size", "int64_t", "16", "Work-items of one subgroup">
  ];
}

def InferWgMap : Pass<"xetile-infer-wg-map"> {
  let summary = "Derive the workgroup maps of tiles and results from those that are given";
  let description = [{
    Starts from every `#xetile.wg_map` in the IR (on a tile type or an operation on vectors) and follows the XeTile rules
    to the other values, forwards and backwards: through loads and stores, moved tiles, the values of `scf`'s loops and
    branches, elementwise operations, casts between a row and a column, multiplications, reductions, broadcasts and
    transposes. A schedule therefore sets one map, that of the result of the multiplication.

    Before, with `#map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>`:
    ```mlir
    %ta = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16>
    %a = xetile.load_tile %ta : !xetile.tile<256x32xf16> -> vector<256x32xf16>
    %d = xetile.tile_mma %a, %b, %c {wg_map = #map} : ...
    ```
    After, with `#attr = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>`:
    ```mlir
    %ta = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #attr>
    %a = xetile.load_tile %ta : !xetile.tile<256x32xf16, #attr> -> vector<256x32xf16>
    ```
    Two maps that give each subgroup the same pieces of a value count as one: of 32x256 elements with pieces of 32x64,
    `sg_layout = [4, 8]` and `[8, 4]` both give subgroup `id` piece `id mod 4`. Where an operation needs an operand under
    another map than its producer has, a `tile_conv_layout` is inserted behind the producer: one for all uses that want the
    same map; behind the result of a tile_unpack, whose blocks stay where they are, and of a cast between a row and a
    column, if one's map says nothing about the other. Blocked vectors have no map that cuts blocks: the one of the same
    grid with the smallest pieces of whole blocks takes its place. Reductions and transposes take operands under any map. A
    transpose whose operand has no map yet gives it one under which each subgroup transposes what it has, if there is one,
    else that of the RFC's rule.

    Refused: two maps for one tile, or for values that a loop or branch makes one, with a note at the other map; a map that
    does not fit a value.
  }];
}

def LazyMaxima : Pass<"xetile-lazy-maxima"> {
  let summary = "Take maxima of online reductions only where a sum of powers becomes too large";
  let description = [{
    A loop that carries maxima of rows subtracts them from exponents so that no power overflows. Any number that is not
    much smaller does so, too: a loop with `xetile.lazy`, a threshold, as `transform.xetile.online .. lazy` gives it,
    subtracts the maximum of an earlier step, and looks at the sums of powers. Where one of a row that the subgroup has
    passes the threshold, nothing of the step is kept: maximum and sums are brought to a new maximum, for which the scores
    are computed anew, and the step is done again. The branch is the same for all lanes.

    Before, in short:
    ```mlir
    %r:3 = scf.for %n = %c0 to %end step %c64 iter_args(%m = %lowest, %l = %zero, %o = %zeros) {
      %s = scores of %n
      %mn = arith.maxnumf %m, max %s
      %p = math.exp2 (%s - %mn)
      %ratio = math.exp2 (%m - %mn)
      %ln = %l * %ratio + sum %p
      %on = xetile.tile_mma %p, values of %n, %o * %ratio
      scf.yield %mn, %ln, %on
    } {xetile.lazy = 1.0e18 : f32}
    ```
    After:
    ```mlir
    %r:4 = scf.while (%n = %c0, %m = %lowest, %l = %zero, %o = %zeros) {
      %s = scores of %n
      %p = math.exp2 (%s - %m)
      %ln = %l + sum %p
      %again = arith.cmpf uge, max %ln, 1.0e18
      %next:4 = scf.if %again {
        %mn = arith.maxnumf %m, max (scores of %n)
        %ratio = math.exp2 (%m - %mn)
        scf.yield %n, %mn, %l * %ratio, %o * %ratio
      } else {
        %on = xetile.tile_mma %p, values of %n, %o
        scf.yield %n + 64, %m, %ln, %on
      }
      %more = arith.cmpi slt, %next#0, %end
      scf.condition(%more) %next
    } do { .. }
    ```
    With the new maximum no power is larger than one, so that a step is done twice at most where the threshold is so
    large that a step's powers of one are lost in it, as `online` sees to. Sums that are no numbers go on. Loops without
    the attribute stay.

    Refused, at the loop: one with the attribute that does not carry one maximum and sums of powers of f32, that carries what
    depends on the maximum in another way, or that writes to memory or waits for other subgroups, as where these share rows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
}

def WgToSg : Pass<"xetile-wg-to-sg"> {
  let summary = "Distribute workgroup-level XeTile over the subgroups of a workgroup";
  let description = [{
    Every tile and vector with a workgroup map becomes the pieces that one subgroup owns: `sg_data` large, one for each
    round of the round-robin distribution. Offsets are computed from `gpu.subgroup_id`, once, where the kernel begins; the
    grid is row-major in it.

    Before:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16>
        -> !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>>
    ```
    After:
    ```mlir
    %id = gpu.subgroup_id : index
    %row = arith.divui %id, %c4 : index
    %m_offset = arith.muli %row, %c32 : index
    %m_sg = arith.addi %m, %m_offset : index
    %t = xetile.init_tile %A[%m_sg, %k] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
    ```
    Where elements go to other subgroups (`tile_conv_layout`, `tile_transpose`, `tile_reduce`) they go through shared local
    memory, unless each subgroup finds what it needs in its own registers:
    ```mlir
    %memory = memref.alloca() {alignment = 64 : i64} : memref<131072xi8, 3>
    %view = memref.view %memory[%c0][] : memref<131072xi8, 3> to memref<256x128xf32, 3>
    xetile.store_tile %mine, %from : vector<32x32xf32>, !xetile.tile<32x32xf32, #xetile.tile_attr<memory_space = slm>>
    gpu.barrier
    %part = xetile.load_tile %to : !xetile.tile<8x128xf32, #xetile.tile_attr<memory_space = slm>> -> vector<8x128xf32>
    ```
    What does not fit there at once goes in parts. Buffers whose contents are not needed at the same time share memory; a
    barrier stands between the writes and the reads of a buffer, and before its memory is written again while somebody may
    still read it. The function's attribute `xetile.slm_bytes` tells how much was taken. A reduction over several subgroups
    exchanges what each has reduced. An atomic update is made by the first owner of each piece.

    Tiles in memory are accessed by each subgroup when it comes to the operation: what one subgroup stores another one loads
    after a `gpu.barrier`, which the user writes, also in code at workgroup level.

    Refused, each with an error at the operation: vectors without a map in a kernel of several subgroups (each would do all
    of it), values without a map beside values with one, maps for different
    numbers of subgroups in one kernel or another number than the launch has, operations without a distribution rule, a
    workgroup's tiles and vectors as arguments of functions, more than 1024 pieces of a value for one subgroup, more shared
    local memory than there is, exchanges in branches and loops that depend on the subgroup. The pass finds the maps that
    follow from others itself; `xetile-infer-wg-map` writes them to the IR. The kernel's attribute `xetile.subgroups` tells
    that it is distributed, and over how many.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"subgroupSize", "subgroup-size", "int64_t", "16", "Work-items of one subgroup, to check known_block_size">,
    Option<"slmBytes", "slm-bytes", "int64_t", "0",
           "Shared local memory of a workgroup; 0: as much as all chips that can be compiled for have">
  ];
}

#endif // XETILE_TRANSFORMS_PASSES_TD
