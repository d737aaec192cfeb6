//===- SpellOutAbs.h - magnitudes as Intel's compiler folds them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_SPELLOUTABS_H
#define XETILE_TARGET_XE_LLVM_SPELLOUTABS_H

namespace llvm {
class Module;
} // namespace llvm

namespace xetile {

/// Selects between a number and its negative in place of LLVM's `fabs`, and compares sums of
/// magnitudes with zero to find their NaNs.
void spellOutAbs(llvm::Module &module);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_SPELLOUTABS_H
