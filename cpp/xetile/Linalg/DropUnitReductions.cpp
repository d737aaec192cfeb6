//===- DropUnitReductions.cpp - reductions of one element ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors. Out: those whose reduced dimensions all have one element are
// elementwise: of that element and of what the reduction starts from. Refused: nothing; sizes that
// only a run knows stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/ScheduleMark.h"

namespace xetile {
#define GEN_PASS_DEF_DROPUNITREDUCTIONS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// The loops of a reduction as those of the elementwise op, which are its results' dimensions;
/// nothing where it reduces more than one element, or results differ.
static std::optional<SmallVector<AffineExpr>> loopsOfResults(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (auto [extent, kind] : llvm::zip_equal(extents, kinds))
    if (kind == utils::IteratorType::reduction && extent != 1)
      return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init) != map)
      return std::nullopt;
  SmallVector<AffineExpr> loops(op.getNumLoops());
  SmallVector<unsigned> units; // of results, that are no loop
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop && expr != getAffineConstantExpr(0, op.getContext()))
      return std::nullopt;
    if (!loop)
      units.push_back(dim);
    else if (loops[loop.getPosition()])
      return std::nullopt;
    else
      loops[loop.getPosition()] = getAffineDimExpr(dim, op.getContext());
  }
  for (auto [loop, kind] : llvm::zip_equal(loops, kinds)) {
    if (loop)
      continue;
    if (kind != utils::IteratorType::reduction)
      return std::nullopt;
    loop = units.empty() ? getAffineConstantExpr(0, op.getContext())
                         : getAffineDimExpr(units.pop_back_val(), op.getContext());
  }
  return loops;
}

static void makeElementwise(IRRewriter &b, linalg::GenericOp op, ArrayRef<AffineExpr> loops) {
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  unsigned rank = op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getNumResults();
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    inputs.push_back(operand.get());
    maps.push_back(op.getMatchingIndexingMap(&operand).replaceDimsAndSymbols(loops, {}, rank, 0));
  }
  for (Value init : op.getDpsInits()) {
    auto type = cast<RankedTensorType>(init.getType());
    outputs.push_back(tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, init),
                                              type.getElementType()));
    maps.push_back(b.getMultiDimIdentityMap(rank));
  }
  auto made = linalg::GenericOp::create(
      b, loc, op->getResultTypes(), inputs, outputs, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel));
  b.inlineRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().begin());
  Block *body = &made.getRegion().front();
  for (Value output : outputs)
    body->addArgument(getElementTypeOrSelf(output.getType()), loc);
  body->walk([&](linalg::IndexOp index) {
    b.setInsertionPoint(index);
    AffineExpr loop = loops[index.getDim()];
    if (auto dim = dyn_cast<AffineDimExpr>(loop))
      b.replaceOpWithNewOp<linalg::IndexOp>(index, dim.getPosition());
    else
      b.replaceOpWithNewOp<arith::ConstantIndexOp>(index, 0);
  });
  keepMark(op, made);
  b.replaceOp(op, made.getResults());
}

namespace {
struct DropUnitReductions : xetile::impl::DropUnitReductionsBase<DropUnitReductions> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      if (std::optional<SmallVector<AffineExpr>> loops = loopsOfResults(op))
        makeElementwise(rewriter, op, *loops);
  }
};
} // namespace
