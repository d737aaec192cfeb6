//===- ThreadCode.h - arithmetic of one thread ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_THREADCODE_H
#define XETILE_TARGET_NVIDIA_THREADCODE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace xetile::hopper {

/// Numbers of 32 bits, as a thread computes with.
struct ThreadCode {
  explicit ThreadCode(mlir::Location loc, mlir::OpBuilder &builder) : b(loc, builder) {}

  mlir::ImplicitLocOpBuilder b;

  mlir::Value number(int64_t value);
  mlir::Value wide(int64_t value); // 64 bits
  mlir::Value add(mlir::Value l, mlir::Value r);
  mlir::Value add(mlir::Value l, int64_t r) { return r ? add(l, number(r)) : l; }
  mlir::Value mul(mlir::Value l, int64_t r);
  mlir::Value bitAnd(mlir::Value l, int64_t r);
  mlir::Value bitXor(mlir::Value l, mlir::Value r);
  mlir::Value shiftLeft(mlir::Value l, int64_t r);
  mlir::Value shiftRight(mlir::Value l, int64_t r);
  mlir::Value isEqual(mlir::Value l, mlir::Value r);
  mlir::Value isBelow(mlir::Value l, mlir::Value r);
  mlir::Value select(mlir::Value condition, mlir::Value l, mlir::Value r);
  /// An offset of a tile, which is an index.
  mlir::Value fromIndex(mlir::OpFoldResult index);
  /// `base` + `bytes`, in shared memory.
  mlir::Value at(mlir::Value base, mlir::Value bytes);
  /// Where an element of a matrix is in memory; indices of 64 bits.
  mlir::Value elementOf(mlir::Value matrix, mlir::Value row, mlir::Value column);
  mlir::Value sizeOf(mlir::Value matrix, unsigned dim);
  /// Both within their sides.
  mlir::Value isInside(mlir::Value matrix, mlir::Value row, mlir::Value column);
  /// An index of 64 bits.
  mlir::Value toIndex(mlir::Value number);
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);
};

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_THREADCODE_H
