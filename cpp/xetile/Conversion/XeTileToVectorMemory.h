//===- XeTileToVectorMemory.h - tiles as memrefs and positions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_CONVERSION_XETILETOVECTORMEMORY_H
#define XETILE_CONVERSION_XETILETOVECTORMEMORY_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "xetile/IR/XeTileOps.h"

namespace xetile {

/// A tile that is not scattered, as the values that stand for it after the conversion. Everything
/// is in memory order: the first dimension is the tile's columns where it is column-major.
struct MemoryTile {
  mlir::Value base;    ///< the whole matrix, memref<?x?xT, strided<[?, 1], offset: ?>>
  mlir::Value size[2]; ///< of the matrix
  mlir::Value offset[2];
  int64_t shape[2];

  /// The types of those values.
  static llvm::SmallVector<mlir::Type> getTypes(TileType tile);
  /// The tile from its values, as an adaptor gives them.
  static MemoryTile get(TileType tile, mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> getValues() const;

  /// The vector of `tile` in memory order.
  mlir::VectorType getVectorType(TileType tile) const;
};

/// The tile that an init_tile makes.
MemoryTile createMemoryTile(mlir::OpBuilder &builder, InitTileOp op);

/// The 1D memref that a scattered tile's indices count in.
mlir::MemRefType getScatteredBaseType(TileType tile);
mlir::Value createScatteredBase(mlir::OpBuilder &builder, InitTileOp op);

/// True if the whole tile is in bounds of the matrix: an i1, constant where that is known.
mlir::Value createIsInside(mlir::OpBuilder &builder, mlir::Location loc, const MemoryTile &tile);

/// Loops over the elements of the tile that are in the matrix. `body` gets the position in the tile
/// and that in the matrix. Steps along the second dimension by `step`.
void createLoops(
    mlir::OpBuilder &builder, mlir::Location loc, const MemoryTile &tile, int64_t step,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange tile, mlir::ValueRange matrix)>
        body);

/// Memory on the stack of the function or parallel region around the insertion point, one piece for
/// each type and number: its uses follow one another.
class StackBuffers {
public:
  mlir::Value get(mlir::OpBuilder &builder, mlir::Location loc, mlir::VectorType type,
                  unsigned number = 0);

private:
  llvm::DenseMap<std::tuple<mlir::Block *, mlir::Type, unsigned>, mlir::Value> buffers;
};

} // namespace xetile

#endif // XETILE_CONVERSION_XETILETOVECTORMEMORY_H
