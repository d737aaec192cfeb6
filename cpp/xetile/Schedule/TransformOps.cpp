//===- TransformOps.cpp - registration, and the steps that set attributes ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors, gpu.launch. Out: the same with argument attributes, a block size.
// Refused: other targets, as definite failures.
#include "xetile/Schedule/TransformOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Target/Host/PreserveArguments.h"

using namespace mlir;
using namespace mlir::transform;

#define GET_OP_CLASSES
#include "xetile/Schedule/TransformOps.cpp.inc"

namespace xetile {
namespace {
class XeTileTransformExtension : public TransformDialectExtension<XeTileTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(XeTileTransformExtension)

  XeTileTransformExtension() {
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<bufferization::BufferizationDialect>();
    declareGeneratedDialect<gpu::GPUDialect>();
    declareGeneratedDialect<XeTileDialect>();
    registerStrictOps<
#define GET_OP_LIST
#include "xetile/Schedule/TransformOps.cpp.inc"
        >();
  }

private:
  template <typename... Ops> void registerStrictOps() {
    registerTransformOps<xetile::Strict<Ops>...>();
  }
};
} // namespace

void registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<XeTileTransformExtension>();
}

namespace transform_ops {

//===----------------------------------------------------------------------===//
// preserve_arguments
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure PreserveArgumentsOp::apply(TransformRewriter &rewriter,
                                                       TransformResults &results,
                                                       TransformState &state) {
  for (Operation *target : state.getPayloadOps(getTarget()))
    xetile::preserveArguments(target, /*all=*/false);
  return DiagnosedSilenceableFailure::success();
}

void PreserveArgumentsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// set_launch_subgroups
//===----------------------------------------------------------------------===//

/// True if the code of a workgroup has tiles, none of which a map divides: what folded to constants
/// has none. Code on vectors gets its maps later.
static bool isForOneSubgroup(gpu::LaunchOp launch) {
  auto isXeTile = [](Operation *op) {
    return isa_and_present<XeTileDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                            : WalkResult::advance();
  };
  auto isOfSubgroup = [](gpu::SubgroupIdOp) { return WalkResult::interrupt(); };
  return launch.getBody().walk(isXeTile).wasInterrupted() && !findWgMap(launch) &&
         !launch.getBody().walk(isOfSubgroup).wasInterrupted();
}

DiagnosedSilenceableFailure SetLaunchSubgroupsOp::apply(TransformRewriter &rewriter,
                                                        TransformResults &results,
                                                        TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  int64_t rows, columns;
  DiagnosedSilenceableFailure diag =
      readInteger(op, state, getSubgroupsM(), "subgroups_m", 1, rows);
  if (diag.succeeded())
    diag = readInteger(op, state, getSubgroupsN(), "subgroups_n", 1, columns);
  if (!diag.succeeded())
    return diag;
  int64_t workItems;
  if (llvm::MulOverflow(rows, columns, workItems) ||
      llvm::MulOverflow<int64_t>(workItems, getSubgroupSize(), workItems))
    return op.emitDefiniteFailure() << "subgroup layout " << rows << " x " << columns
                                    << ": its work items do not fit 64 bits";

  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto launch = dyn_cast<gpu::LaunchOp>(target);
    if (!launch)
      return wrongTarget(op, target, "gpu.launch");
    rewriter.setInsertionPoint(launch);
    Value x = arith::ConstantIndexOp::create(
        rewriter, launch.getLoc(), isForOneSubgroup(launch) ? getSubgroupSize() : workItems);
    Value one = arith::ConstantIndexOp::create(rewriter, launch.getLoc(), 1);
    rewriter.modifyOpInPlace(launch, [&] {
      launch.getBlockSizeXMutable().assign(x);
      launch.getBlockSizeYMutable().assign(one);
      launch.getBlockSizeZMutable().assign(one);
    });
  }
  return DiagnosedSilenceableFailure::success();
}

void SetLaunchSubgroupsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace transform_ops
} // namespace xetile
