//===- UnsignedOperands.h - marks on products of bytes -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes in vectors have no sign: a tile_mma or dpas says which operand has unsigned ones.
#ifndef XETILE_IR_UNSIGNEDOPERANDS_H
#define XETILE_IR_UNSIGNEDOPERANDS_H

#include "mlir/IR/Operation.h"

namespace xetile {

inline constexpr llvm::StringLiteral kUnsignedA = "xetile.unsigned_a";
inline constexpr llvm::StringLiteral kUnsignedB = "xetile.unsigned_b";

/// Gives `to` the marks of `from`. Each pass that writes a product anew hands them on.
inline void copyUnsigned(mlir::Operation *from, mlir::Operation *to) {
  for (llvm::StringRef name : {kUnsignedA, kUnsignedB})
    if (mlir::Attribute mark = from->getDiscardableAttr(name))
      to->setDiscardableAttr(name, mark);
}

} // namespace xetile

#endif // XETILE_IR_UNSIGNEDOPERANDS_H
