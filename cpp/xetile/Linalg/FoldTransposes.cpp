//===- FoldTransposes.cpp - matmuls read what was transposed or widened ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: contractions on tensors whose inputs are linalg.transpose, or both extended from bf16 or f16
// to f32. Out: the same contractions, indexed another way, on what was transposed and extended,
// extending single elements. Refused: nothing; other ops keep their transposes and extensions.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/ScheduleMark.h"

namespace xetile {
#define GEN_PASS_DEF_FOLDTRANSPOSES
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
/// The source of a contraction's input and the indexing map that reads it.
struct Source {
  Value value;
  AffineMap map;
};
} // namespace

static Source skipTransposes(Source source) {
  while (auto transpose = source.value.getDefiningOp<linalg::TransposeOp>()) {
    // Dimension i of the result is dimension permutation[i] of what was transposed.
    SmallVector<AffineExpr> indices(source.map.getNumResults());
    for (auto [expr, from] : llvm::zip(source.map.getResults(), transpose.getPermutation()))
      indices[from] = expr;
    source = {transpose.getInput(),
              AffineMap::get(source.map.getNumDims(), 0, indices, source.map.getContext())};
  }
  return source;
}

/// True if `op` extends the elements of one bf16 or f16 tensor to f32 and does nothing else.
static bool isWidening(linalg::GenericOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 || op->getNumResults() != 1)
    return false;
  Value input = op.getInputs()[0];
  mlir::Block &body = op.getRegion().front();
  auto extend = body.getTerminator()->getOperand(0).getDefiningOp<arith::ExtFOp>();
  return isa<BFloat16Type, Float16Type>(getElementTypeOrSelf(input.getType())) && extend &&
         extend.getType().isF32() && extend.getIn() == body.getArgument(0) &&
         op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isPermutation() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

/// The source behind an extension to f32, and transposes on both sides of it; null without one.
static Source skipWidening(Source source) {
  source = skipTransposes(source);
  auto widening = source.value.getDefiningOp<linalg::GenericOp>();
  if (!isWidening(widening))
    return {};
  AffineMap read = widening.getMatchingIndexingMap(widening.getDpsInputOperand(0));
  return skipTransposes({widening.getInputs()[0], read.compose(source.map)});
}

/// Where a contraction can read its two inputs instead, as narrow ones if both are of one type:
/// instructions multiply such pairs.
static std::array<Source, 2> findSources(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::array<Source, 2> inputs = {Source{op->getOperand(0), maps[0]},
                                  Source{op->getOperand(1), maps[1]}};
  auto isF32 = [](Value value) { return getElementTypeOrSelf(value.getType()).isF32(); };
  if (llvm::all_of(op->getOperands(), isF32)) {
    std::array<Source, 2> narrow = {skipWidening(inputs[0]), skipWidening(inputs[1])};
    if (narrow[0].value && narrow[1].value &&
        getElementTypeOrSelf(narrow[0].value.getType()) ==
            getElementTypeOrSelf(narrow[1].value.getType()))
      return narrow;
  }
  return {skipTransposes(inputs[0]), skipTransposes(inputs[1])};
}

static void fold(RewriterBase &b, linalg::LinalgOp op, const std::array<Source, 2> &sources) {
  b.setInsertionPoint(op);
  SmallVector<AffineMap> maps = {sources[0].map, sources[1].map, op.getIndexingMapsArray()[2]};
  auto generic = linalg::GenericOp::create(b, op.getLoc(), op->getResultTypes(),
                                           ValueRange{sources[0].value, sources[1].value},
                                           op.getDpsInits(), maps, op.getIteratorTypesArray());
  generic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  b.inlineRegionBefore(op->getRegion(0), generic.getRegion(), generic.getRegion().begin());
  mlir::Block &body = generic.getRegion().front();
  b.setInsertionPointToStart(&body);
  for (auto [argument, source] : llvm::zip(body.getArguments(), sources)) {
    Type wide = argument.getType(), type = getElementTypeOrSelf(source.value.getType());
    if (wide == type)
      continue;
    argument.setType(type);
    auto extend = arith::ExtFOp::create(b, op.getLoc(), wide, argument);
    argument.replaceAllUsesExcept(extend.getResult(), extend);
  }
  b.replaceOp(op, generic);
}

namespace {
struct FoldTransposes : xetile::impl::FoldTransposesBase<FoldTransposes> {
  using FoldTransposesBase::FoldTransposesBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> contractions, skipped;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isa<linalg::TransposeOp>(op) || isWidening(dyn_cast<linalg::GenericOp>(*op)))
        skipped.push_back(op);
      else if (isFor(op, schedules) && isContraction(op))
        contractions.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : contractions)
      if (std::array<Source, 2> sources = findSources(op);
          sources[0].value != op->getOperand(0) || sources[1].value != op->getOperand(1))
        fold(rewriter, op, sources);
    for (linalg::LinalgOp op : llvm::reverse(skipped))
      if (op.hasPureTensorSemantics() && op->use_empty())
        rewriter.eraseOp(op);
  }
};
} // namespace
