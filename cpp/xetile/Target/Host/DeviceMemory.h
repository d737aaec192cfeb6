//===- DeviceMemory.h - values that are memory of the device --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_DEVICEMEMORY_H
#define XETILE_TARGET_HOST_DEVICEMEMORY_H

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace xetile {

/// Of the runtime: the copy of memory that never changes on the device, as bytes. (index: whose it
/// is, index: address, index: bytes) -> memref<?xi8>.
inline constexpr llvm::StringLiteral kKeepFunction = "xetileRuntimeKeep";

/// True if it is the device's by where it comes from: it was allocated there, is kept there, or is
/// the caller's there.
bool comesFromDevice(mlir::Value value);

/// Memrefs of a function by the memory behind them: values that may be the same memory, as loops
/// and branches hand it on, are in one class.
class MemoryClasses {
public:
  explicit MemoryClasses(mlir::Operation *func);

  /// All that may be in the memory of `value`, `value` too, in the order of the function.
  llvm::SmallVector<mlir::Value> membersOf(mlir::Value value) const;

  /// All that the memory of `value` may become behind it, `value` too.
  mlir::BufferViewFlowAnalysis::ValueSetT reachedFrom(mlir::Value value) const {
    return views.resolve(value);
  }

  /// True if all memory that `value` may be comes from the device.
  bool isOnDevice(mlir::Value value) const;

private:
  mlir::BufferViewFlowAnalysis views;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::SmallVector<mlir::Value> values;
  llvm::EquivalenceClasses<unsigned> classes;
};

} // namespace xetile

#endif // XETILE_TARGET_HOST_DEVICEMEMORY_H
