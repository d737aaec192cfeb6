//===- CheckSizes.cpp - a function that checks sizes before a call -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: public functions on tensors. Out: beside each @f a function on descriptors of the same
// arguments (and results, if all sizes of these are static): @f_check computes whether all ops of
// @f will find sizes that fit together. Refused: conditions on sizes that only @f computes, and
// dimensions that a tensor does not have.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "xetile/Target/Host/EntryPoints.h"
#include "xetile/Target/Host/Expectations.h"
#include "xetile/Target/Host/Passes.h"
#include "xetile/Target/Host/SizeBounds.h"
#include "xetile/Target/Host/SizeConditions.h"
#include "llvm/ADT/ScopeExit.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKSIZES
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

using Relation = SizeCondition::Relation;

/// Memory of any sizes and strides: what the descriptor says can be looked at.
Type descriptorOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  MLIRContext *context = type.getContext();
  SmallVector<int64_t> open(tensor.getRank(), ShapedType::kDynamic);
  Type element = tensor.getElementType();
  if (element.isInteger(1))
    element = IntegerType::get(context, 8);
  if (!MemRefType::isValidElementType(element))
    return {};
  return MemRefType::get(open, element,
                         StridedLayoutAttr::get(context, ShapedType::kDynamic, open));
}

/// Writes one of the functions.
class Checker {
public:
  Checker(func::FuncOp function, func::FuncOp check)
      : function(function), check(check), b(OpBuilder::atBlockBegin(check.addEntryBlock())),
        loc(function.getLoc()) {}

  LogicalResult writeSizes();
  bool hasConditions() const { return !conditions.empty(); }

private:
  void finish();
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value isZero(Value value) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, constant(0));
  }
  Value binary(StringRef name, Value left, Value right);

  LogicalResult visit(mlir::Block &block);
  LogicalResult visitBranch(scf::IfOp branch, Value condition);
  LogicalResult visitLoop(LoopLikeOpInterface loop);
  LogicalResult visitBody(LoopLikeOpInterface loop);
  LogicalResult require(Operation *op, const SizeCondition &condition);
  bool isProved(const SizeCondition &condition);
  void emit(Value holds, SizeTerm left, StringRef sign, SizeTerm right, const std::string &reason);
  void tell(Value holds, Value left, Value right, ArrayAttr texts);
  void requireExpectation(func::CallOp call);
  /// Runs `body` in a new region of `parent` and yields what is known at its end.
  LogicalResult inRegion(Region &region, function_ref<LogicalResult()> body);

  func::FuncOp function, check;
  OpBuilder b;
  Location loc;
  SmallVector<SmallVector<Value>> sizes;
  std::optional<SizeTerms> terms;
  /// The number of the first condition that does not hold, 0 for none, and its two sides.
  SmallVector<Value> status;
  SmallVector<Attribute> conditions;
  llvm::DenseSet<std::tuple<Value, Value, int>> known;
  unsigned loops = 0;
  /// Regions around of which it is not known whether they run.
  unsigned uncertain = 0;
};

Value Checker::binary(StringRef name, Value left, Value right) {
  if (name == "or")
    return arith::OrIOp::create(b, loc, left, right);
  return arith::AndIOp::create(b, loc, left, right);
}

void Checker::emit(Value holds, SizeTerm left, StringRef sign, SizeTerm right,
                   const std::string &reason) {
  tell(holds, left.value, right.value, b.getStrArrayAttr({left.text, sign, right.text, reason}));
}

void Checker::tell(Value holds, Value left, Value right, ArrayAttr texts) {
  conditions.push_back(texts);
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  Value fails = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, holds, no);
  fails = binary("and", fails, isZero(status[0]));
  SmallVector<Value> told = {constant(conditions.size()), left, right};
  for (auto [old, next] : llvm::zip(status, told))
    old = arith::SelectOp::create(b, loc, fails, next, old);
}

/// Expectations that depend on arguments only are checked before the call; the function checks the
/// others itself.
void Checker::requireExpectation(func::CallOp call) {
  func::FuncOp expect = Expectations::find(check->getParentOfType<ModuleOp>());
  APInt number;
  if (!expect || call.getCallee() != expect.getName() || uncertain ||
      !matchPattern(call.getOperand(0), m_ConstantInt(&number)))
    return;
  SmallVector<Value> values;
  for (Value operand : call.getOperands().drop_front()) {
    std::optional<SizeTerm> term = terms->of(operand);
    if (!term)
      return;
    values.push_back(term->value);
  }
  for (Value &value : MutableArrayRef(values).drop_front())
    value = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  auto all = expect->getAttrOfType<ArrayAttr>(kExpectationsAttr);
  tell(values[0], values[1], values[2], cast<ArrayAttr>(all[number.getZExtValue() - 1]));
}

bool Checker::isProved(const SizeCondition &condition) {
  bool equal = condition.relation == Relation::Equal;
  auto compare = equal ? ValueBoundsConstraintSet::EQ : ValueBoundsConstraintSet::LE;
  if (provesBound(condition.left.variable(), compare, condition.right.variable()))
    return true;
  // A minimum is large enough if all that it is taken of is; upstream looks at these from above
  // only.
  const SizeExpr &right = condition.right;
  if (equal || right.leaves.size() != 1 || !isa<AffineDimExpr>(right.expr))
    return false;
  auto value = dyn_cast_if_present<Value>(right.leaves[0].index);
  auto minimum = value ? value.getDefiningOp<affine::AffineMinOp>() : affine::AffineMinOp();
  return minimum && llvm::all_of(llvm::seq(minimum.getMap().getNumResults()), [&](unsigned part) {
           ValueBoundsConstraintSet::Variable one(minimum.getMap().getSubMap({part}),
                                                  minimum.getOperands());
           return provesBound(condition.left.variable(), compare, one);
         });
}

LogicalResult Checker::require(Operation *op, const SizeCondition &condition) {
  bool equal = condition.relation == Relation::Equal;
  StringRef sign = equal ? "==" : "<=";
  std::optional<int64_t> left = condition.left.constant(), right = condition.right.constant();
  if (left && right) {
    if (equal ? *left == *right : *left <= *right)
      return success();
    if (condition.unless.empty() && loops == 0)
      return op->emitOpError() << "has sizes that do not fit together: expected " << *left << " "
                               << sign << " " << *right;
  }
  bool mayProve = !equal || loops > 0;
  if (mayProve && isProved(condition))
    return success();
  std::optional<SizeTerm> first = terms->of(condition.left), second = terms->of(condition.right);
  SmallVector<Value> exceptions;
  bool complete = first && second;
  for (const SizeLeaf &leaf : condition.unless) {
    std::optional<SizeTerm> term =
        terms->of(SizeExpr(getAffineDimExpr(0, op->getContext()), ArrayRef(leaf)));
    complete &= term.has_value();
    if (term)
      exceptions.push_back(term->value);
  }
  if (!complete) {
    if (!mayProve && isProved(condition))
      return success();
    return op->emitOpError("has sizes or offsets that only the function itself computes, so that "
                           "they cannot be checked before a call: expected ones that follow from "
                           "sizes or elements of arguments, or that are known to be in bounds");
  }
  if (first->value == second->value ||
      !known.insert({first->value, second->value, int(equal)}).second)
    return success();
  Value holds =
      arith::CmpIOp::create(b, loc, equal ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle,
                            first->value, second->value);
  for (Value size : exceptions)
    holds = binary("or", holds, isZero(size));
  emit(holds, *first, sign, *second, describePlace(op));
  return success();
}

LogicalResult Checker::inRegion(Region &region, function_ref<LogicalResult()> body) {
  OpBuilder::InsertionGuard guard(b);
  auto whatIsKnown = known;
  terms->push();
  llvm::scope_exit leave([&] {
    terms->pop();
    known = whatIsKnown;
  });
  if (region.empty())
    b.createBlock(&region);
  b.setInsertionPointToEnd(&region.front());
  if (failed(body()))
    return failure();
  scf::YieldOp::create(b, loc, status);
  return success();
}

LogicalResult Checker::visitBranch(scf::IfOp branch, Value condition) {
  size_t before = conditions.size();
  SmallVector<Value> start = status;
  SmallVector<Type> types(3, b.getIndexType());
  auto here = scf::IfOp::create(b, loc, types, condition, /*addThenBlock=*/true,
                                /*addElseBlock=*/true);
  for (unsigned number : {0, 1}) {
    Region &region = branch->getRegion(number);
    status = start;
    if (failed(inRegion(here->getRegion(number),
                        [&] { return region.empty() ? success() : visit(region.front()); })))
      return failure();
  }
  status = here.getResults();
  if (conditions.size() == before) {
    status = start;
    here.erase();
  }
  return success();
}

LogicalResult Checker::visitBody(LoopLikeOpInterface loop) {
  ++loops;
  llvm::scope_exit leave([&] { --loops; });
  for (Region *region : loop.getLoopRegions())
    for (mlir::Block &block : *region)
      if (failed(visit(block)))
        return failure();
  if (auto carried = dyn_cast<scf::ForOp>(loop.getOperation()))
    return forEachSizeCondition(
        carried, [&](const SizeCondition &condition) { return require(carried, condition); });
  return success();
}

LogicalResult Checker::visitLoop(LoopLikeOpInterface loop) {
  std::optional<SmallVector<Value>> indices = loop.getLoopInductionVars();
  auto lows = loop.getLoopLowerBounds(), highs = loop.getLoopUpperBounds(),
       steps = loop.getLoopSteps();
  SmallVector<std::array<Value, 3>> bounds;
  bool runs = indices && lows && highs && steps;
  for (size_t dim = 0; runs && dim < indices->size(); ++dim) {
    std::optional<SizeTerm> low = terms->of(SizeExpr((*lows)[dim])),
                            high = terms->of(SizeExpr((*highs)[dim])),
                            step = terms->of(SizeExpr((*steps)[dim]));
    runs = low && high && step && (*indices)[dim].getType().isIndex();
    if (!runs)
      break;
    if (failed(require(loop, {SizeExpr(OpFoldResult(b.getIndexAttr(1))), Relation::AtMost,
                              SizeExpr((*steps)[dim])})))
      return failure();
    // A step that the check above reports must not make an endless loop.
    Value positive = arith::MaxSIOp::create(b, loc, step->value, constant(1));
    bounds.push_back({low->value, high->value, positive});
  }
  // Of a loop whose steps are not known, conditions that change in it cannot be computed.
  if (!runs || bounds.empty()) {
    ++uncertain;
    llvm::scope_exit leave([&] { --uncertain; });
    return visitBody(loop);
  }
  size_t before = conditions.size();
  SmallVector<Value> start = status;
  Operation *outermost = nullptr;
  std::function<LogicalResult(size_t)> nest = [&](size_t dim) -> LogicalResult {
    if (dim == bounds.size())
      return visitBody(loop);
    auto [low, high, step] = bounds[dim];
    auto here = scf::ForOp::create(b, loc, low, high, step, status);
    outermost = outermost ? outermost : here.getOperation();
    if (failed(inRegion(here.getRegion(), [&] {
          status = llvm::to_vector_of<Value>(here.getRegionIterArgs());
          terms->define((*indices)[dim], here.getInductionVar(), "a loop's index");
          return nest(dim + 1);
        })))
      return failure();
    status = here.getResults();
    return success();
  };
  if (failed(nest(0)))
    return failure();
  if (conditions.size() == before) {
    status = start;
    outermost->erase();
  }
  return success();
}

LogicalResult Checker::visit(mlir::Block &block) {
  // Sizes of results are asked for where the ops are: these add ops.
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      if (!isa<scf::ForOp>(op) &&
          failed(forEachSizeCondition(
              op, [&](const SizeCondition &condition) { return require(op, condition); })))
        return failure();
      if (failed(visitLoop(loop)))
        return failure();
      continue;
    }
    if (failed(forEachSizeCondition(
            op, [&](const SizeCondition &condition) { return require(op, condition); })))
      return failure();
    if (auto branch = dyn_cast<scf::IfOp>(op))
      if (std::optional<SizeTerm> condition = terms->of(branch.getCondition())) {
        if (failed(visitBranch(branch, condition->value)))
          return failure();
        continue;
      }
    if (auto call = dyn_cast<func::CallOp>(op))
      requireExpectation(call);
    ++uncertain;
    llvm::scope_exit leave([&] { --uncertain; });
    for (Region &region : op->getRegions())
      for (mlir::Block &inner : region)
        if (failed(visit(inner)))
          return failure();
  }
  return success();
}

LogicalResult Checker::writeSizes() {
  status.assign(3, constant(0));
  for (Value memory : check.getArguments()) {
    auto parts = memref::ExtractStridedMetadataOp::create(b, loc, memory);
    sizes.emplace_back(parts.getSizes().begin(), parts.getSizes().end());
  }
  terms.emplace(b, function, check.getArguments(), sizes);
  terms->allowed = [&] { return isZero(status[0]); };
  for (mlir::Block &block : function.getBody())
    if (failed(visit(block)))
      return failure();
  finish();
  return success();
}

void Checker::finish() {
  SmallVector<Value> results;
  for (Value value : status)
    results.push_back(arith::IndexCastOp::create(b, loc, b.getI64Type(), value));
  func::ReturnOp::create(b, loc, results);
  check->setAttr(kConditionsAttr, b.getArrayAttr(conditions));
  check->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
}

/// Upstream's analysis of sizes takes a dimension of any number for one of the tensor's, and reads
/// behind its memory.
LogicalResult checkDimensions(func::FuncOp function) {
  WalkResult result = function.walk([](ShapedDimOpInterface op) -> WalkResult {
    auto type = dyn_cast<ShapedType>(op.getShapedValue().getType());
    std::optional<int64_t> dim = getConstantIntValue(op.getDimension());
    if (!type || !type.hasRank() || !dim || (*dim >= 0 && *dim < type.getRank()))
      return WalkResult::advance();
    return op->emitOpError() << "asks for dimension " << *dim << " of " << type
                             << ": expected one from 0 to " << type.getRank() - 1;
  });
  return failure(result.wasInterrupted());
}

struct CheckSizes : xetile::impl::CheckSizesBase<CheckSizes> {
  void runOnOperation() override {
    if (failed(Expectations::checkNumbers(getOperation())))
      return signalPassFailure();
    for (func::FuncOp function : getEntryPoints(getOperation()))
      if (failed(addCheck(function)))
        return signalPassFailure();
  }

private:
  LogicalResult addCheck(func::FuncOp function) {
    SmallVector<Type> descriptors = llvm::map_to_vector(function.getArgumentTypes(), descriptorOf);
    bool given = llvm::all_of(function.getResultTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    });
    if (given)
      llvm::append_range(descriptors, llvm::map_range(function.getResultTypes(), descriptorOf));
    // Functions on memory, or on numbers: not what this looks at.
    if (llvm::is_contained(descriptors, Type()) || function->hasAttr(kConditionsAttr))
      return success();
    std::string name = function.getName().str();
    for (StringRef suffix : {kCheckSuffix, kCheckedSuffix}) {
      Operation *present = getOperation().lookupSymbol(name + suffix.str());
      // This pass wrote it: a module may be printed and compiled on.
      if (present && present->hasAttr(kConditionsAttr))
        return success();
      if (present)
        return function.emitOpError()
               << "needs the name @" << name << suffix
               << " for a function that checks sizes: expected it to be free, rename what has it";
    }
    if (failed(checkDimensions(function)))
      return failure();
    OpBuilder b(&getContext());
    b.setInsertionPointAfter(function);
    auto type = b.getFunctionType(descriptors, SmallVector<Type>(3, b.getI64Type()));
    auto check = func::FuncOp::create(b, function.getLoc(), name + kCheckSuffix.str(), type);
    // Asking for sizes adds ops.
    auto copy = function.clone();
    getOperation().push_back(copy);
    Checker sizes(copy, check);
    LogicalResult written = sizes.writeSizes();
    copy.erase();
    if (failed(written) || !sizes.hasConditions())
      check.erase();
    return written;
  }
};
} // namespace
