//===- ExtendNegated.h - numbers that are extended with their negatives -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_EXTENDNEGATED_H
#define XETILE_TARGET_XE_LLVM_EXTENDNEGATED_H

#include "llvm/IR/PassManager.h"

namespace xetile {

/// Negates what numbers are extended to where they are extended besides.
struct ExtendNegated : llvm::PassInfoMixin<ExtendNegated> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_EXTENDNEGATED_H
