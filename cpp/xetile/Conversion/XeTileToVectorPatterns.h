//===- XeTileToVectorPatterns.h - parts of the conversion to vectors -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_CONVERSION_XETILETOVECTORPATTERNS_H
#define XETILE_CONVERSION_XETILETOVECTORPATTERNS_H

#include "mlir/Transforms/DialectConversion.h"
#include "xetile/Conversion/XeTileToVectorMemory.h"

namespace xetile {

/// The blocks of a 2D vector, and the vector of blocks, as tile_pack and tile_unpack define them.
mlir::Value packVector(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector,
                       llvm::ArrayRef<int64_t> innerBlocks);
mlir::Value unpackVector(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value blocks);

/// Rewrites of the operations on tiles in memory; `buffers` must outlive the conversion.
void populateTileAccessPatterns(const mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns, StackBuffers &buffers);

} // namespace xetile

#endif // XETILE_CONVERSION_XETILETOVECTORPATTERNS_H
