//===- RankMatmulConfigs.cpp - note configurations worth measuring --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: contractions on tensors. Out: the same, with attributes that list configurations for them.
// Refused: what decideConfig refuses, a count of none.
//===----------------------------------------------------------------------===//
#include "xetile/IR/XeTileAttrs.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/Linalg/Attention/AttentionOps.h"
#include "xetile/Target/Cpu/Matmul/Config/RankConfigs.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_RANKMATMULCONFIGS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static PartialConfig allFields(const MatmulConfig &config) {
  PartialConfig fields;
  MatmulConfigAttr::visitFields(
      config, [&](StringRef name, int64_t value, auto...) { *findField(fields, name) = value; });
  return fields;
}

namespace {
struct RankMatmulConfigs : xetile::impl::RankMatmulConfigsBase<RankMatmulConfigs> {
  using RankMatmulConfigsBase::RankMatmulConfigsBase;

  void runOnOperation() override {
    if (count == 0) {
      emitError(getOperation()->getLoc()) << "count = 0: expected 1 or more";
      return signalPassFailure();
    }
    DeepTileRequest request;
    request.threads = threads;
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    // With a configuration of its own a matmul would not be done in the loops of an attention.
    llvm::SmallPtrSet<Operation *, 8> left;
    for (linalg::LinalgOp op : ops) {
      if (Result<AttentionOps> attention = findAttention(op))
        left.insert_range(ArrayRef<Operation *>{attention->scores, attention->output});
    }
    for (linalg::LinalgOp op : ops) {
      Result<Contraction> matmul = matchContraction(op, /*onTensors=*/true);
      if (!matmul || llvm::is_contained(matmul->sizes, 0) || left.contains(op))
        continue;
      FailureOr<SmallVector<RankedConfig>> ranked = rankConfigs(*matmul, request, count);
      if (failed(ranked))
        return signalPassFailure();
      annotate(*matmul, *ranked);
    }
  }

private:
  static void annotate(const Contraction &matmul, ArrayRef<RankedConfig> ranked) {
    Builder b(matmul.op.getContext());
    SmallVector<Attribute> list;
    for (const RankedConfig &entry : ranked)
      list.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("config", MatmulConfigAttr::get(b.getContext(), allFields(entry.config))),
           b.getNamedAttr("cycles", b.getF64FloatAttr(entry.cycles)),
           b.getNamedAttr("pack", b.getStringAttr(DeepTileRequest::writePack(entry.pack)))}));
    matmul.op->setAttr(kMatmulKeyAttr, b.getStringAttr(describeMatmul(matmul)));
    matmul.op->setAttr(kMatmulCandidatesAttr, b.getArrayAttr(list));
  }
};
} // namespace
