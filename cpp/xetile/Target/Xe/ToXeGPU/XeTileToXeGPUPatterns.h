//===- XeTileToXeGPUPatterns.h - vectors of blocks as a vector for each block ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_XETILETOXEGPUPATTERNS_H
#define XETILE_TARGET_XE_TOXEGPU_XETILETOXEGPUPATTERNS_H

#include "mlir/Transforms/DialectConversion.h"

namespace xetile {

/// 4D vectors become their blocks, row by row; so do 2D vectors that are made of blocks by
/// tile_unpack, tile_transpose and slices along blocks, which are put together only where an
/// operation without a rule takes them.
void addBlockConversions(mlir::TypeConverter &converter);

/// True for a 2D vector of that kind.
bool isInBlocks(mlir::Value value);

/// The blocks of `operand`, whose converted values are `parts`: a 4D one's, or the whole of a 2D
/// one, which may come in the pieces of what it was unpacked from.
llvm::SmallVector<mlir::Value> getBlocks(mlir::OpBuilder &builder, mlir::Location loc,
                                         mlir::Value operand, mlir::ValueRange parts);

/// Rewrites of XeTile's operations on vectors, and of constants and repeated scalars.
void populateBlockPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_XETILETOXEGPUPATTERNS_H
