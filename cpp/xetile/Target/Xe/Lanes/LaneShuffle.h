//===- LaneShuffle.h - values of other lanes ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANESHUFFLE_H
#define XETILE_TARGET_XE_LANES_LANESHUFFLE_H

#include "xetile/Target/Xe/Lanes/LaneContext.h"

namespace xetile {

/// A function of the device's; null where it gives nothing.
mlir::Value callBuiltin(LaneContext &lanes, llvm::StringRef name, mlir::Type result,
                        mlir::ValueRange arguments);

/// `value` of lane table[lane].
mlir::Value shuffle(LaneContext &lanes, mlir::Value value, llvm::ArrayRef<int64_t> table);
/// How many values of a type a shuffle moves at once.
size_t valuesInWord(mlir::Type type);
/// The same of several values of one type, as many at once.
Values shuffleTogether(LaneContext &lanes, llvm::ArrayRef<mlir::Value> values,
                       llvm::ArrayRef<int64_t> table);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANESHUFFLE_H
