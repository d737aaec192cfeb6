//===- FoldTransposes.cpp - matmuls read what a transpose would write ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: contractions on tensors whose inputs are linalg.transpose. Out: the same contractions,
// indexed another way, on what was transposed. Refused: nothing; other ops keep their transposes.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "xetile/Target/Cpu/LoopNest/Contraction.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_FOLDTRANSPOSES
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static bool readsTransposed(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    return input.getDefiningOp<linalg::TransposeOp>() != nullptr;
  });
}

static void fold(RewriterBase &b, linalg::LinalgOp op) {
  b.setInsertionPoint(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs = op.getDpsInputs();
  for (auto [input, map] : llvm::zip(inputs, maps))
    while (auto transpose = input.getDefiningOp<linalg::TransposeOp>()) {
      // Dimension i of the result is dimension permutation[i] of what was transposed.
      SmallVector<AffineExpr> indices(map.getNumResults());
      for (auto [expr, from] : llvm::zip(map.getResults(), transpose.getPermutation()))
        indices[from] = expr;
      map = AffineMap::get(map.getNumDims(), 0, indices, b.getContext());
      input = transpose.getInput();
    }
  auto generic = linalg::GenericOp::create(b, op.getLoc(), op->getResultTypes(), inputs,
                                           op.getDpsInits(), maps, op.getIteratorTypesArray());
  generic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  b.inlineRegionBefore(op->getRegion(0), generic.getRegion(), generic.getRegion().begin());
  b.replaceOp(op, generic);
}

namespace {
struct FoldTransposes : xetile::impl::FoldTransposesBase<FoldTransposes> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    SmallVector<linalg::TransposeOp> transposes;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (auto transpose = dyn_cast<linalg::TransposeOp>(op.getOperation()))
        transposes.push_back(transpose);
      std::string why;
      if (readsTransposed(op) && succeeded(matchContraction(op, /*onTensors=*/true, why)))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      fold(rewriter, op);
    for (linalg::TransposeOp transpose : llvm::reverse(transposes))
      if (transpose.hasPureTensorSemantics() && transpose->use_empty())
        rewriter.eraseOp(transpose);
  }
};
} // namespace
