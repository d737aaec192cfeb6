//===- Exchange.h - vectors that change their owners -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_EXCHANGE_H
#define XETILE_TRANSFORMS_EXCHANGE_H

#include "xetile/Transforms/Distribution.h"
#include "xetile/Transforms/ScratchMemory.h"

namespace xetile {

/// How a 2D vector goes from one map to another, transposed on the way or not.
struct Move {
  mlir::VectorType type; ///< before
  WgMapAttr from, to;
  bool transposed;
  /// Set if each subgroup finds its new pieces in its own registers. Otherwise they go through
  /// shared local memory, in `parts` of the rows and columns, one after the other.
  std::optional<LocalPieces> local;
  int64_t parts[2] = {1, 1};

  mlir::VectorType getResultType() const;
  /// Rows and columns of the pieces' repetition, of which each part takes its share.
  int64_t getPeriod(unsigned dim) const;
};

/// The type in which elements are in shared local memory: masks are bytes there, and indices 64
/// bits. Null for those that tiles do not have.
mlir::Type getStorageType(mlir::Type element);

/// Plans a move with at most `slmBytes` of shared local memory. Emits an error at `op` if there is
/// no way.
llvm::FailureOr<Move> planMove(mlir::Operation *op, mlir::VectorType type, WgMapAttr from,
                               WgMapAttr to, bool transposed, int64_t slmBytes);

/// The error that `bytes` of shared local memory are too much.
mlir::InFlightDiagnostic emitSlmOverflow(mlir::Operation *op, int64_t bytes, int64_t slmBytes);

/// What the exchange needs to write code.
struct ExchangeBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  SubgroupPlace &place;
  ScratchMemory &scratch;

  /// The pieces after a move.
  llvm::SmallVector<mlir::Value> move(const Move &move, mlir::ValueRange pieces) const;

  /// Stores a subgroup's pieces to a buffer of `shape` as `map` shares it out, and loads them.
  void store(mlir::Value buffer, WgMapAttr map, mlir::ValueRange pieces) const;
  llvm::SmallVector<mlir::Value> load(mlir::Value buffer, WgMapAttr map, mlir::Type element) const;

  /// The tile of shape `rows` x `columns` at an offset of a buffer.
  mlir::Value createTile(mlir::Value buffer, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<mlir::OpFoldResult> offsets) const;
  /// The subgroup's first element along `dim` of a value of which it owns pieces of `size`, plus a
  /// constant.
  mlir::OpFoldResult getOffset(WgMapAttr map, unsigned dim, int64_t owners, int64_t size,
                               int64_t constant) const;
  mlir::Value toStorage(mlir::Value vector) const;
  mlir::Value fromStorage(mlir::Value vector, mlir::Type element) const;
};

} // namespace xetile

#endif // XETILE_TRANSFORMS_EXCHANGE_H
