//===- DeepTileMatmul.cpp - the pass of the nine-loop rewrite ----------------===//
// In: contractions on tensors. Out: loops around batch-reduce matmuls.
// Refused: configurations that are not legal for a contraction, with the field and its range.
//===----------------------------------------------------------------------===//
#include "xetile/DeepTile/DeepTile.h"
#include "xetile/DeepTile/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_DEEPTILEMATMUL
#include "xetile/DeepTile/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct DeepTileMatmul : xetile::impl::DeepTileMatmulBase<DeepTileMatmul> {
  using DeepTileMatmulBase::DeepTileMatmulBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> matmuls;
    getOperation()->walk([&](linalg::LinalgOp op) { matmuls.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : matmuls) {
      std::string why;
      FailureOr<Contraction> matmul = matchContraction(op, /*onTensors=*/true, why);
      if (failed(matmul))
        continue;
      MatmulConfig values;
      for (unsigned field = 0; field < config.size() && field < 10; ++field)
        values.set(field, config[field]);
      if (std::string wrong = checkConfig(*matmul, values); !wrong.empty()) {
        op.emitOpError() << wrong;
        return signalPassFailure();
      }
      DeepTileOptions options;
      options.packA = options.packB = pack;
      deepTile(rewriter, *matmul, values, options);
    }
  }
};
} // namespace
