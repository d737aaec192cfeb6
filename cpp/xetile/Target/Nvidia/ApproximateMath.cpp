//===- ApproximateMath.cpp - functions that PTX lacks, as polynomials ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: math ops on f32, or on narrower floats. Out: arith, and the functions that NVPTX selects.
// Refused: functions that have neither.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Target/Nvidia/Erf.h"
#include "xetile/Target/Nvidia/Exponentials.h"
#include "xetile/Target/Nvidia/F32Builder.h"
#include "xetile/Target/Nvidia/Passes.h"
#include "llvm/ADT/StringSwitch.h"

namespace xetile {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using xetile::hopper::F32Builder;

namespace {

/// LLVM's intrinsic for a function that the back end writes in instructions of PTX, else empty.
StringRef intrinsicOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("arith.maxnumf", "llvm.maxnum")
      .Case("arith.minnumf", "llvm.minnum")
      .Case("math.absf", "llvm.fabs")
      .Case("math.ceil", "llvm.ceil")
      .Case("math.copysign", "llvm.copysign")
      .Case("math.exp2", "llvm.exp2")
      .Case("math.floor", "llvm.floor")
      .Case("math.fma", "llvm.fma")
      .Case("math.roundeven", "llvm.roundeven")
      .Case("math.sqrt", "llvm.sqrt")
      .Case("math.trunc", "llvm.trunc")
      .Default("");
}

/// True for a quotient of f32 that may be two units off. One that may be less exact than that the
/// back end chooses itself.
bool isRelaxedQuotient(Operation *op) {
  using arith::FastMathFlags;
  auto quotient = dyn_cast<arith::DivFOp>(op);
  return quotient && getElementTypeOrSelf(quotient.getType()).isF32() &&
         bitEnumContainsAny(quotient.getFastmath(), FastMathFlags::arcp) &&
         !bitEnumContainsAny(quotient.getFastmath(), FastMathFlags::afn);
}

struct ApproximateMath : xetile::impl::ApproximateMathBase<ApproximateMath> {
  using ApproximateMathBase::ApproximateMathBase;

  void runOnOperation() override {
    RewritePatternSet quotients(&getContext()), patterns(&getContext());
    // First, as they ask for powers.
    xetile::hopper::populateQuotients(quotients);
    if (failed(applyPatternsGreedily(getOperation(), std::move(quotients))))
      return signalPassFailure();
    math::populateExpansionPatterns(patterns, {"rsqrt", "powf", "round", "fpowi"});
    auto isMissing = [](StringRef name) { return intrinsicOf(name).empty(); };
    // Polynomials are of f32.
    populateMathF32ExpansionPatterns(patterns, isMissing);
    populateMathPolynomialApproximationPatterns(patterns, isMissing);
    xetile::hopper::populateErf(patterns);
    xetile::hopper::populateExponentials(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (isRelaxedQuotient(op)) {
        F32Builder b(op);
        op->replaceAllUsesWith(ValueRange{b.ofElements("llvm.nvvm.div.full", op->getOperands())});
        op->erase();
        return WalkResult::advance();
      }
      if (StringRef name = intrinsicOf(op->getName().getStringRef()); !name.empty()) {
        replace(op, name);
        return WalkResult::advance();
      }
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitOpError("has no approximation on sm_90a: expected a function of f32, f16 or bf16 as "
                      "erf, tanh, exp, log, or one of arith");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Calls of intrinsics stay as they are where upstream's conversion of GPU code would call
  /// libdevice for the operation.
  static void replace(Operation *op, StringRef name) {
    OpBuilder b(op);
    auto call = LLVM::CallIntrinsicOp::create(b, op->getLoc(), op->getResult(0).getType(),
                                              b.getStringAttr(name), op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  }
};
} // namespace
