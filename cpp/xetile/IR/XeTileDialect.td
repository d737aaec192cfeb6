// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILEDIALECT_TD
#define XETILE_IR_XETILEDIALECT_TD

include "mlir/IR/DialectBase.td"

def XeTile_Dialect : Dialect {
  let name = "xetile";
  let cppNamespace = "::xetile";
  let summary = "Tile-level GEMM operations for Intel Xe GPUs";
  let description = [{
    A *tile* describes a 2D region of a matrix in memory: base, offsets and a static shape. Tiles are loaded to and
    stored from 2D vectors, prefetched, and moved; `tile_mma` multiplies vectors. Tiles may hang over the edge of
    their matrix: a load yields the padding value there and a store writes nothing. Operations named `tile_...` work on
    vectors alone; the others touch memory.

    Blocked code, made by the lowering, holds the same matrices as 4D vectors: a tile with `inner_blocks` is loaded to
    and stored from `[row blocks, column blocks, rows of a block, columns of a block]`.

    A tile with `scatter` names the place of each element itself; `load_gather` and `store_scatter` take a mask for it.

    An operation whose tile or result carries a `#xetile.wg_map` works on a whole workgroup's tile and says which
    subgroup owns which part (`xetile-wg-to-sg` distributes it). Without one it works on a subgroup's own tile.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttrs();
    void registerTypes();
    template <typename... Ops> void addStrictOperations();
  }];
}

#endif // XETILE_IR_XETILEDIALECT_TD
