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
    their matrix: a load yields the padding value there and a store writes nothing.

    An operation whose tile or result carries a `#xetile.wg_map` works on a whole workgroup's tile and says which
    subgroup owns which part (`xetile-wg-to-sg` distributes it). Without one it works on a subgroup's own tile.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttrs();
    void registerTypes();
  }];
}

#endif // XETILE_IR_XETILEDIALECT_TD
