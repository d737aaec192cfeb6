//===- BytesOf.h - how much memory a tensor takes -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_BYTESOF_H
#define XETILE_IR_BYTESOF_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace xetile {

/// Bytes of a tensor or memref in C order, each element in whole bytes. None where sizes are those
/// of a run, elements have no width, or no memory is that large.
inline std::optional<int64_t> bytesOf(mlir::ShapedType type) {
  mlir::Type element = type.getElementType();
  if (!type.hasStaticShape() || !(element.isIntOrFloat() || element.isIndex()))
    return std::nullopt;
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  std::optional<int64_t> bytes = llvm::divideCeil(bits, 8u);
  for (int64_t size : type.getShape())
    if (size == 0)
      return 0;
  for (int64_t size : type.getShape())
    if (bytes)
      bytes = llvm::checkedMul(*bytes, size);
  return bytes;
}

} // namespace xetile

#endif // XETILE_IR_BYTESOF_H
