// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an scf.for from 0 in a kernel. Out: the same loop, whose workgroups begin at different steps.
// Refused: loops whose number of steps is not known, or whose last step is cut.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Config/llvm-config.h"

#define GET_OP_CLASSES
#include "Stagger.h.inc"

using namespace mlir;
using tutorial::StaggerOp;

void StaggerOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure StaggerOp::applyToOne(transform::TransformRewriter &rewriter,
                                                  scf::ForOp loop,
                                                  transform::ApplyToEachResultList &results,
                                                  transform::TransformState &state) {
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!isConstantIntValue(loop.getLowerBound(), 0) || !end || !step)
    return emitSilenceableFailure(loop->getLoc()) << "stagger_c1: expected a loop from 0 with a "
                                                     "constant end and step; fix the size along it";
  if (*end % *step != 0)
    return emitSilenceableFailure(loop->getLoc())
           << "stagger_c2: expected a step that divides the end " << *end << ", got " << *step;

  // Outside of the loop: where this workgroup begins.
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value x = gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value y = gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::y);
  Value steps = arith::ConstantIndexOp::create(rewriter, loc, *end / *step);
  Value sum = arith::AddIOp::create(rewriter, loc, x, y);
  Value begin = arith::MulIOp::create(
      rewriter, loc, arith::RemUIOp::create(rewriter, loc, sum, steps), loop.getStep());

  // Inside: so much further, and around at the end.
  rewriter.setInsertionPointToStart(loop.getBody());
  Value moved = arith::AddIOp::create(rewriter, loc, loop.getInductionVar(), begin);
  Value over = arith::SubIOp::create(rewriter, loc, moved, loop.getUpperBound());
  Value wraps =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge, moved, loop.getUpperBound());
  Value place = arith::SelectOp::create(rewriter, loc, wraps, over, moved);
  rewriter.replaceAllUsesExcept(loop.getInductionVar(), place, moved.getDefiningOp());
  return DiagnosedSilenceableFailure::success();
}

#define GET_OP_CLASSES
#include "Stagger.cpp.inc"

namespace {
// The op belongs to the transform dialect, and says which dialects it makes ops of.
struct Tutorial : transform::TransformDialectExtension<Tutorial> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Tutorial)
  void init() {
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<gpu::GPUDialect>();
    registerTransformOps<StaggerOp>();
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Tutorial", LLVM_VERSION_STRING,
          [](DialectRegistry *registry) { registry->addExtensions<Tutorial>(); }};
}
