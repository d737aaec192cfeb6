//===- ApproximateMath.cpp - functions that PTX lacks, as polynomials ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: math ops on f32, or on narrower floats. Out: arith, and the functions that NVPTX selects.
// Refused: functions that have neither.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Target/Nvidia/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// Functions that LLVM's back end writes in instructions of PTX.
bool isSelected(StringRef name) {
  return llvm::is_contained({"math.absf", "math.absi", "math.ceil", "math.floor", "math.fma",
                             "math.sqrt", "math.trunc", "math.roundeven", "math.copysign"},
                            name);
}

struct ApproximateMath : xetile::impl::ApproximateMathBase<ApproximateMath> {
  using ApproximateMathBase::ApproximateMathBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(patterns, {"rsqrt", "powf", "round", "fpowi"});
    auto isMissing = [](StringRef name) { return !isSelected(name); };
    // Polynomials are of f32.
    populateMathF32ExpansionPatterns(patterns, isMissing);
    populateMathPolynomialApproximationPatterns(patterns, isMissing);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
          isSelected(op->getName().getStringRef()))
        return WalkResult::advance();
      op->emitOpError("has no approximation on sm_90a: expected a function of f32, f16 or bf16 as "
                      "erf, tanh, exp, log, or one of arith");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
