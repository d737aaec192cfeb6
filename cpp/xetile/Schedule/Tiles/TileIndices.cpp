//===- TileIndices.cpp - index arithmetic of a kernel --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: places, numbers and extents. Out: sums, products and quotients of indices, each once and
// before the loops that it does not depend on. Refused: places of expressions that are none.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "xetile/Schedule/Tiles/AtDepth.h"
#include "xetile/Schedule/Tiles/TileWriter.h"

using namespace mlir;

namespace xetile::transform_ops {

/// Kinds of keys besides those of values, whose first part is a pointer.
enum : int64_t {
  kNumber = 1,
  kSum,
  kProduct,
  kProductOfTwo,
  kDifference,
  kQuotient,
  kRemainder,
  kAtMost
};

static int64_t keyOf(Value value) { return reinterpret_cast<int64_t>(value.getAsOpaquePointer()); }

Value TileWriter::number(int64_t value) {
  Key key{kNumber, value};
  if (Value *known = find(key))
    return *known;
  AtDepth outermost(*this, 0);
  Value constant = arith::ConstantIndexOp::create(b, loc, value);
  if (value >= 0)
    highest[constant] = value;
  return scopes.back()->known[key] = constant;
}

Value TileWriter::addIndices(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  Key key{kSum, keyOf(x), keyOf(y)};
  if (Value *known = find(key))
    return *known;
  AtDepth depth(*this, std::max(depthOf(x), depthOf(y)));
  Value sum = b.createOrFold<arith::AddIOp>(loc, x, y);
  if (highest.contains(x) && highest.contains(y))
    highest[sum] = highest[x] + highest[y];
  return scopes.back()->known[key] = sum;
}

Value TileWriter::scaleIndex(Value x, int64_t by) {
  if (!x || by == 1)
    return x;
  Key key{kProduct, keyOf(x), by};
  if (Value *known = find(key))
    return *known;
  Value factor = number(by);
  AtDepth depth(*this, depthOf(x));
  Value product = b.createOrFold<arith::MulIOp>(loc, x, factor);
  if (by > 0 && highest.contains(x))
    highest[product] = highest[x] * by;
  return scopes.back()->known[key] = product;
}

Value TileWriter::multiplyIndices(Value x, Value y) {
  Key key{kProductOfTwo, keyOf(x), keyOf(y)};
  if (Value *known = find(key))
    return *known;
  AtDepth depth(*this, std::max(depthOf(x), depthOf(y)));
  return scopes.back()->known[key] = b.createOrFold<arith::MulIOp>(loc, x, y);
}

Extent TileWriter::product(Extent x, Extent y) {
  if (x.isKnown() && y.isKnown())
    return x.number * y.number;
  if (x.is(1) || y.is(1))
    return x.is(1) ? y : x;
  return Extent(multiplyIndices(asIndex(x), asIndex(y)));
}

/// Failure for what runs along a tile, in steps that a run knows.
FailureOr<Place> TileWriter::scale(const Place &x, Extent by) {
  if (by.isKnown())
    return scale(x, by.number);
  if (!x.isNumber())
    return failure();
  Place scaled;
  if (x.isZero())
    return scaled;
  OpFoldResult index = start(x);
  scaled.base = multiplyIndices(isa<Value>(index) ? cast<Value>(index) : number(x.shift), by.value);
  return scaled;
}

Place TileWriter::subtract(const Place &place, OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return add(place, Place::at(-*constant));
  auto by = cast<Value>(index);
  Value zero = number(0), from = place.base ? place.base : zero;
  Key key{kDifference, keyOf(from), keyOf(by)};
  Place result = place;
  if (Value *known = find(key)) {
    result.base = *known;
    return result;
  }
  AtDepth depth(*this, std::max(depthOf(from), depthOf(by)));
  result.base = scopes.back()->known[key] = b.createOrFold<arith::SubIOp>(loc, from, by);
  return result;
}

Value TileWriter::divideIndex(Value x, Extent by, bool remainder) {
  Value divisor = asIndex(by);
  Key key{remainder ? kRemainder : kQuotient, keyOf(x), keyOf(divisor)};
  if (Value *known = find(key))
    return *known;
  AtDepth depth(*this, std::max(depthOf(x), depthOf(divisor)));
  Value result = remainder ? b.createOrFold<arith::RemUIOp>(loc, x, divisor)
                           : b.createOrFold<arith::DivUIOp>(loc, x, divisor);
  if (by.isKnown() && (remainder || highest.contains(x)))
    highest[result] = remainder ? by.number - 1 : highest[x] / by.number;
  if (remainder && !by.isKnown())
    below[result] = by.value;
  return scopes.back()->known[key] = result;
}

Place TileWriter::add(const Place &x, const Place &y) {
  Place sum;
  sum.base = addIndices(x.base, y.base);
  sum.shift = x.shift + y.shift;
  for (unsigned role : {kRows, kColumns})
    sum.steps[role] = x.steps[role] + y.steps[role];
  return sum;
}

Place TileWriter::scale(const Place &x, int64_t by) {
  if (by == 0)
    return Place();
  Place product;
  product.base = scaleIndex(x.base, by);
  product.shift = x.shift * by;
  for (unsigned role : {kRows, kColumns})
    product.steps[role] = x.steps[role] * by;
  return product;
}

OpFoldResult TileWriter::start(const Place &place) {
  if (!place.base)
    return b.getIndexAttr(place.shift);
  return place.shift == 0 ? place.base : addIndices(place.base, number(place.shift));
}

Place TileWriter::inBounds(const Place &place, Extent extent) {
  if (!place.isNumber() || isInside(place, extent))
    return place;
  if (!place.base && extent.isKnown())
    return Place::at(std::clamp<int64_t>(place.shift, 0, extent.number - 1));
  OpFoldResult from = start(place);
  Value index = isa<Value>(from) ? cast<Value>(from) : number(place.shift);
  Value size = asIndex(extent);
  Key key{kAtMost, keyOf(index), keyOf(size)};
  Place result;
  if (Value *known = find(key)) {
    result.base = *known;
    return result;
  }
  // Of dimensions without elements: zero, and `view` says that nothing is there.
  Value last = extent.isKnown() ? number(extent.number - 1) : Value(), one = number(1);
  AtDepth depth(*this, std::max(depthOf(index), depthOf(size)));
  if (!last)
    last = arith::SubIOp::create(b, loc, arith::MaxUIOp::create(b, loc, size, one), one);
  // Below zero is far above, without a sign.
  result.base = scopes.back()->known[key] = b.createOrFold<arith::MinUIOp>(loc, index, last);
  if (extent.isKnown())
    highest[result.base] = extent.number - 1;
  return result;
}

bool TileWriter::divideExactly(Value index, int64_t by, Value &quotient) {
  quotient = {};
  if (!index)
    return true;
  if (std::optional<int64_t> constant = getConstantIntValue(index)) {
    if (*constant % by != 0)
      return false;
    quotient = number(*constant / by);
    return true;
  }
  if (auto product = index.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs());
        factor && *factor % by == 0) {
      quotient = scaleIndex(product.getLhs(), *factor / by);
      return true;
    }
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    Value left, right;
    if (!divideExactly(sum.getLhs(), by, left) || !divideExactly(sum.getRhs(), by, right))
      return false;
    quotient = addIndices(left, right);
    return true;
  }
  return false;
}

std::optional<std::pair<int64_t, int64_t>> TileWriter::rangeOf(const Place &place) const {
  int64_t least = place.shift, most = place.shift;
  if (place.base) {
    auto found = highest.find(place.base);
    if (found == highest.end())
      return std::nullopt;
    most += found->second;
  }
  for (unsigned role : {kRows, kColumns}) {
    int64_t last = place.steps[role] * (sizes[role] - 1);
    (last < 0 ? least : most) += last;
  }
  return std::pair(least, most);
}

bool TileWriter::isInside(const Place &place, Extent extent) const {
  if (!extent.isKnown())
    return place.isNumber() && place.base && place.shift == 0 &&
           below.lookup(place.base) == extent.value;
  auto bounds = rangeOf(place);
  return bounds && bounds->first >= 0 && bounds->second < extent.number;
}

bool TileWriter::isOutside(const Place &place, Extent extent) const {
  auto bounds = extent.isKnown() ? rangeOf(place) : std::nullopt;
  return bounds && (bounds->second < 0 || bounds->first >= extent.number);
}

FailureOr<Place> TileWriter::placeOf(AffineExpr expr, ArrayRef<Place> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Place::at(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  FailureOr<Place> left = placeOf(binary.getLHS(), dims), right = placeOf(binary.getRHS(), dims);
  if (failed(left) || failed(right))
    return failure();
  if (expr.getKind() == AffineExprKind::Add)
    return add(*left, *right);
  if (!right->isNumber() || right->base)
    return failure();
  if (expr.getKind() == AffineExprKind::Mul)
    return scale(*left, right->shift);
  bool remainder = expr.getKind() == AffineExprKind::Mod;
  if (!left->isNumber() || right->shift <= 0 || expr.getKind() == AffineExprKind::CeilDiv)
    return failure();
  if (!left->base)
    return Place::at(remainder ? llvm::mod(left->shift, right->shift)
                               : llvm::divideFloorSigned(left->shift, right->shift));
  // Unsigned quotients are those of indices from zero on.
  if (left->shift < 0 || mayBeNegative(binary.getLHS()))
    return failure();
  Place result;
  result.base = divideIndex(cast<Value>(start(*left)), right->shift, remainder);
  return result;
}

FailureOr<Place> TileWriter::placeOf(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return Place::at(*constant);
  Place place;
  auto value = cast<Value>(index);
  place.base = variables.lookup(value);
  // A number that the function computes before the kernel.
  if (!place.base && value.getParentBlock() == workgroups->getBlock())
    place.base = value;
  if (!place.base)
    return failure();
  return place;
}

} // namespace xetile::transform_ops
