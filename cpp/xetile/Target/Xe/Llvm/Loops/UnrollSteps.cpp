//===- UnrollSteps.cpp - two steps of a k loop in one -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM IR with rotated loops. Out: loops of one block that multiply matrices do two steps at
// once. Refused: nothing; loops whose number of steps is no constant or odd, such as are long
// already, and those of attentions stay as they are.
//
// The odd step would stand before or behind the loop. Intel's compiler mixes it with the first
// loads or the last stores there and spills (4096^2 x 4064, 32 x 64 per subgroup: 8 KB on pvc).
#include "xetile/Target/Xe/Llvm/Loops/LoopPasses.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace {

constexpr unsigned kSteps = 2;
// Of a step. Twice as many hide a loop's own instructions well enough.
constexpr unsigned kMostMultiplications = 32;
// Fewer steps are not worth the code.
constexpr unsigned kFewestSteps = 4;

unsigned countMultiplications(const BasicBlock &block) {
  return count_if(block, [](const Instruction &inst) {
    auto *call = dyn_cast<CallInst>(&inst);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName().contains("_matrix_mad_k");
  });
}

/// True for steps of an attention: scores and powers of two steps are more than the registers hold
/// (one query a head, 8 x 64 per subgroup: 3 KB on bmg).
bool hasPowers(const BasicBlock &block) {
  return any_of(block, [](const Instruction &inst) {
    auto *call = dyn_cast<CallInst>(&inst);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName().contains("exp");
  });
}

} // namespace

PreservedAnalyses xetile::UnrollSteps::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &se = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto &assumptions = analyses.getResult<AssumptionAnalysis>(function);
  auto &costs = analyses.getResult<TargetIRAnalysis>(function);
  OptimizationRemarkEmitter remarks(&function);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (loop->getNumBlocks() != 1 || !loop->isLoopSimplifyForm())
      continue;
    unsigned multiplications = countMultiplications(*loop->getHeader());
    unsigned steps = se.getSmallConstantTripCount(loop);
    if (multiplications == 0 || multiplications > kMostMultiplications || steps < kFewestSteps ||
        steps % kSteps || hasPowers(*loop->getHeader()))
      continue;
    UnrollLoopOptions options = {};
    options.Count = kSteps;
    options.Force = true;
    LoopUnrollResult result = UnrollLoop(loop, options, &loops, &se, &dominators, &assumptions,
                                         &costs, &remarks, /*PreserveLCSSA=*/true);
    changed |= result != LoopUnrollResult::Unmodified;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
