//===- LaneNumbers.h - numbers that depend on the lane -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANENUMBERS_H
#define XETILE_TARGET_XE_LANES_LANENUMBERS_H

#include "xetile/Target/Xe/Lanes/LaneBuilder.h"
#include <map>

namespace xetile {

/// Each is computed once in a function, at its top.
class LaneNumbers {
public:
  LaneNumbers(LaneBuilder &builder, unsigned lanes) : b(builder), lanes(lanes) {}

  /// values[lane], as i32 and as index.
  mlir::Value table(llvm::ArrayRef<int64_t> values);
  mlir::Value index(llvm::ArrayRef<int64_t> values);
  /// The lane's bit of the mask, as i1.
  mlir::Value isIn(uint64_t mask);
  /// The value of the mask that the lane is in; the last one's stands for all others.
  mlir::Value select(llvm::ArrayRef<std::pair<uint64_t, mlir::Value>> choices);
  void clear();

private:
  mlir::Value laneId();
  mlir::Value sumOfBits(llvm::ArrayRef<int64_t> values);

  LaneBuilder &b;
  unsigned lanes;
  mlir::Value id;
  std::map<std::vector<int64_t>, mlir::Value> tables;
  std::map<uint64_t, mlir::Value> masks;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANENUMBERS_H
