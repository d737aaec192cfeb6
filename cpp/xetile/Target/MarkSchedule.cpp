//===- MarkSchedule.cpp - a schedule that tells where it is ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a schedule. Out: the same with an op before each, which tells its number.
// Refused: handles of that op which are no longer valid, by upstream's interpreter.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "xetile/Target/Schedule.h"

using namespace mlir;

namespace xetile::detail {
/// Not among the ops that users write: only contexts of child processes know it.
class MarkOp
    : public Op<MarkOp, OpTrait::ZeroRegions, OpTrait::ZeroResults, OpTrait::ZeroSuccessors,
                OpTrait::VariadicOperands, MemoryEffectOpInterface::Trait,
                transform::TransformOpInterface::Trait, transform::MatchOpInterface::Trait> {
public:
  using Op::Op;
  static constexpr StringLiteral getOperationName() { return "transform.xetile.mark"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  DiagnosedSilenceableFailure apply(transform::TransformRewriter &rewriter,
                                    transform::TransformResults &results,
                                    transform::TransformState &state) {
    *progress = cast<IntegerAttr>((*this)->getAttr(kNumber)).getInt();
    return DiagnosedSilenceableFailure::success();
  }
  bool allowsRepeatedHandleOperands() { return true; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
    transform::onlyReadsHandle((*this)->getOpOperands(), effects);
    transform::onlyReadsPayload(effects);
  }

  static constexpr StringLiteral kNumber = "xetile_number";
  /// Of the one schedule that a child process runs.
  static volatile int64_t *progress;
};
volatile int64_t *MarkOp::progress = nullptr;
} // namespace xetile::detail

MLIR_DECLARE_EXPLICIT_TYPE_ID(xetile::detail::MarkOp)
MLIR_DEFINE_EXPLICIT_TYPE_ID(xetile::detail::MarkOp)

namespace {
class MarkExtension : public transform::TransformDialectExtension<MarkExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkExtension)
  MarkExtension() { registerTransformOps<xetile::detail::MarkOp>(); }
};
} // namespace

void xetile::detail::registerMarks(DialectRegistry &registry) {
  registry.addExtensions<MarkExtension>();
}

SmallVector<Operation *> xetile::detail::markedOps(ModuleOp schedule) {
  SmallVector<Operation *> ops;
  schedule.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa_and_nonnull<transform::NamedSequenceOp, transform::SequenceOp, transform::ForeachOp,
                        transform::AlternativesOp>(op->getParentOp()) &&
        isa<transform::TransformOpInterface, transform::YieldOp>(op))
      ops.push_back(op);
  });
  return ops;
}

void xetile::detail::insertMarks(ModuleOp schedule, volatile int64_t *progress) {
  MarkOp::progress = progress;
  for (auto [number, op] : llvm::enumerate(markedOps(schedule))) {
    OpBuilder builder(op);
    OperationState state(op->getLoc(), MarkOp::getOperationName());
    state.addOperands(op->getOperands());
    state.addAttribute(MarkOp::kNumber, builder.getI64IntegerAttr(int64_t(number)));
    builder.create(state);
  }
}
