//===- DeepTileMatmul.cpp - configure and tile the matmuls of a module -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: contractions on tensors, requests. Out: loops around batch-reduce matmuls, or remarks.
// Refused: what decideConfig refuses, ops with a configuration that cannot be tiled, other values
// of the pass's options.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/DeepTile.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Fusion.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_DEEPTILEMATMUL
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

FailureOr<Value> xetile::deepTile(RewriterBase &rewriter, const Contraction &matmul,
                                  const DeepTileRequest &request) {
  FailureOr<ConfigChoice> choice = decideConfig(matmul, request);
  if (failed(choice))
    return failure();
  // Nothing to multiply: such ops lower to loops that do not run.
  if (llvm::is_contained(matmul.sizes, 0))
    return matmul.op->getResult(0);
  Fusion fusion = request.fuse ? mergeNeighbours(rewriter, matmul) : Fusion();
  return deepTile(rewriter, matmul, *choice, fusion);
}

namespace {
struct DeepTileMatmul : xetile::impl::DeepTileMatmulBase<DeepTileMatmul> {
  using DeepTileMatmulBase::DeepTileMatmulBase;

  void runOnOperation() override {
    DeepTileRequest request;
    if (failed(readOptions(request)))
      return signalPassFailure();
    // All of them first: other ops may be gone once their neighbour is tiled.
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      // A configuration says that its op is a matmul, whatever a matcher took it for.
      if (isFor(op, schedules) || (isFor(op, {}) && op->hasAttr(kConfigAttr)))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    std::vector<Contraction> matmuls;
    SmallVector<Operation *> standIns;
    for (linalg::LinalgOp op : ops) {
      Operation *standIn;
      Result<Contraction> matmul = matchOrUnfold(rewriter, op, standIn);
      if (matmul) {
        matmuls.push_back(*matmul);
      } else if (op->hasAttr(kConfigAttr)) {
        op->emitOpError() << "has a " << kConfigAttr
                          << " but cannot be tiled: " << matmul.error().message;
        return signalPassFailure();
      }
      if (standIn && explain)
        standIns.push_back(standIn);
      else if (standIn)
        rewriter.replaceOp(op, standIn);
    }
    for (const Contraction &matmul : matmuls)
      if (failed(explain ? remark(matmul, request) : deepTile(rewriter, matmul, request)))
        return signalPassFailure();
    for (Operation *standIn : standIns)
      eraseStandIn(rewriter, standIn);
  }

private:
  LogicalResult readOptions(DeepTileRequest &request) {
    auto wrong = [&](const Twine &message) {
      return emitError(getOperation()->getLoc()) << message;
    };
    if (Problem error = readConfig(config, request.given))
      return wrong(*error);
    if (machine != "auto" && machine != "dlti")
      return wrong("machine: expected 'auto' or 'dlti', got '" + Twine(machine.getValue()) + "'");
    if (Problem error = request.readPack(pack))
      return wrong(*error);
    request.threads = threads;
    request.fuse = fuse;
    request.requireDescription = machine == "dlti";
    return success();
  }

  FailureOr<Value> remark(const Contraction &matmul, const DeepTileRequest &request) {
    FailureOr<ConfigChoice> choice = decideConfig(matmul, request);
    if (failed(choice))
      return failure();
    InFlightDiagnostic diagnostic = matmul.op->emitRemark() << writeConfig(choice->config);
    for (const std::string &reason : choice->reasons)
      diagnostic.attachNote() << reason;
    return Value();
  }
};
} // namespace
