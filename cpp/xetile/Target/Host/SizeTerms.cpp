//===- SizeTerms.cpp - sizes as a caller of a function can compute them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: indices and sizes of tensors anywhere in a function. Out: ops on its arguments' sizes (and on
// elements of arguments) that give the same numbers, and a text for messages.
// Refused, without an error: numbers that depend on what the function computes.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/SizeTerms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace xetile;

static MLIRContext *contextOf(const SizeLeaf &leaf) {
  if (leaf.tensor)
    return leaf.tensor.getContext();
  auto value = dyn_cast<Value>(leaf.index);
  return value ? value.getContext() : cast<Attribute>(leaf.index).getContext();
}

SizeExpr::SizeExpr(SizeLeaf leaf) : expr(getAffineDimExpr(0, contextOf(leaf))), leaves({leaf}) {}

static std::optional<int64_t> constantOf(const SizeLeaf &leaf) {
  if (!leaf.tensor)
    return getConstantIntValue(leaf.index);
  auto type = cast<RankedTensorType>(leaf.tensor.getType());
  if (type.isDynamicDim(leaf.dim))
    return std::nullopt;
  return type.getDimSize(leaf.dim);
}

std::optional<int64_t> SizeExpr::constant() const {
  SmallVector<AffineExpr> values;
  for (const SizeLeaf &leaf : leaves) {
    std::optional<int64_t> value = constantOf(leaf);
    values.push_back(value ? getAffineConstantExpr(*value, expr.getContext())
                           : getAffineDimExpr(values.size(), expr.getContext()));
  }
  auto folded =
      dyn_cast<AffineConstantExpr>(simplifyAffineExpr(expr.replaceDims(values), leaves.size(), 0));
  if (!folded)
    return std::nullopt;
  return folded.getValue();
}

ValueBoundsConstraintSet::Variable SizeExpr::variable() const {
  SmallVector<ValueBoundsConstraintSet::Variable> operands;
  for (const SizeLeaf &leaf : leaves)
    if (leaf.tensor)
      operands.emplace_back(leaf.tensor, leaf.dim);
    else
      operands.emplace_back(leaf.index);
  return {AffineMap::get(leaves.size(), 0, expr), operands};
}

/// Texts in messages stay readable.
static std::string combine(const std::string &left, StringRef sign, const std::string &right) {
  constexpr size_t kLongest = 160;
  if (left.size() + right.size() > kLongest)
    return "a computed size";
  return left + sign.str() + right;
}

static std::string describe(AffineExpr expr, ArrayRef<std::string> texts) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return texts[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return "a computed size";
  auto side = [&](AffineExpr part) {
    std::string text = describe(part, texts);
    bool isSum = part.getKind() == AffineExprKind::Add && expr.getKind() != AffineExprKind::Add;
    return isSum ? "(" + text + ")" : text;
  };
  StringRef sign = expr.getKind() == AffineExprKind::Add        ? " + "
                   : expr.getKind() == AffineExprKind::Mul      ? " * "
                   : expr.getKind() == AffineExprKind::Mod      ? " mod "
                   : expr.getKind() == AffineExprKind::FloorDiv ? " floordiv "
                                                                : " ceildiv ";
  return combine(side(binary.getLHS()), sign, side(binary.getRHS()));
}

SizeTerms::SizeTerms(OpBuilder &builder, func::FuncOp function, ValueRange arguments,
                     ArrayRef<SmallVector<Value>> sizes)
    : b(builder), function(function), arguments(arguments), sizes(sizes) {
  push();
}

SizeTerm SizeTerms::number(int64_t value) {
  return {arith::ConstantIndexOp::create(b, function.getLoc(), value), std::to_string(value)};
}

void SizeTerms::define(Value index, Value here, StringRef text) {
  scopes.back()[{index, -1}] = SizeTerm{here, text.str()};
}

template <typename Compute> std::optional<SizeTerm> SizeTerms::remember(Key key, Compute compute) {
  for (auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  std::optional<SizeTerm> term = compute();
  return scopes.back()[key] = term;
}

std::optional<SizeTerm> SizeTerms::of(const SizeExpr &expr) {
  if (std::optional<int64_t> known = expr.constant())
    return number(*known);
  SmallVector<Value> values;
  SmallVector<std::string> texts;
  for (const SizeLeaf &leaf : expr.leaves) {
    std::optional<SizeTerm> term;
    if (std::optional<int64_t> known = constantOf(leaf))
      term = number(*known);
    else
      term = leaf.tensor ? sizeOf(leaf.tensor, leaf.dim) : of(cast<Value>(leaf.index));
    if (!term)
      return std::nullopt;
    values.push_back(term->value);
    texts.push_back(term->text);
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr.expr))
    return SizeTerm{values[dim.getPosition()], texts[dim.getPosition()]};
  return SizeTerm{affine::expandAffineExpr(b, function.getLoc(), expr.expr, values, {}),
                  describe(expr.expr, texts)};
}

std::optional<SizeTerm> SizeTerms::of(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64) {
    Type type = index.getType();
    Value value =
        arith::ConstantOp::create(b, function.getLoc(), type, b.getIntegerAttr(type, constant));
    return SizeTerm{value, std::to_string(constant.getSExtValue())};
  }
  return remember({index, -1}, [&] { return compute(index); });
}

std::optional<SizeTerm> SizeTerms::sizeOf(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return number(type.getDimSize(dim));
  return remember({tensor, dim}, [&]() -> std::optional<SizeTerm> {
    if (auto result = dyn_cast<OpResult>(tensor))
      return sizeOfResult(result, dim);
    auto argument = cast<BlockArgument>(tensor);
    if (argument.getOwner() != &function.front())
      return sizeOfRegionArgument(argument, dim);
    unsigned number = argument.getArgNumber();
    return SizeTerm{sizes[number][dim],
                    "argument " + std::to_string(number) + ", dimension " + std::to_string(dim)};
  });
}

/// Loops carry tensors of one size: what they yield is checked.
std::optional<SizeTerm> SizeTerms::sizeOfRegionArgument(BlockArgument tensor, int64_t dim) {
  Operation *parent = tensor.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return sizeOf(loop.getTiedLoopInit(tensor)->get(), dim);
  if (auto loop = dyn_cast<scf::ForallOp>(parent))
    return sizeOf(loop.getTiedOpOperand(tensor)->get(), dim);
  return std::nullopt;
}

std::optional<SizeTerm> SizeTerms::choose(Value condition, std::optional<SizeTerm> yes,
                                          std::optional<SizeTerm> no) {
  std::optional<SizeTerm> which = of(condition);
  if (!which || !yes || !no)
    return std::nullopt;
  return SizeTerm{
      arith::SelectOp::create(b, function.getLoc(), which->value, yes->value, no->value),
      combine(yes->text, " or ", no->text)};
}

std::optional<SizeTerm> SizeTerms::sizeOfResult(OpResult tensor, int64_t dim) {
  Operation *op = tensor.getOwner();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return sizeOf(destination.getTiedOpOperand(tensor)->get(), dim);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return sizeOf(loop.getTiedLoopInit(tensor)->get(), dim);
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return sizeOf(loop.getTiedOpOperand(tensor)->get(), dim);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return choose(branch.getCondition(),
                  sizeOf(branch.thenYield().getOperand(tensor.getResultNumber()), dim),
                  sizeOf(branch.elseYield().getOperand(tensor.getResultNumber()), dim));
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType()) ? sizeOf(cast.getSource(), dim)
                                                             : std::optional<SizeTerm>();
  if (auto bitcast = dyn_cast<tensor::BitcastOp>(op))
    return sizeOf(bitcast.getSource(), dim);
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value operand : llvm::reverse(op->getOperands()))
      if (isa<RankedTensorType>(operand.getType()))
        return sizeOf(operand, dim);
    return std::nullopt;
  }
  OpBuilder before(op);
  ReifiedRankedShapedTypeDims shapes;
  if (!isa<ReifyRankedShapedTypeOpInterface>(op) || failed(reifyResultShapes(before, op, shapes)))
    return std::nullopt;
  OpFoldResult size = shapes[tensor.getResultNumber()][dim];
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return number(*known);
  return of(cast<Value>(size));
}

/// An element of an argument: no other memory is there before the call.
std::optional<SizeTerm> SizeTerms::element(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  auto argument = dyn_cast<BlockArgument>(extract.getTensor());
  if (!argument || argument.getOwner() != &function.front() || !allowed)
    return std::nullopt;
  Location loc = op->getLoc();
  SmallVector<Value> indices;
  std::string text;
  for (Value index : extract.getIndices()) {
    std::optional<SizeTerm> term = of(index);
    if (!term)
      return std::nullopt;
    indices.push_back(term->value);
    text += (text.empty() ? " [" : ", ") + term->text;
  }
  Value memory = arguments[argument.getArgNumber()];
  auto load = [&]() -> Value {
    Value loaded = memref::LoadOp::create(b, loc, memory, indices);
    if (!op->getResult(0).getType().isInteger(1))
      return loaded;
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 8);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, loaded, zero);
  };
  std::string name = "argument " + std::to_string(argument.getArgNumber());
  if (indices.empty())
    return SizeTerm{load(), name};
  Type type = op->getResult(0).getType();
  auto guarded = scf::IfOp::create(b, loc, TypeRange(type), allowed(), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(guarded.thenBlock());
    scf::YieldOp::create(b, loc, load());
    b.setInsertionPointToStart(guarded.elseBlock());
    Value none = arith::ConstantOp::create(b, loc, type, cast<TypedAttr>(b.getZeroAttr(type)));
    scf::YieldOp::create(b, loc, none);
  }
  return SizeTerm{guarded.getResult(0), name + text + "]"};
}

static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

/// Divisors in affine maps must be constants: others may be zero.
static bool dividesByVariables(Operation *op) {
  bool found = false;
  auto look = [&](AffineMap map) {
    map.walkExprs([&](AffineExpr expr) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
      found |= binary && expr.getKind() != AffineExprKind::Add &&
               expr.getKind() != AffineExprKind::Mul && !isa<AffineConstantExpr>(binary.getRHS());
    });
  };
  for (NamedAttribute attribute : op->getAttrs())
    if (auto map = dyn_cast<AffineMapAttr>(attribute.getValue()))
      look(map.getValue());
  return found;
}

std::optional<SizeTerm> SizeTerms::compute(Value index) {
  Operation *op = index.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> which = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (!which || !type || *which < 0 || *which >= type.getRank())
      return std::nullopt;
    return sizeOf(dim.getSource(), *which);
  }
  if (isa<tensor::ExtractOp>(op))
    return element(op);
  auto isInteger = [](Type type) { return type.isIntOrIndex(); };
  if (!isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) ||
      op->getNumRegions() != 0 || op->getNumResults() != 1 || !isMemoryEffectFree(op) ||
      !llvm::all_of(op->getOperandTypes(), isInteger) || !isInteger(index.getType()) ||
      dividesByVariables(op))
    return std::nullopt;
  IRMapping map;
  SmallVector<std::string> texts;
  for (Value operand : op->getOperands()) {
    std::optional<SizeTerm> term = of(operand);
    if (!term)
      return std::nullopt;
    map.map(operand, term->value);
    texts.push_back(term->text);
  }
  if (isDivision(op)) {
    APInt divisor;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() ||
        divisor.isAllOnes())
      return std::nullopt;
  }
  Operation *here = b.clone(*op, map);
  std::string text = "a computed size";
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    text = texts[0];
  else if (isa<arith::AddIOp>(op))
    text = combine(texts[0], " + ", texts[1]);
  else if (isa<arith::SubIOp>(op))
    text = combine(texts[0], " - ", texts[1]);
  else if (isa<arith::MulIOp>(op))
    text = combine(texts[0], " * ", texts[1]);
  else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<AffineExpr> symbols;
    AffineMap of = apply.getAffineMap();
    for (unsigned symbol = 0; symbol < of.getNumSymbols(); ++symbol)
      symbols.push_back(getAffineDimExpr(of.getNumDims() + symbol, b.getContext()));
    text = describe(of.getResult(0).replaceSymbols(symbols), texts);
  }
  return SizeTerm{here->getResult(0), text};
}
