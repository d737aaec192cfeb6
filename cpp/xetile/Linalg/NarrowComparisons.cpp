//===- NarrowComparisons.cpp - compare numbers in their own type -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: comparisons of extended floats with constants, as frontends write a Python number. Out: the
// same answers in the type before. Refused: nothing; equality with what that type lacks stays.
//===----------------------------------------------------------------------===//
// A vector has as many lanes as numbers of the widest type fit.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_NARROWCOMPARISONS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// The greatest number below, or the least above, tells the same numbers of the type apart.
static std::optional<llvm::RoundingMode> roundingFor(arith::CmpFPredicate predicate) {
  using Is = arith::CmpFPredicate;
  switch (predicate) {
  case Is::OGT:
  case Is::UGT:
  case Is::OLE:
  case Is::ULE:
    return llvm::RoundingMode::TowardNegative;
  case Is::OLT:
  case Is::ULT:
  case Is::OGE:
  case Is::UGE:
    return llvm::RoundingMode::TowardPositive;
  default:
    return std::nullopt;
  }
}

/// The predicate with its operands exchanged.
static arith::CmpFPredicate mirrored(arith::CmpFPredicate predicate) {
  using Is = arith::CmpFPredicate;
  switch (predicate) {
  case Is::OGT:
    return Is::OLT;
  case Is::UGT:
    return Is::ULT;
  case Is::OLE:
    return Is::OGE;
  case Is::ULE:
    return Is::UGE;
  case Is::OLT:
    return Is::OGT;
  case Is::ULT:
    return Is::UGT;
  case Is::OGE:
    return Is::OLE;
  case Is::UGE:
    return Is::ULE;
  default:
    return predicate;
  }
}

static void narrow(RewriterBase &b, arith::CmpFOp op) {
  Value left = op.getLhs(), right = op.getRhs();
  arith::CmpFPredicate predicate = op.getPredicate();
  APFloat limit(0.0);
  if (matchPattern(left, m_ConstantFloat(&limit))) {
    std::swap(left, right);
    predicate = mirrored(predicate);
  } else if (!matchPattern(right, m_ConstantFloat(&limit))) {
    return;
  }
  auto extended = left.getDefiningOp<arith::ExtFOp>();
  if (!extended || !extended.getType().isIntOrFloat())
    return;
  auto type = cast<FloatType>(extended.getIn().getType());
  APFloat rounded = limit;
  bool inexact = false;
  std::optional<llvm::RoundingMode> rounding = roundingFor(predicate);
  rounded.convert(type.getFloatSemantics(),
                  rounding.value_or(llvm::RoundingMode::NearestTiesToEven), &inexact);
  if (limit.isNaN() || (inexact && !rounding))
    return;
  b.setInsertionPoint(op);
  Value known = arith::ConstantOp::create(b, op.getLoc(), FloatAttr::get(type, rounded));
  b.replaceOpWithNewOp<arith::CmpFOp>(op, predicate, extended.getIn(), known, op.getFastmath());
  if (extended->use_empty())
    b.eraseOp(extended);
}

namespace {
struct NarrowComparisons : xetile::impl::NarrowComparisonsBase<NarrowComparisons> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<arith::CmpFOp> ops;
    getOperation()->walk([&](arith::CmpFOp op) { ops.push_back(op); });
    for (arith::CmpFOp op : ops)
      narrow(rewriter, op);
  }
};
} // namespace
