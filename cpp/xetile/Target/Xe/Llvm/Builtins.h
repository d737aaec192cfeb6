//===- Builtins.h - functions that a GPU's driver brings ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_BUILTINS_H
#define XETILE_TARGET_XE_LLVM_BUILTINS_H

#include "xetile/Facts/TargetInfo.h"

namespace xetile {

/// Why a chip has no builtin of that mangled name, one of Intel's 2D block or matrix extensions;
/// nothing if it has it, or if the name is none of theirs. Drivers leave such a call undefined and
/// succeed.
std::optional<std::string> whyNoBuiltin(const TargetInfo &target, llvm::StringRef mangled);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_BUILTINS_H
