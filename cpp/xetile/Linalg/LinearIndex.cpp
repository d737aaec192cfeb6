//===- LinearIndex.cpp - integers that are sums of indices --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a scalar in the body of a linalg op. Out: factors of the loops' indices and a constant, with
// the range that follows. Refused: other arithmetic, and whatever may wrap around.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/LinearIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xetile;

static LinearIndex scaled(LinearIndex index, int64_t by) {
  for (int64_t &factor : index.factors)
    factor *= by;
  index.constant *= by;
  index.least *= by;
  index.most *= by;
  if (by < 0)
    std::swap(index.least, index.most);
  return index;
}

static LinearIndex sum(LinearIndex index, const LinearIndex &other) {
  for (auto [factor, more] : llvm::zip_equal(index.factors, other.factors))
    factor += more;
  index.constant += other.constant;
  index.least += other.least;
  index.most += other.most;
  return index;
}

LinearIndex LinearIndex::minus(const LinearIndex &other) const {
  return sum(*this, scaled(other, -1));
}

/// True if `type`, and i32, have all of its numbers, with their signs.
static bool holds(Type type, const LinearIndex &index) {
  int64_t bits = type.isIndex() ? 32 : std::min<int64_t>(32, type.getIntOrFloatBitWidth());
  return index.least >= llvm::minIntN(bits) && index.most <= llvm::maxIntN(bits);
}

static std::optional<LinearIndex> combine(linalg::LinalgOp op, Operation *by) {
  if (!isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp, arith::IndexCastUIOp,
           arith::ExtUIOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(by))
    return std::nullopt;
  std::optional<LinearIndex> left = linearIndexOf(op, by->getOperand(0));
  if (!left)
    return std::nullopt;
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(by))
    return left;
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(by))
    return left->least >= 0 ? left : std::nullopt;
  std::optional<LinearIndex> right = linearIndexOf(op, by->getOperand(1));
  if (!right)
    return std::nullopt;
  if (isa<arith::AddIOp>(by))
    return sum(*left, *right);
  if (isa<arith::SubIOp>(by))
    return left->minus(*right);
  // Of two numbers of 32 bits the product has 64.
  if (right->least == right->most)
    return scaled(*left, right->constant);
  return left->least == left->most ? scaled(*right, left->constant) : std::optional<LinearIndex>();
}

std::optional<LinearIndex> xetile::linearIndexOf(linalg::LinalgOp op, Value scalar) {
  LinearIndex index;
  index.factors.assign(op.getNumLoops(), 0);
  Operation *by = scalar.getDefiningOp();
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant))) {
    if (constant.getSignificantBits() > 32 || constant.getBitWidth() == 1)
      return std::nullopt;
    index.constant = index.least = index.most = constant.getSExtValue();
    return index;
  }
  if (!by || by->getBlock() != op.getBlock() || !scalar.getType().isIntOrIndex() ||
      scalar.getType().isInteger(1))
    return std::nullopt;
  if (auto loop = dyn_cast<linalg::IndexOp>(by)) {
    int64_t extent = op.getStaticLoopRanges()[loop.getDim()];
    if (extent < 1 || extent > llvm::maxIntN(32)) // what only the run knows is below
      return std::nullopt;
    index.factors[loop.getDim()] = 1;
    index.most = extent - 1;
    return index;
  }
  std::optional<LinearIndex> result = combine(op, by);
  return result && holds(scalar.getType(), *result) ? result : std::nullopt;
}
