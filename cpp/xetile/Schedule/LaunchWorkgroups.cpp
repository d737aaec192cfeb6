//===- LaunchWorkgroups.cpp - transform.xetile.launch_workgroups -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an scf.forall on buffers, its loops m, n, batches, or a single one. Out: a gpu.launch with a
// workgroup for each step. Refused: other targets, loops with results.
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

using affine::makeComposedFoldedAffineApply;

/// Number of steps of one of the loops.
OpFoldResult countSteps(OpBuilder &b, Location loc, OpFoldResult lower, OpFoldResult upper,
                        OpFoldResult step) {
  AffineExpr l, u, s;
  bindSymbols(b.getContext(), l, u, s);
  return makeComposedFoldedAffineApply(b, loc, (u - l).ceilDiv(s), {lower, upper, step});
}

Value multiply(OpBuilder &b, Location loc, ArrayRef<Value> factors) {
  Value product = arith::ConstantIndexOp::create(b, loc, 1);
  for (Value factor : factors)
    product = b.createOrFold<arith::MulIOp>(loc, product, factor);
  return product;
}

gpu::LaunchOp launch(RewriterBase &rewriter, scf::ForallOp loop) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  SmallVector<OpFoldResult> lowers = loop.getMixedLowerBound(), uppers = loop.getMixedUpperBound(),
                            steps = loop.getMixedStep();
  SmallVector<Value> counts;
  bool isStatic = true;
  for (auto [lower, upper, step] : llvm::zip_equal(lowers, uppers, steps)) {
    OpFoldResult count = countSteps(rewriter, loc, lower, upper, step);
    isStatic &= getConstantIntValue(count).has_value();
    counts.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, count));
  }
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  // Workgroups of a single loop are along x.
  size_t added = counts.size() < 2 ? 1 : 0;
  if (added)
    counts.insert(counts.begin(), one);
  Value batches = multiply(rewriter, loc, ArrayRef(counts).drop_front(2));
  if (!isStatic) {
    // No driver launches a grid of nothing.
    Value all = multiply(rewriter, loc, {counts[0], counts[1], batches});
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value any = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, all, zero);
    auto guard = scf::IfOp::create(rewriter, loc, any, /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(guard.thenBlock());
  }
  auto launch = gpu::LaunchOp::create(rewriter, loc, counts[1], counts[0], batches, one, one, one);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  gpu::KernelDim3 ids = launch.getBlockIds();
  SmallVector<Value> places{ids.y, ids.x};
  Value rest = ids.z;
  // The last batch dimension is adjacent along z.
  SmallVector<Value> batchIds;
  for (Value count :
       llvm::reverse(ArrayRef(counts).drop_front(std::min<size_t>(counts.size(), 3)))) {
    batchIds.push_back(arith::RemUIOp::create(rewriter, loc, rest, count));
    rest = arith::DivUIOp::create(rewriter, loc, rest, count);
  }
  if (counts.size() > 2)
    batchIds.push_back(rest);
  llvm::append_range(places, llvm::reverse(batchIds));
  places.erase(places.begin(), places.begin() + added);
  SmallVector<Value> ivs;
  AffineExpr place, step, lower;
  bindDims(rewriter.getContext(), place);
  bindSymbols(rewriter.getContext(), step, lower);
  for (auto [id, by, from] : llvm::zip_equal(places, steps, lowers))
    ivs.push_back(getValueOrCreateConstantIndexOp(
        rewriter, loc,
        makeComposedFoldedAffineApply(rewriter, loc, place * step + lower,
                                      {OpFoldResult(id), by, from})));
  rewriter.eraseOp(loop.getTerminator());
  Block &body = launch.getBody().front();
  rewriter.inlineBlockBefore(loop.getBody(), &body, body.end(), ivs);
  rewriter.setInsertionPointToEnd(&body);
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.eraseOp(loop);
  return launch;
}

} // namespace

DiagnosedSilenceableFailure LaunchWorkgroupsOp::apply(TransformRewriter &rewriter,
                                                      TransformResults &results,
                                                      TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  SmallVector<Operation *> launches;
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getWorkgroups()))) {
    auto loop = dyn_cast<scf::ForallOp>(target);
    if (!loop || loop.getRank() == 0 || loop.getNumResults() != 0)
      return wrongTarget(op, target, "an scf.forall without results");
    launches.push_back(launch(rewriter, loop));
  }
  results.set(cast<OpResult>(getLaunch()), launches);
  return DiagnosedSilenceableFailure::success();
}

void LaunchWorkgroupsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
