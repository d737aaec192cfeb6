//===- RelaxNarrowed.cpp - functions of which only bf16 or f16 is kept ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels of workgroup-level XeTile. Out: `afn` at powers, `arcp` at quotients of f32 that come
// to nothing but values of 16 bits or fewer. Refused: nothing.
//
// A power by one product and ex2.approx is off by 2^-24 of its exponent, a quotient by div.full by
// two units in the last place: none of it is left of 11 bits, unless a difference of two such
// numbers has taken away what they share. So their uses are followed through what keeps relative
// errors; where a difference, a comparison, another function or memory of f32 comes first, they
// stay exact. A constant may be added to a power: what cancels then is near 1, where the exponent
// is small.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Nvidia/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_RELAXNARROWED
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// True for powers and sums of them, of which none takes anything away from another.
bool isPositive(Value value) {
  if (auto reduce = value.getDefiningOp<TileReduceOp>())
    return reduce.getKind() == vector::CombiningKind::ADD && isPositive(reduce.getVector());
  return isa_and_present<math::ExpOp>(value.getDefiningOp());
}

/// The uses of a value, followed to what is kept of it.
class Uses {
public:
  /// With `withConstants` sums with constants are followed, too.
  explicit Uses(bool withConstants) : withConstants(withConstants) {}

  /// True if nothing but floats of 16 bits or fewer is made of `value`, if anything is.
  bool areNarrowed(Value value) {
    // A loop may give a value back to itself.
    if (!seen.insert(value).second)
      return true;
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return isNarrowed(use); });
  }

private:
  bool isNarrowed(OpOperand &use) {
    Operation *user = use.getOwner();
    // Of f32, to fewer bits.
    if (isa<arith::TruncFOp>(user))
      return true;
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      BlockArgument inside = loop.getTiedLoopRegionIterArg(&use);
      return inside && areNarrowed(inside) && areNarrowed(loop.getTiedLoopResult(inside));
    }
    if (auto yield = dyn_cast<scf::YieldOp>(user)) {
      auto loop = dyn_cast<scf::ForOp>(yield->getParentOp());
      unsigned number = use.getOperandNumber();
      return loop && areNarrowed(loop.getResult(number)) &&
             areNarrowed(loop.getRegionIterArg(number));
    }
    return keepsErrors(user) && areNarrowed(user->getResult(0));
  }

  /// True if relative errors of the result are those of the operands.
  bool keepsErrors(Operation *op) const {
    if (isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
            arith::MaxNumFOp, arith::MinNumFOp, arith::SelectOp, vector::BroadcastOp,
            vector::ShapeCastOp, TileBroadcastOp, TileConvLayoutOp>(op))
      return true;
    // A sum of what may have either sign is a difference.
    if (auto reduce = dyn_cast<TileReduceOp>(op))
      return reduce.getKind() != vector::CombiningKind::ADD || isPositive(reduce.getVector());
    return withConstants && isa<arith::AddFOp, arith::SubFOp>(op) &&
           llvm::any_of(op->getOperands(),
                        [](Value operand) { return matchPattern(operand, m_Constant()); });
  }

  llvm::SmallDenseSet<Value> seen;
  bool withConstants;
};

template <typename OpTy> void relax(OpTy op, arith::FastMathFlags flag, bool withConstants) {
  if (getElementTypeOrSelf(op.getType()).isF32() && !op->use_empty() &&
      Uses(withConstants).areNarrowed(op.getResult()))
    op.setFastmath(op.getFastmath() | flag);
}

struct RelaxNarrowed : xetile::impl::RelaxNarrowedBase<RelaxNarrowed> {
  using RelaxNarrowedBase::RelaxNarrowedBase;

  void runOnOperation() override {
    getOperation().walk(
        [](math::ExpOp op) { relax(op, arith::FastMathFlags::afn, /*withConstants=*/true); });
    getOperation().walk(
        [](arith::DivFOp op) { relax(op, arith::FastMathFlags::arcp, /*withConstants=*/false); });
  }
};

} // namespace
