//===- LoopPasses.h - loops in LLVM IR as Intel's compiler wants them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// They want rotated loops in LCSSA form with preheaders, as LLVM's pipelines leave them.
#ifndef XETILE_TARGET_XE_LLVM_LOOPS_LOOPPASSES_H
#define XETILE_TARGET_XE_LLVM_LOOPS_LOOPPASSES_H

#include "llvm/IR/PassManager.h"

namespace llvm {
class SCEV;
} // namespace llvm

namespace xetile {

/// True if an expression expands to integers that SPIR-V has. Scalar evolution takes the low
/// three bits by 3-bit integers, of which LLVM's SPIR-V backend makes integers of 8 bits.
bool hasLegalWidths(const llvm::SCEV *expression);

/// Two steps of a k loop become one, where the number of steps is a constant.
struct UnrollSteps : llvm::PassInfoMixin<UnrollSteps> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// Loops count in 32 bits where that is enough, and end where the next value equals the last one.
struct LoopCounters : llvm::PassInfoMixin<LoopCounters> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

/// Prefetches in loops by address payloads that are made before the loop and moved in it.
struct PrefetchPayloads : llvm::PassInfoMixin<PrefetchPayloads> {
  /// With `immediates`, prefetches at constant distances share a payload.
  explicit PrefetchPayloads(bool immediates) : immediates(immediates) {}
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);

private:
  bool immediates;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_LOOPS_LOOPPASSES_H
