//===- XeTileTypes.h - the tile type --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILETYPES_H
#define XETILE_IR_XETILETYPES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "xetile/IR/XeTileAttrs.h"

namespace xetile {
/// Elements that a tile or vector may have at most, so that products of sizes do not overflow.
inline constexpr int64_t kMaxElements = (int64_t(1) << 31) - 1;
/// Returns true if all sizes are static and their product is at most `most`.
bool isBoundedShape(llvm::ArrayRef<int64_t> shape, int64_t most = kMaxElements);
/// Bits of an element in memory and in registers: 32 for tf32, 64 for index.
unsigned memoryBits(mlir::Type element);
} // namespace xetile

#define GET_TYPEDEF_CLASSES
#include "xetile/IR/XeTileTypes.h.inc"

#endif // XETILE_IR_XETILETYPES_H
