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

TileWriter::TileWriter(OpBuilder &b, Operation *workgroups, const TilePlan &plan,
                       TileSizes &extents)
    : b(b), loc(workgroups->getLoc()), workgroups(workgroups), plan(plan), extents(extents),
      sizes(plan.tile) {
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

FailureOr<Value> TileWriter::carry(Extent extent, int64_t step, Value init,
                                   llvm::function_ref<FailureOr<Value>(Value, Value)> body) {
  Value from = number(0), to = asIndex(extent), by = number(step);
  auto loop = scf::ForOp::create(b, loc, from, to, by, init ? ValueRange(init) : ValueRange());
  OpBuilder::InsertionGuard guard(b);
  if (init)
    b.setInsertionPointToStart(loop.getBody());
  else
    b.setInsertionPoint(loop.getBody()->getTerminator());
  scopes.push_back(std::make_unique<Scope>());
  scopes.back()->loop = loop;
  scopes.back()->reduces = init != nullptr;
  if (extent.isKnown())
    highest[loop.getInductionVar()] = (extent.number - 1) / step * step;
  else
    below[loop.getInductionVar()] = extent.value;
  FailureOr<Value> next =
      body(loop.getInductionVar(), init ? Value(loop.getRegionIterArg(0)) : Value());
  if (succeeded(next) && init)
    scf::YieldOp::create(b, loc, *next);
  scopes.pop_back();
  if (failed(next))
    return failure();
  return init ? Value(loop.getResult(0)) : Value();
}

LogicalResult TileWriter::inLoop(Extent extent, int64_t step,
                                 llvm::function_ref<LogicalResult(Value)> write) {
  return carry(extent, step, Value(), [&](Value variable, Value) -> FailureOr<Value> {
    if (failed(write(variable)))
      return failure();
    return Value();
  });
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
  for (unsigned role : {kRows, kColumns}) {
    int64_t size = shape[role], subgroups = plan.layout[role];
    // A side that cannot be shared out evenly each subgroup has whole, as k of a factor among
    // three.
    data[role] = size % subgroups == 0 ? size / subgroups : subgroups % size == 0 ? 1 : size;
  }
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

bool mayBeNegative(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    if (auto constant = dyn_cast<AffineConstantExpr>(part))
      found |= constant.getValue() < 0;
  });
  return found;
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

Value TileWriter::extentSplat(Extent extent, ArrayRef<int64_t> shape) {
  if (extent.isKnown())
    return indexSplat(extent.number, shape);
  return vector::BroadcastOp::create(b, loc, VectorType::get(shape, b.getIndexType()),
                                     extent.value);
}

Value TileWriter::isBelow(Value indices, Extent bound) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, indices,
                               extentSplat(bound, shapeOf(indices)));
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
