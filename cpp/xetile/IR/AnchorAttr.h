//===- AnchorAttr.h - which kernel a linalg op is the anchor of ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_ANCHORATTR_H
#define XETILE_IR_ANCHORATTR_H

#include "llvm/ADT/StringRef.h"

namespace xetile {

/// Of a linalg op: the name of the schedule of a kernel that it is the anchor of.
inline constexpr llvm::StringLiteral kAnchorAttr = "xetile.anchor";

} // namespace xetile

#endif // XETILE_IR_ANCHORATTR_H
