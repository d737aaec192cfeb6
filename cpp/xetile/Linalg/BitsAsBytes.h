//===- BitsAsBytes.h - tensors of i1 in memory of bytes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_BITSASBYTES_H
#define XETILE_LINALG_BITSASBYTES_H

#include "mlir/IR/Builders.h"

namespace xetile {

/// Returns true if `type` is a tensor of i1.
bool isTensorOfBits(mlir::Type type);

/// A tensor of i8 of the shape of `bits`, a tensor of i1: 1 where it is true, else 0.
mlir::Value bitsToBytes(mlir::OpBuilder &b, mlir::Value bits);

/// A tensor of i1 of the shape of `bytes`, a tensor of i8: true where it is not 0.
mlir::Value bytesToBits(mlir::OpBuilder &b, mlir::Value bytes);

} // namespace xetile

#endif // XETILE_LINALG_BITSASBYTES_H
