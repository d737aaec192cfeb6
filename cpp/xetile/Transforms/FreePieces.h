//===- FreePieces.h - pieces of what comes from nothing distributed -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_FREEPIECES_H
#define XETILE_TRANSFORMS_FREEPIECES_H

#include "mlir/IR/BuiltinTypes.h"
#include "xetile/Transforms/SubgroupPlace.h"

namespace xetile {

/// A subgroup's pieces, each of type `piece`, of the result of an operation that
/// isFreelyDistributed accepts: constants, scalars that are repeated, counters, masks.
llvm::SmallVector<mlir::Value> createFreePieces(mlir::OpBuilder &builder, mlir::Operation *op,
                                                const Ownership &ownership, mlir::VectorType piece,
                                                SubgroupPlace &place);

} // namespace xetile

#endif // XETILE_TRANSFORMS_FREEPIECES_H
