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

/// True if the sizes of `type` that are known leave it fewer than 2^44 elements, as a process can
/// address, so that products of sizes and of bytes are numbers of 64 bits.
inline bool isAddressable(mlir::ShapedType type) {
  constexpr uint64_t kAddressBits = 47;
  uint64_t bytes = 8; // at most, of an element
  for (int64_t size : type.getShape())
    if (!mlir::ShapedType::isDynamic(size) && size != 0)
      bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  return bytes >> kAddressBits == 0;
}

} // namespace xetile

#endif // XETILE_IR_BYTESOF_H
