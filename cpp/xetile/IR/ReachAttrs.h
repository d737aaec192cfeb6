//===- ReachAttrs.h - where a causal mask ends loops -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_REACHATTRS_H
#define XETILE_IR_REACHATTRS_H

#include "llvm/ADT/StringRef.h"

namespace xetile {

/// [result, dimension, offset] of an scf.for on tensors: what row r of that dimension of that
/// result is does not depend on steps whose variable is above r + offset. A causal mask is so.
inline constexpr llvm::StringLiteral kReachAttr = "xetile.reach";
/// Of a comparison in the body of such a loop: its result wherever the variable is not above that.
inline constexpr llvm::StringLiteral kSeenAttr = "xetile.seen";

} // namespace xetile

#endif // XETILE_IR_REACHATTRS_H
