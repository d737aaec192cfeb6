//===- AddressSums.h - addresses that differ by constants ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_ADDRESSSUMS_H
#define XETILE_TARGET_XE_LLVM_ADDRESSSUMS_H

#include "llvm/IR/PassManager.h"

namespace xetile {

/// Addresses made of integers that are the same but for a constant add it to one common sum.
struct AddressSums : llvm::PassInfoMixin<AddressSums> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_ADDRESSSUMS_H
