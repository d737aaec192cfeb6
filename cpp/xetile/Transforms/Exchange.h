//===- Exchange.h - vectors that change their owners -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_EXCHANGE_H
#define XETILE_TRANSFORMS_EXCHANGE_H

#include "mlir/IR/BuiltinTypes.h"
#include "xetile/Transforms/Ownership.h"
#include "xetile/Transforms/ScratchMemory.h"

namespace xetile {

/// How a vector goes from one ownership to another, its dimensions permuted on the way or not.
struct Move {
  mlir::VectorType type; ///< before
  Ownership from, to;
  llvm::SmallVector<int64_t> permutation; ///< dimension i of the result is permutation[i] of `type`
  /// Set if each subgroup finds its new pieces in its own registers. Otherwise they go through
  /// shared local memory, in `parts` of each dimension, one after the other.
  std::optional<LocalPieces> local;
  llvm::SmallVector<int64_t> parts;

  bool isPermuted() const;
  /// Elements of the pieces' repetition along a dimension of `type`, of which each part takes its
  /// share.
  int64_t getPeriod(unsigned dim) const;
};

/// The type in which elements are in shared local memory: masks are bytes there, and indices 64
/// bits. Null for those that it does not hold.
mlir::Type getStorageType(mlir::Type element);

/// Plans a move with at most `slmBytes` of shared local memory. Emits an error at `op` if there is
/// no way.
llvm::FailureOr<Move> planMove(mlir::Operation *op, mlir::VectorType type, const Ownership &from,
                               const Ownership &to, llvm::ArrayRef<int64_t> permutation,
                               int64_t slmBytes);

/// The error that `bytes` of shared local memory are too much.
mlir::InFlightDiagnostic emitSlmOverflow(mlir::Operation *op, int64_t bytes, int64_t slmBytes);

/// Writes the code of an exchange; each level of IR has its own accesses to memory.
class ExchangeBuilder {
public:
  ExchangeBuilder(mlir::OpBuilder &builder, mlir::Location loc, SubgroupPlace &place,
                  ScratchMemory &scratch)
      : builder(builder), loc(loc), place(place), scratch(scratch) {}
  virtual ~ExchangeBuilder() = default;

  /// The pieces after a move.
  llvm::SmallVector<mlir::Value> move(const Move &move, mlir::ValueRange pieces) const;

  /// Stores a subgroup's pieces to a buffer of the value's shape, and loads them.
  void store(mlir::Value buffer, const Ownership &ownership, mlir::ValueRange pieces) const;
  llvm::SmallVector<mlir::Value> load(mlir::Value buffer, const Ownership &ownership,
                                      mlir::Type element) const;

  mlir::Value toStorage(mlir::Value vector) const;
  mlir::Value fromStorage(mlir::Value vector, mlir::Type element) const;

protected:
  virtual void storeTo(mlir::Value buffer, mlir::Value vector,
                       llvm::ArrayRef<mlir::OpFoldResult> offsets) const = 0;
  virtual mlir::Value loadFrom(mlir::Value buffer, mlir::VectorType type,
                               llvm::ArrayRef<mlir::OpFoldResult> offsets) const = 0;
  virtual mlir::Value permute(mlir::Value vector, llvm::ArrayRef<int64_t> permutation) const = 0;

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  llvm::SmallVector<mlir::Value> moveInRegisters(const Move &move, mlir::ValueRange pieces) const;
  void forEachOwnPiece(
      const Ownership &ownership, llvm::ArrayRef<int64_t> size,
      llvm::function_ref<void(unsigned piece, llvm::ArrayRef<mlir::OpFoldResult> offsets)> visit)
      const;

  SubgroupPlace &place;
  ScratchMemory &scratch;
};

} // namespace xetile

#endif // XETILE_TRANSFORMS_EXCHANGE_H
