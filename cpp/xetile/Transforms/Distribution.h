//===- Distribution.h - what one subgroup owns of a value ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_DISTRIBUTION_H
#define XETILE_TRANSFORMS_DISTRIBUTION_H

#include "mlir/IR/BuiltinTypes.h"
#include "xetile/IR/WgMap.h"
#include "xetile/Transforms/Ownership.h"

namespace xetile {

/// How a tile or vector is shared out.
Ownership getOwnership(WgMapAttr map, mlir::ShapedType type);

/// The type of each piece of a tile or vector.
mlir::Type getPieceType(WgMapAttr map, mlir::Type type);

} // namespace xetile

#endif // XETILE_TRANSFORMS_DISTRIBUTION_H
