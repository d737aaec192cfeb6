// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_PASSES_TD
#define XETILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferWgMap : Pass<"xetile-infer-wg-map"> {
  let summary = "Derive the workgroup maps of tiles and results from those that are given";
  let description = [{
    Starts from every `#xetile.wg_map` in the IR (on a tile type or a `tile_mma`) and follows the XeTile rules to the
    other values: operands of `tile_mma`, loads and stores, moved tiles, loop-carried values and elementwise operations.
    A schedule therefore sets one map, that of the result of the multiplication.

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
    `sg_layout = [4, 8]` and `[8, 4]` both give subgroup `id` piece `id mod 4`. Other different maps for one value are an
    error that names both.
  }];
}

def WgToSg : Pass<"xetile-wg-to-sg"> {
  let summary = "Distribute workgroup-level XeTile over the subgroups of a workgroup";
  let description = [{
    Every tile and vector with a workgroup map becomes the pieces that one subgroup owns: `sg_data` large, one for each
    round of the round-robin distribution. Offsets are computed from `gpu.subgroup_id`; the grid is row-major in it.

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
    Refused, each with an error at the operation: values without a map beside values with one, maps for different
    numbers of subgroups in one kernel or another number than the kernel's `known_block_size` has, operations without a
    distribution rule, a workgroup's tiles and vectors as arguments of functions, more than 1024 pieces of a value for one
    subgroup. The pass finds the maps that follow from others itself; `xetile-infer-wg-map` writes them to the IR.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"subgroupSize", "subgroup-size", "int64_t", "16", "Work-items of one subgroup, to check known_block_size">
  ];
}

#endif // XETILE_TRANSFORMS_PASSES_TD
