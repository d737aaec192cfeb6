//===- ReachAttrs.h - where a mask begins and ends loops ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_REACHATTRS_H
#define XETILE_IR_REACHATTRS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace xetile {

/// [result, dimension, first, last] of an scf.for on tensors: what row r of that dimension of that
/// result is does not depend on steps whose variable is below r + first or above r + last. A causal
/// mask has a last one, a window both.
inline constexpr llvm::StringLiteral kReachAttr = "xetile.reach";
/// For `first`, negated, and `last` where rows begin or end with the loop.
inline constexpr int64_t kReachesAll = int64_t{1} << 40;
/// Of a comparison in the body of such a loop: its result wherever the variable is between these.
inline constexpr llvm::StringLiteral kSeenAttr = "xetile.seen";

} // namespace xetile

#endif // XETILE_IR_REACHATTRS_H
