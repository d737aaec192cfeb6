//===- FreeValues.h - vectors that any lanes can make ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_FREEVALUES_H
#define XETILE_TARGET_XE_LANES_FREEVALUES_H

#include "xetile/Target/Xe/Lanes/LaneRules.h"

namespace xetile {

/// Vectors that are made of no other vector: constants, counts, repeated scalars, and cheap
/// arithmetic on these, as offsets and masks of accesses are. Making one again for other lanes
/// costs less than moving it there.
class FreeValues {
public:
  using Layouts = llvm::DenseMap<mlir::Value, LaneLayoutAttr>;
  FreeValues(Layouts &layouts, unsigned lanes) : layouts(layouts), lanes(lanes) {}

  bool contains(mlir::Value value);
  /// `value`, which is free, in lanes of `wanted`: one for all users.
  mlir::Value make(mlir::Value value, LaneLayoutAttr wanted);
  /// Erases what has no users any more.
  void eraseUnused();

private:
  Layouts &layouts;
  unsigned lanes;
  /// How many operations make a value; more than the most for what is not free.
  llvm::DenseMap<mlir::Value, unsigned> depths;
  llvm::DenseMap<std::pair<mlir::Value, LaneLayoutAttr>, mlir::Value> made;
  llvm::SmallVector<mlir::Operation *> replaced;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_FREEVALUES_H
