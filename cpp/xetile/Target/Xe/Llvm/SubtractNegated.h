//===- SubtractNegated.h - differences in place of sums with negated -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_SUBTRACTNEGATED_H
#define XETILE_TARGET_XE_LLVM_SUBTRACTNEGATED_H

namespace llvm {
class Module;
} // namespace llvm

namespace xetile {

/// Subtracts a vector of numbers in place of adding a vector of their negatives.
void subtractNegated(llvm::Module &module);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_SUBTRACTNEGATED_H
