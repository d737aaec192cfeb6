//===- TileWriter.cpp - depths, indices, and vectors that meet ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: places, vectors of R x C. Out: index arithmetic, masks, repeated vectors, loops. Refused:
// nothing; what is written before a loop does not depend on it.
#include "xetile/Schedule/Tiles/TileWriter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Tiles/AtDepth.h"

using namespace mlir;

namespace xetile::transform_ops {

TileWriter::TileWriter(OpBuilder &b, Operation *workgroups, const TilePlan &plan)
    : b(b), loc(workgroups->getLoc()), workgroups(workgroups), plan(plan), sizes(plan.tile) {
  scopes.push_back(std::make_unique<Scope>());
}

LogicalResult TileWriter::refuse(Operation *op, const Twine &reason) {
  if (!where) {
    where = op;
    why = reason.str();
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Depths of loops
//===----------------------------------------------------------------------===//

size_t TileWriter::depthOf(Value value) const {
  if (!value)
    return 0;
  for (size_t i = scopes.size() - 1; i > 0; --i)
    if (scopes[i]->loop.getBodyRegion().isAncestor(value.getParentRegion()))
      return i;
  return 0;
}

size_t TileWriter::depthOf(ArrayRef<Place> places) const {
  size_t depth = 0;
  for (const Place &place : places)
    depth = std::max(depth, depthOf(place.base));
  return depth;
}

/// Depth of the loop on tensors that `tensor` is computed in: it may depend on what is carried.
size_t TileWriter::depthOfTensor(Value tensor) const {
  for (size_t i = scopes.size() - 1; i > 0; --i)
    if (scopes[i]->source && scopes[i]->source.getBodyRegion().isAncestor(tensor.getParentRegion()))
      return i;
  return 0;
}

void TileWriter::append(Key &key, ArrayRef<Place> places) const {
  for (const Place &place : places) {
    key.push_back(reinterpret_cast<int64_t>(place.base.getAsOpaquePointer()));
    llvm::append_values(key, place.shift, place.steps[kRows], place.steps[kColumns]);
    for (unsigned role : {kRows, kColumns})
      key.push_back(place.steps[role] == 0 ? 0 : sizes[role]);
  }
}

Value *TileWriter::find(const Key &key) {
  for (auto &scope : llvm::reverse(scopes))
    if (auto found = scope->known.find(key); found != scope->known.end())
      return &found->second;
  return nullptr;
}

FailureOr<Value> TileWriter::carry(int64_t extent, int64_t step, Value init,
                                   llvm::function_ref<FailureOr<Value>(Value, Value)> body) {
  Value from = number(0), to = number(extent), by = number(step);
  auto loop = scf::ForOp::create(b, loc, from, to, by, init ? ValueRange(init) : ValueRange());
  OpBuilder::InsertionGuard guard(b);
  if (init)
    b.setInsertionPointToStart(loop.getBody());
  else
    b.setInsertionPoint(loop.getBody()->getTerminator());
  scopes.push_back(std::make_unique<Scope>());
  scopes.back()->loop = loop;
  scopes.back()->reduces = init != nullptr;
  highest[loop.getInductionVar()] = (extent - 1) / step * step;
  FailureOr<Value> next =
      body(loop.getInductionVar(), init ? Value(loop.getRegionIterArg(0)) : Value());
  if (succeeded(next) && init)
    scf::YieldOp::create(b, loc, *next);
  scopes.pop_back();
  if (failed(next))
    return failure();
  return init ? Value(loop.getResult(0)) : Value();
}

LogicalResult TileWriter::inLoop(int64_t extent, int64_t step,
                                 llvm::function_ref<LogicalResult(Value)> write) {
  return carry(extent, step, Value(), [&](Value variable, Value) -> FailureOr<Value> {
    if (failed(write(variable)))
      return failure();
    return Value();
  });
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Kinds of keys besides those of values, whose first part is a pointer.
enum : int64_t { kNumber = 1, kSum, kProduct, kQuotient, kRemainder, kAtMost };

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

Value TileWriter::divideIndex(Value x, int64_t by, bool remainder) {
  Key key{remainder ? kRemainder : kQuotient, keyOf(x), by};
  if (Value *known = find(key))
    return *known;
  Value divisor = number(by);
  AtDepth depth(*this, depthOf(x));
  Value result = remainder ? b.createOrFold<arith::RemUIOp>(loc, x, divisor)
                           : b.createOrFold<arith::DivUIOp>(loc, x, divisor);
  if (remainder || highest.contains(x))
    highest[result] = remainder ? by - 1 : highest[x] / by;
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

Place TileWriter::inBounds(const Place &place, int64_t extent) {
  if (!place.isNumber())
    return place;
  if (!place.base)
    return Place::at(std::clamp<int64_t>(place.shift, 0, extent - 1));
  auto index = cast<Value>(start(place));
  Key key{kAtMost, keyOf(index), extent};
  Place result;
  if (Value *known = find(key)) {
    result.base = *known;
    return result;
  }
  Value last = number(extent - 1);
  AtDepth depth(*this, depthOf(index));
  // Below zero is far above, without a sign.
  result.base = scopes.back()->known[key] = b.createOrFold<arith::MinUIOp>(loc, index, last);
  highest[result.base] = extent - 1;
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

bool TileWriter::isInside(const Place &place, int64_t extent) const {
  int64_t least = place.shift, most = place.shift;
  if (place.base) {
    auto found = highest.find(place.base);
    if (found == highest.end())
      return false;
    most += found->second;
  }
  for (unsigned role : {kRows, kColumns}) {
    int64_t last = place.steps[role] * (sizes[role] - 1);
    (last < 0 ? least : most) += last;
  }
  return least >= 0 && most < extent;
}

/// True if a part of `expr` may be negative although all dimensions are not.
static bool mayBeNegative(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    if (auto constant = dyn_cast<AffineConstantExpr>(part))
      found |= constant.getValue() < 0;
  });
  return found;
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
  place.base = variables.lookup(cast<Value>(index));
  if (!place.base)
    return failure();
  return place;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Value vector) {
  return cast<VectorType>(vector.getType()).getShape();
}

Value TileWriter::splat(TypedAttr value, ArrayRef<int64_t> shape) {
  auto type = VectorType::get(shape, value.getType());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
}

Value TileWriter::indexSplat(int64_t value, ArrayRef<int64_t> shape) {
  return splat(b.getIndexAttr(value), shape);
}

WgMapAttr TileWriter::mapOf(ArrayRef<int64_t> shape) const {
  if (plan.layout[0] * plan.layout[1] == 1)
    return {};
  std::array<int64_t, 2> data;
  for (unsigned role : {kRows, kColumns})
    data[role] = std::max<int64_t>(1, shape[role] / plan.layout[role]);
  return WgMapAttr::get(b.getContext(), plan.layout, data);
}

Value TileWriter::repeat(Value vector, ArrayRef<int64_t> shape) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getShape() == shape)
    return vector;
  DenseElementsAttr constant;
  if (matchPattern(vector, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(
        b, loc, constant.resizeSplat(VectorType::get(shape, type.getElementType())));
  SmallVector<int64_t> now(type.getShape());
  for (int64_t dim : {0, 1}) {
    if (now[dim] == shape[dim])
      continue;
    now[dim] = shape[dim];
    bool whole = shares && now[0] == size(kRows) && now[1] == size(kColumns);
    vector = TileBroadcastOp::create(b, loc, VectorType::get(now, type.getElementType()), vector,
                                     ArrayRef<int64_t>(dim), whole ? mapOf(now) : WgMapAttr());
  }
  return vector;
}

SmallVector<int64_t> TileWriter::meet(MutableArrayRef<Value> vectors) {
  SmallVector<int64_t> shape{1, 1};
  for (Value vector : vectors)
    for (unsigned dim : {0, 1})
      shape[dim] = std::max(shape[dim], shapeOf(vector)[dim]);
  for (Value &vector : vectors)
    vector = repeat(vector, shape);
  return shape;
}

Value TileWriter::addVectors(Value x, Value y) {
  std::array<Value, 2> both = {x, y};
  meet(both);
  return arith::AddIOp::create(b, loc, both[0], both[1]);
}

Value TileWriter::indices(const Place &place) {
  OpFoldResult from = start(place);
  Value result;
  if (auto base = dyn_cast<Value>(from))
    result = vector::BroadcastOp::create(b, loc, VectorType::get({1, 1}, b.getIndexType()), base);
  else if (place.shift != 0 || place.isNumber())
    result = indexSplat(place.shift, {1, 1});
  for (Role role : {kRows, kColumns}) {
    if (place.steps[role] == 0)
      continue;
    SmallVector<int64_t> shape{1, 1};
    shape[role] = size(role);
    Value steps = vector::StepOp::create(b, loc, VectorType::get({size(role)}, b.getIndexType()));
    Value vector =
        vector::ShapeCastOp::create(b, loc, VectorType::get(shape, b.getIndexType()), steps);
    if (place.steps[role] != 1)
      vector = arith::MulIOp::create(b, loc, vector, indexSplat(place.steps[role], shape));
    result = result ? addVectors(vector, result) : vector;
  }
  return result;
}

FailureOr<Value> TileWriter::indices(AffineExpr expr, unsigned numDims, ArrayRef<Value> operands) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return indexSplat(constant.getValue(), {1, 1});
  auto binary = cast<AffineBinaryOpExpr>(expr);
  FailureOr<Value> left = indices(binary.getLHS(), numDims, operands),
                   right = indices(binary.getRHS(), numDims, operands);
  if (failed(left) || failed(right))
    return failure();
  std::array<Value, 2> both = {*left, *right};
  meet(both);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return Value(arith::AddIOp::create(b, loc, both[0], both[1]));
  case AffineExprKind::Mul:
    return Value(arith::MulIOp::create(b, loc, both[0], both[1]));
  case AffineExprKind::FloorDiv:
    if (mayBeNegative(expr))
      return failure();
    return Value(arith::DivUIOp::create(b, loc, both[0], both[1]));
  case AffineExprKind::Mod:
    if (mayBeNegative(expr))
      return failure();
    return Value(arith::RemUIOp::create(b, loc, both[0], both[1]));
  default:
    return failure();
  }
}

Value TileWriter::isBelow(Value indices, int64_t bound) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, indices,
                               indexSplat(bound, shapeOf(indices)));
}

Value TileWriter::both(Value mask, Value other) {
  if (!mask)
    return other;
  std::array<Value, 2> masks = {mask, other};
  meet(masks);
  return arith::AndIOp::create(b, loc, masks[0], masks[1]);
}

Value TileWriter::select(Value mask, Value yes, Value no) {
  std::array<Value, 3> all = {mask, yes, no};
  meet(all);
  return arith::SelectOp::create(b, loc, all[0], all[1], all[2]);
}

} // namespace xetile::transform_ops
