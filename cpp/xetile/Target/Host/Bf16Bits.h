//===- Bf16Bits.h - bf16 as the integers that hold its bits -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_BF16BITS_H
#define XETILE_TARGET_HOST_BF16BITS_H

#include "mlir/IR/AttrTypeSubElements.h"

namespace xetile {

/// Replaces bf16 by i16 in types, and numbers and tables of bf16 by those of their bits.
mlir::AttrTypeReplacer getBf16BitsReplacer(mlir::MLIRContext *context);

} // namespace xetile

#endif // XETILE_TARGET_HOST_BF16BITS_H
