//===- ExpandMath.cpp - floating-point math without flags -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: device code with arith and math operations on scalars and vectors. Out: exp, tanh, erf,
// quotients by a shared divisor, maxima and minima in instructions that write no flags. Refused:
// nothing.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Approximation.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Passes.h"
#include "llvm/ADT/MapVector.h"
#include <array>
#include <limits>

namespace xetile {
#define GEN_PASS_DEF_EXPANDMATH
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// Operations on scalars or vectors of one shape.
class Builder : public ImplicitLocOpBuilder {
public:
  Builder(Operation *before, Type shape)
      : ImplicitLocOpBuilder(before->getLoc(), before), shape(shape) {}

  Type like(Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(TypedAttr number) {
    auto vector = dyn_cast<VectorType>(shape);
    if (!vector)
      return arith::ConstantOp::create(*this, number);
    return arith::ConstantOp::create(
        *this, DenseElementsAttr::get(vector.clone(number.getType()), Attribute(number)));
  }
  Value f32(double value) { return constant(getF32FloatAttr(float(value))); }
  Value i32(uint32_t value) { return constant(getI32IntegerAttr(int32_t(value))); }
  Value asInteger(Value value) {
    return arith::BitcastOp::create(*this, like(getI32Type()), value);
  }
  Value asFloat(Value value) { return arith::BitcastOp::create(*this, like(getF32Type()), value); }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(*this, a, b, c); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(*this, a, b); }
  /// Of a number and a NaN the number.
  Value max(Value a, Value b) { return LLVM::MaxNumOp::create(*this, a.getType(), a, b); }
  Value min(Value a, Value b) { return LLVM::MinNumOp::create(*this, a.getType(), a, b); }

private:
  Type shape;
};

bool isF32(Value value) { return getElementTypeOrSelf(value.getType()).isF32(); }

/// True for types of LLVM's dialect: vectors of one dimension at most.
bool isLlvmType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || (vector.getRank() == 1 && !vector.isScalable());
}

// Intel's compiler selects zero and infinity by two compares for each element; the flags that hold
// these are the few that all rows share, and are copied to registers and back. Here x = r ln 2 + m,
// r whole, and exp x = 2^r 2^(m / ln 2): where r is too large or small the product is infinity or
// zero by itself. NaN arrives by m.
void expandExp(math::ExpOp op) {
  Builder b(op, op.getType());
  constexpr double inverseLn2 = 1.4426950408889634;
  // Of 15 bits, so that whole multiples are exact, and the rest.
  constexpr double ln2High = 0.693145751953125, ln2Low = 1.428606820309417e-06;
  // Below, 2^r is 0, above, infinity.
  constexpr double lowest = -150, highest = 130;
  Value x = op.getOperand();
  Value exponent = b.max(b.mul(x, b.f32(inverseLn2)), b.f32(lowest));
  Value whole = math::TruncOp::create(b, b.min(exponent, b.f32(highest)));
  Value rest = b.fma(whole, b.f32(-ln2High), x);
  rest = b.fma(whole, b.f32(-ln2Low), rest);
  Value small = math::Exp2Op::create(b, b.mul(rest, b.f32(inverseLn2)));
  op.replaceAllUsesWith(b.mul(math::Exp2Op::create(b, whole), small));
  op.erase();
}

// Intel's library takes 158 instructions. tanh |x| = |x| + |x|^3 p(x^2) near zero, where the other
// form has few digits left, else 1 - 2 / (e^2|x| + 1): 1 for infinity, NaN for NaN. Wrong by at
// most 1.7 units of the last place, if powers and reciprocals are right; the polynomial by 1.4e-9.
void expandTanh(math::TanhOp op) {
  Builder b(op, op.getType());
  constexpr double nearZero = 0.5625, twiceInverseLn2 = 2.8853900817779268;
  constexpr std::array<double, 5> terms = {-0.006179808861, 0.02100745814, -0.05383742992,
                                           0.1333245227, -0.3333331389};
  Value x = op.getOperand(), size = math::AbsFOp::create(b, x), square = b.mul(size, size);
  Value sum = b.f32(terms.front());
  for (double term : ArrayRef(terms).drop_front())
    sum = b.fma(sum, square, b.f32(term));
  Value small = b.fma(b.mul(sum, square), size, size);
  Value power = math::Exp2Op::create(b, b.mul(size, b.f32(twiceInverseLn2)));
  Value reciprocal = arith::DivFOp::create(b, b.f32(1), arith::AddFOp::create(b, power, b.f32(1)));
  Value large = b.fma(reciprocal, b.f32(-2), b.f32(1));
  Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, b.f32(nearZero));
  Value result = arith::SelectOp::create(b, isSmall, small, large);
  op.replaceAllUsesWith(math::CopySignOp::create(b, result, x).getResult());
  op.erase();
}

// Upstream's form takes three times as many instructions: quotients and a power. erf x = x p(x^2) /
// q(x^2) up to where it is 1, and more beyond, which is 1 then: of infinity, too, and NaN for NaN.
// Wrong by at most 6.3 units of the last place; the coefficients are those of XLA.
void expandErf(math::ErfOp op) {
  Builder b(op, op.getType());
  constexpr double end = 3.7439211627767994;
  constexpr std::array<double, 5> above = {0.00022905065861350646, 0.0034082910107109506,
                                           0.050955695062380861, 0.18520832239976145,
                                           1.128379143519084};
  constexpr std::array<double, 7> below = {-1.1791602954361697e-7,
                                           0.000023547966471313185,
                                           0.0010179625278914885,
                                           0.014070470171167667,
                                           0.11098505178285362,
                                           0.49746925110067538,
                                           1};
  Value x = op.getOperand(), square = b.min(b.mul(x, x), b.f32(end * end));
  auto polynomial = [&](ArrayRef<double> terms) {
    Value sum = b.f32(terms.front());
    for (double term : terms.drop_front())
      sum = b.fma(sum, square, b.f32(term));
    return sum;
  };
  Value reciprocal = arith::DivFOp::create(b, b.f32(1), polynomial(below));
  Value result = b.mul(b.mul(x, polynomial(above)), reciprocal);
  Value isOne = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, result),
                                      b.f32(1));
  Value one = math::CopySignOp::create(b, b.f32(1), x);
  op.replaceAllUsesWith(arith::SelectOp::create(b, isOne, one, result).getResult());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// Invariants of the divisions by one divisor.
struct Divisor {
  Value scale;      ///< a power of two that brings the divisor near one
  Value scaled;     ///< the divisor by it
  Value reciprocal; ///< of the scaled divisor
};

// The divisor is scaled to [1/2, 4) (or below, if it is subnormal), so that neither it nor its
// reciprocal overflows, and dividends are scaled alike. One by 0 is one by 1 of a dividend times
// infinity, one by infinity one by 1 of a dividend times 0.
Divisor prepare(Builder &b, Value divisor) {
  constexpr uint32_t exponentMask = 0x7f800000, sign = 0x80000000, one = 0x3f800000;
  constexpr uint32_t most = 0x7e800000, least = 0x00800000; // 2^126, 2^-126
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value bits = b.asInteger(divisor);
  Value exponent = arith::AndIOp::create(b, bits, b.i32(exponentMask));
  exponent = arith::SubIOp::create(b, b.i32(most), exponent);
  Value scale = b.asFloat(arith::MaxSIOp::create(b, exponent, b.i32(least)));
  Value scaled = b.mul(divisor, scale);
  Value magnitude = math::AbsFOp::create(b, divisor);
  auto is = [&](double value) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, magnitude, b.f32(value));
  };
  Value isZero = is(0), isInfinite = is(infinity);
  Value unit = arith::AndIOp::create(b, bits, b.i32(sign));
  unit = b.asFloat(arith::OrIOp::create(b, unit, b.i32(one)));
  Value isSpecial = arith::OrIOp::create(b, isZero, isInfinite);
  scaled = arith::SelectOp::create(b, isSpecial, unit, scaled);
  scale = arith::SelectOp::create(b, isZero, b.f32(infinity), scale);
  scale = arith::SelectOp::create(b, isInfinite, b.f32(0), scale);
  return {scale, scaled, arith::DivFOp::create(b, b.f32(1), scaled)};
}

// The product with the reciprocal and its remainder, in magnitudes, so that a remainder of zero
// leaves the sign of a zero alone. What has an infinite quotient has no remainder but a NaN or an
// infinity of the other sign: any number does instead; this one is below all that are.
Value createQuotient(arith::DivFOp op, const Divisor &divisor) {
  constexpr double belowRemainders = -0x1p110;
  constexpr uint32_t magnitude = 0x7fffffff, sign = 0x80000000;
  Builder b(op, op.getType());
  Value scaled = b.mul(op.getLhs(), divisor.scale);
  Value quotient = b.mul(scaled, divisor.reciprocal);
  auto abs = [&](Value value) -> Value { return math::AbsFOp::create(b, value); };
  Value size = abs(quotient);
  Value remainder = b.fma(size, arith::NegFOp::create(b, abs(divisor.scaled)), abs(scaled));
  remainder = b.max(remainder, b.f32(belowRemainders));
  size = b.fma(remainder, abs(divisor.reciprocal), size);
  Value bits = arith::AndIOp::create(b, b.asInteger(size), b.i32(magnitude));
  Value signs = arith::AndIOp::create(b, b.asInteger(quotient), b.i32(sign));
  return b.asFloat(arith::OrIOp::create(b, bits, signs));
}

/// The scalar of which all elements are copies, or the value itself.
Value withoutSplat(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    if (!isa<VectorType>(broadcast.getSourceType()))
      return broadcast.getSource();
  if (auto from = value.getDefiningOp<vector::FromElementsOp>())
    if (llvm::all_equal(from.getElements()))
      return from.getElements().front();
  return value;
}

// Intel's compiler tests the divisor anew for each quotient, and multiplies with the reciprocal
// only: with a divisor of two or more the tests are made once, and the quotients are rounded well.
void expandQuotients(ArrayRef<arith::DivFOp> quotients) {
  llvm::MapVector<Value, SmallVector<arith::DivFOp>> byDivisor;
  for (arith::DivFOp op : quotients)
    byDivisor[withoutSplat(op.getRhs())].push_back(op);
  // A quotient may be the divisor of others, whose turn comes later.
  llvm::DenseMap<Value, Value> expanded;
  for (auto &[divisorBefore, ops] : byDivisor) {
    Value value = expanded.lookup_or(divisorBefore, divisorBefore);
    if (ops.size() < 2 && ops.front().getRhs() == value)
      continue;
    Builder b(ops.front(), value.getType());
    b.setInsertionPointAfterValue(value);
    Divisor divisor = prepare(b, value);
    for (arith::DivFOp op : ops) {
      Divisor mine = divisor;
      if (op.getType() != value.getType()) {
        b.setInsertionPoint(op);
        for (Value *part : {&mine.scale, &mine.scaled, &mine.reciprocal})
          *part = vector::BroadcastOp::create(b, op.getType(), *part);
      }
      Value quotient = createQuotient(op, mine);
      expanded[op.getResult()] = quotient;
      op.replaceAllUsesWith(quotient);
    }
  }
  for (arith::DivFOp op : quotients)
    if (expanded.contains(op.getResult()))
      op.erase();
}

bool isExpandedQuotient(arith::DivFOp op) {
  // LLVM turns quotients by powers of two into products; a reciprocal is one instruction.
  return isF32(op.getRhs()) && isLlvmType(op.getType()) &&
         !bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::arcp) &&
         !matchPattern(op.getRhs(), m_Constant()) && !matchPattern(op.getLhs(), m_OneFloat());
}

//===----------------------------------------------------------------------===//
// Maxima and minima
//===----------------------------------------------------------------------===//

/// Of a tree of one kind of operation whose inner values nobody else takes.
template <typename Op> bool isInner(Op op) {
  return op->hasOneUse() && isa<Op>(*op->user_begin()) &&
         (*op->user_begin())->getBlock() == op->getBlock();
}

template <typename Op> void collectLeaves(Value value, SmallVectorImpl<Value> &leaves) {
  auto op = value.getDefiningOp<Op>();
  if (!op || !isInner(op)) {
    leaves.push_back(value);
    return;
  }
  collectLeaves<Op>(op.getLhs(), leaves);
  collectLeaves<Op>(op.getRhs(), leaves);
}

// The instruction for a maximum gives of a number and a NaN the number. Upstream tests both
// operands of each maximum for NaN; of a tree it is enough to test the leaves.
template <typename Op, typename NumberOp> void expandTree(Op root) {
  constexpr size_t kFewLeaves = 8;
  if (isInner(root))
    return; // goes with the root
  SmallVector<Value> leaves;
  collectLeaves<Op>(root.getLhs(), leaves);
  collectLeaves<Op>(root.getRhs(), leaves);
  if (leaves.size() < 3 || !isLlvmType(root.getType()))
    return;
  Builder b(root, root.getType());
  auto build = [&](auto &self, Value value) -> Value {
    auto op = value.getDefiningOp<Op>();
    if (op != root && (!op || !isInner(op)))
      return value;
    Value left = self(self, op.getLhs()), right = self(self, op.getRhs());
    return NumberOp::create(b, op.getType(), left, right);
  };
  Value number = build(build, root.getResult());
  Type element = getElementTypeOrSelf(root.getType());
  if (leaves.size() <= kFewLeaves && (element.isF32() || element.isF16())) {
    // A sum of magnitudes is NaN if one of them is; infinities have one sign. Its sign takes one
    // flag, of which there are eight, where a test of each leaf has many at once.
    Value sum = math::AbsFOp::create(b, leaves[0]);
    for (Value leaf : ArrayRef(leaves).drop_front())
      sum = arith::AddFOp::create(b, sum, math::AbsFOp::create(b, leaf));
    Value isNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, sum, sum);
    root.replaceAllUsesWith(arith::SelectOp::create(b, isNumber, number, sum).getResult());
    return;
  }
  Value isNaN;
  for (size_t at = 0; at < leaves.size(); at += 2) {
    Value other = leaves[std::min(at + 1, leaves.size() - 1)];
    Value either = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, leaves[at], other);
    isNaN = isNaN ? arith::OrIOp::create(b, isNaN, either).getResult() : either;
  }
  auto type = cast<FloatType>(getElementTypeOrSelf(root.getType()));
  Value nan = b.constant(FloatAttr::get(type, APFloat::getNaN(type.getFloatSemantics())));
  root.replaceAllUsesWith(arith::SelectOp::create(b, isNaN, nan, number).getResult());
}

template <typename Op, typename NumberOp> void expandNumber(Op op) {
  if (!isLlvmType(op.getType()))
    return;
  OpBuilder b(op);
  op.replaceAllUsesWith(
      NumberOp::create(b, op.getLoc(), op.getType(), op.getLhs(), op.getRhs()).getResult());
  op.erase();
}

/// Powers with an exponent of integers: products for 2 to 4, else of floats. LLVM's take one
/// exponent of 32 bits.
void expandPower(math::FPowIOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value x = op.getLhs();
  APInt exponent;
  if (!matchPattern(op.getRhs(), m_ConstantInt(&exponent)))
    exponent = APInt(64, 0);
  auto times = [&](Value left, Value right) -> Value {
    return arith::MulFOp::create(b, left, right, op.getFastmath());
  };
  Value power;
  if (exponent.getSignificantBits() <= 8 && exponent.sge(2) && exponent.sle(4)) {
    power = times(x, x);
    if (exponent == 3)
      power = times(power, x);
    if (exponent == 4)
      power = times(power, power);
  } else {
    Value number = arith::SIToFPOp::create(b, x.getType(), op.getRhs());
    power = math::PowFOp::create(b, x, number, op.getFastmath());
  }
  op.replaceAllUsesWith(power);
  op.erase();
}

struct ExpandMath : xetile::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  template <typename Op> SmallVector<Op> collect(function_ref<bool(Op)> accept) {
    SmallVector<Op> ops;
    getOperation().walk([&](Op op) {
      if (accept(op))
        ops.push_back(op);
    });
    return ops;
  }

  template <typename Op, typename NumberOp> void expandTrees() {
    // Users first: what is inside of a tree is unused then.
    SmallVector<Op> ops = collect<Op>([](Op) { return true; });
    for (Op op : llvm::reverse(ops)) {
      if (!op->use_empty())
        expandTree<Op, NumberOp>(op);
      if (op->use_empty())
        op.erase();
    }
  }

  void runOnOperation() override {
    for (auto op : collect<math::FPowIOp>([](auto) { return true; }))
      expandPower(op);
    // Neither XeVM nor LLVM has it.
    for (math::ErfOp op :
         collect<math::ErfOp>([](math::ErfOp op) { return isF32(op) && isLlvmType(op.getType()); }))
      expandErf(op);
    // Of others quotients and exponentials are made, and of -0 a 0.
    PatternRewriter rewriter(&getContext());
    math::ErfPolynomialApproximation erf(&getContext());
    for (math::ErfOp op : collect<math::ErfOp>([](auto) { return true; })) {
      rewriter.setInsertionPointAfter(op);
      auto withSign =
          math::CopySignOp::create(rewriter, op.getLoc(), op.getResult(), op.getOperand());
      rewriter.replaceAllUsesExcept(op.getResult(), withSign, withSign);
      rewriter.setInsertionPoint(op);
      (void)erf.matchAndRewrite(op, rewriter);
    }
    // Quick versions are chosen by others.
    for (math::ExpOp op : collect<math::ExpOp>([](math::ExpOp op) {
           return isF32(op) && isLlvmType(op.getType()) &&
                  !bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
         }))
      expandExp(op);
    for (math::TanhOp op : collect<math::TanhOp>([](math::TanhOp op) {
           return isF32(op) && isLlvmType(op.getType()) &&
                  !bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
         }))
      expandTanh(op);
    expandQuotients(collect<arith::DivFOp>(isExpandedQuotient));
    expandTrees<arith::MaximumFOp, LLVM::MaxNumOp>();
    expandTrees<arith::MinimumFOp, LLVM::MinNumOp>();
    for (auto op : collect<arith::MaxNumFOp>([](auto) { return true; }))
      expandNumber<arith::MaxNumFOp, LLVM::MaxNumOp>(op);
    for (auto op : collect<arith::MinNumFOp>([](auto) { return true; }))
      expandNumber<arith::MinNumFOp, LLVM::MinNumOp>(op);
  }
};

} // namespace
