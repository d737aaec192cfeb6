//===- SharedWork.h - what subgroups compute of one another's pieces -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_SHAREDWORK_H
#define XETILE_TRANSFORMS_SHAREDWORK_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Transforms/Exchange.h"
#include "xetile/Transforms/Uniformity.h"

namespace xetile {

/// In what type a reduction is computed: sums and products of narrow floats that are put together
/// from several parts are f32, so that they are rounded once.
mlir::Type getReductionType(mlir::vector::CombiningKind kind, mlir::Type element,
                            llvm::ArrayRef<int64_t> dims, const Ownership &source);

/// A vector or scalar of floats with other elements: wider, narrower, or as it is.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         mlir::Type element);

/// The first step of a reduction along `dims`: pieces of `source` that differ in these dimensions
/// alone become one, of `element`s.
llvm::SmallVector<mlir::Value> mergePieces(mlir::OpBuilder &builder, mlir::Location loc,
                                           mlir::vector::CombiningKind kind,
                                           llvm::ArrayRef<int64_t> dims, const Ownership &source,
                                           mlir::ValueRange pieces, mlir::Type element);

/// A reduction to which several subgroups contribute, or after which others own the result: each
/// stores what it knows to a buffer, under `partial`, and reduces what it loads from there under
/// `all`. The reduced dimensions have as many elements there as owners.
struct CrossReduction {
  Ownership partial, all;
};

/// Emits an error at `op` if shared local memory cannot hold the parts, which have `element`s.
llvm::LogicalResult checkCrossReduction(mlir::Operation *op, const CrossReduction &reduction,
                                        mlir::Type element, int64_t slmBytes);

/// Emits an error at `op`, which brings elements to other subgroups, if not all of them may meet
/// there. `ownerships` is the user's word for what says who owns what: "maps" or "layouts".
llvm::LogicalResult checkAllMeet(mlir::Operation *op, const Uniformity &uniformity,
                                 llvm::StringRef ownerships);

/// The result of `update` for a value of `type` whose pieces several subgroups own. Only the first
/// owner runs it and, if `isUsed`, broadcasts the pieces to the others; else it returns none.
llvm::SmallVector<mlir::Value>
updateByFirstOwner(mlir::OpBuilder &builder, const ExchangeBuilder &exchange, SubgroupPlace &place,
                   ScratchMemory &scratch, mlir::Location loc, const Ownership &ownership,
                   mlir::ShapedType type, bool isUsed,
                   llvm::function_ref<llvm::SmallVector<mlir::Value>()> update);

} // namespace xetile

#endif // XETILE_TRANSFORMS_SHAREDWORK_H
