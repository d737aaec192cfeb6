//===- KnownMultiple.cpp - what divides a value that only the run knows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an integer, an index or a memref. Out: a number that divides it, or its address.
// Refused: nothing; 1 is always right.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/KnownMultiple.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "xetile/IR/XeTileTypes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace {

/// Rules are homogeneous: from multiples of g they make multiples of g. So a value that a loop
/// carries may be taken for zero while what is added to it is looked at.
class MultipleFinder {
public:
  uint64_t of(OpFoldResult value) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return llvm::AbsoluteValue(*constant);
    auto dynamic = dyn_cast<Value>(value);
    if (!dynamic || ++visits > maxVisits)
      return 1;
    if (!open.insert(dynamic).second)
      return 0;
    uint64_t result = ofValue(dynamic);
    open.erase(dynamic);
    return result;
  }

private:
  static constexpr unsigned maxVisits = 500;

  static uint64_t multiply(uint64_t a, uint64_t b) {
    bool overflowed = false;
    uint64_t product = llvm::SaturatingMultiply(a, b, &overflowed);
    // Wraparound keeps factors of two.
    return overflowed ? uint64_t(1) << std::min(63, llvm::countr_zero(a) + llvm::countr_zero(b))
                      : product;
  }

  uint64_t ofAll(ValueRange values) {
    uint64_t result = 0;
    for (Value value : values)
      result = std::gcd(result, of(value));
    return result;
  }

  uint64_t ofExpr(AffineExpr expr, ValueRange dims, ValueRange symbols) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return llvm::AbsoluteValue(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return of(dims[dim.getPosition()]);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return of(symbols[symbol.getPosition()]);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    uint64_t left = ofExpr(binary.getLHS(), dims, symbols);
    uint64_t right = ofExpr(binary.getRHS(), dims, symbols);
    switch (binary.getKind()) {
    case AffineExprKind::Add:
    case AffineExprKind::Mod:
      return std::gcd(left, right);
    case AffineExprKind::Mul:
      return multiply(left, right);
    default:
      return 1;
    }
  }

  uint64_t ofArgument(BlockArgument argument) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return 1;
    if (argument == loop.getInductionVar())
      return std::gcd(of(loop.getLowerBound()), of(loop.getStep()));
    unsigned index = argument.getArgNumber() - loop.getNumInductionVars();
    return std::gcd(of(loop.getInitArgs()[index]), of(loop.getYieldedValues()[index]));
  }

  uint64_t ofValue(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument);
    Operation *op = value.getDefiningOp();
    if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp,
            arith::MaxUIOp, arith::RemSIOp, arith::RemUIOp>(op))
      return ofAll(op->getOperands());
    // Narrowing keeps what the low bits say, and wraps around other factors.
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>(op)) {
      uint64_t from = of(op->getOperand(0));
      bool isWide = isa<arith::ExtSIOp, arith::ExtUIOp>(op);
      return isWide || from == 0 ? from : from & -from;
    }
    if (isa<arith::MulIOp>(op))
      return multiply(of(op->getOperand(0)), of(op->getOperand(1)));
    if (auto shift = dyn_cast<arith::ShLIOp>(op))
      if (std::optional<int64_t> bits = getConstantIntValue(shift.getRhs()); bits && *bits < 63)
        return multiply(of(shift.getLhs()), uint64_t(1) << *bits);
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return ofAll({select.getTrueValue(), select.getFalseValue()});
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
      unsigned dims = apply.getAffineMap().getNumDims();
      return ofExpr(apply.getAffineMap().getResult(0), apply.getMapOperands().take_front(dims),
                    apply.getMapOperands().drop_front(dims));
    }
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return std::gcd(of(loop.getInitArgs()[index]), of(loop.getYieldedValues()[index]));
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return std::gcd(of(branch.thenYield().getOperand(index)),
                      of(branch.elseYield().getOperand(index)));
    if (auto pointer = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op))
      return xetile::getKnownAlignment(pointer.getSource(), /*ofBuffer=*/64);
    return 1;
  }

  llvm::SmallDenseSet<Value> open;
  unsigned visits = 0;
};
} // namespace

uint64_t xetile::getKnownMultiple(OpFoldResult value) { return MultipleFinder().of(value); }

uint64_t xetile::getKnownAlignment(Value memref, uint64_t ofBuffer) {
  auto type = cast<MemRefType>(memref.getType());
  uint64_t bytes = memoryBits(type.getElementType()) / 8;
  Operation *op = memref.getDefiningOp();
  if (auto view = dyn_cast_or_null<memref::SubViewOp>(op)) {
    SmallVector<int64_t> strides;
    int64_t unused;
    uint64_t result = getKnownAlignment(view.getSource(), ofBuffer);
    if (failed(view.getSourceType().getStridesAndOffset(strides, unused)))
      return 1;
    for (auto [offset, stride] : llvm::zip_equal(view.getMixedOffsets(), strides)) {
      uint64_t step = ShapedType::isDynamic(stride) ? 1 : llvm::AbsoluteValue(stride);
      result = std::gcd(result, getKnownMultiple(offset) * step * bytes);
    }
    return result;
  }
  if (auto view = dyn_cast_or_null<memref::ViewOp>(op))
    return std::gcd(getKnownAlignment(view.getSource(), ofBuffer),
                    getKnownMultiple(view.getByteShift()));
  if (auto cast = dyn_cast_or_null<memref::CastOp>(op))
    return getKnownAlignment(cast.getSource(), ofBuffer);
  if (isa_and_present<memref::CollapseShapeOp, memref::ExpandShapeOp, memref::TransposeOp>(op))
    return getKnownAlignment(op->getOperand(0), ofBuffer);
  SmallVector<int64_t> strides;
  int64_t offset = ShapedType::kDynamic;
  if (failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset))
    return bytes ? bytes : 1;
  return std::gcd(ofBuffer, uint64_t(offset) * bytes);
}
