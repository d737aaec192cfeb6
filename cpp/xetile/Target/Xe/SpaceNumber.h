//===- SpaceNumber.h - the memory space of a memref as a number -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_SPACENUMBER_H
#define XETILE_TARGET_XE_SPACENUMBER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace xetile {

/// 0 where the type says nothing; none where it says it in other words than an integer's
/// (`MemRefType::getMemorySpaceAsInt` takes any attribute for one).
inline std::optional<int64_t> spaceNumber(mlir::MemRefType type) {
  if (!type.getMemorySpace())
    return 0;
  auto number = mlir::dyn_cast<mlir::IntegerAttr>(type.getMemorySpace());
  return number ? number.getValue().trySExtValue() : std::nullopt;
}

} // namespace xetile

#endif // XETILE_TARGET_XE_SPACENUMBER_H
