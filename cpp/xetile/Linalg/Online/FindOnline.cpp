//===- FindOnline.cpp - which reductions depend on a maximum ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a sum, or a contraction, on tensors. Out: the reductions along its dimension that it depends
// on, those beside it, and how their elements depend on a maximum. Refused, with the op and the
// reason: elements that are not proportional to exp(x - max x), sums that do not start from zero.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/Online/Online.h"

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Dependence of elements on reductions
//===----------------------------------------------------------------------===//

namespace {

/// How a scalar depends on the reductions along n.
struct Form {
  /// Not at all; being the same for all n; by the difference of what does not and what is; by a
  /// power of that; in another way.
  enum Kind : uint8_t { Free, Row, Difference, Power, Other } kind = Free;
  /// Of `Free`: whether it differs along n.
  bool varies = false;
  OnlinePower power;
  /// Of `Other`: what makes it so.
  Operation *by = nullptr;
};

class Finder {
public:
  bool find(linalg::GenericOp last);

  Online found;
  Operation *where = nullptr;
  std::string why;

private:
  bool no(Operation *op, const Twine &reason) {
    if (!where) {
      where = op;
      why = reason.str();
    }
    return false;
  }
  bool collect(linalg::GenericOp last);
  void join(linalg::GenericOp op);
  bool checkAxes();
  void addBeside(linalg::GenericOp last);
  bool describe(linalg::GenericOp op, OnlineReduction &reduction);
  bool checkPower(OnlineReduction &reduction);
  bool isSame(linalg::GenericOp x, Value a, linalg::GenericOp y, Value b);
  Form formOf(Value tensor);
  Form formOf(linalg::GenericOp op, Value scalar);
  Form combine(Operation *op, ArrayRef<Form> forms);

  llvm::DenseMap<Value, Form> known;
};

/// Ops of the forms that are looked through.
bool isPlain(Operation *op) {
  auto generic = dyn_cast_if_present<linalg::GenericOp>(op);
  return generic && isInFunction(op) && generic.hasPureTensorSemantics() &&
         generic->getNumResults() == 1 &&
         llvm::all_of(generic.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         llvm::all_of(generic.getStaticLoopRanges(),
                      [](int64_t extent) { return !ShapedType::isDynamic(extent); });
}

bool reduces(Operation *op) { return cast<linalg::GenericOp>(op).getNumReductionLoops() != 0; }

/// Unifies the loops of an op with the dimensions of its operands through the indexing maps.
void Finder::join(linalg::GenericOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    bool writes = op.isDpsInit(&operand);
    Value tensor = writes ? op->getResult(0) : operand.get();
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      found.axes.unionSets(
          {static_cast<void *>(op.getOperation()), cast<AffineDimExpr>(expr).getPosition()},
          {tensor.getAsOpaquePointer(), static_cast<unsigned>(dim)});
  }
}

/// The ops that `last` is computed by, up to contractions.
bool Finder::collect(linalg::GenericOp last) {
  constexpr unsigned kMost = 100;
  if (!isPlain(last))
    return no(last, "expected a linalg.generic of one result on tensors of known sizes, indexed by "
                    "dimensions alone: make it one by xetile-simplify-attention");
  SmallVector<unsigned> loops;
  last.getReductionDims(loops);
  if (loops.size() != 1)
    return no(last, "expected one dimension that is reduced, got " + Twine(loops.size()));
  found.ops.insert(last);
  for (unsigned i = 0; i < found.ops.size(); ++i)
    for (Value input : cast<linalg::GenericOp>(found.ops[i]).getDpsInputs()) {
      Operation *producer = input.getDefiningOp();
      if (isPlain(producer) && !isContraction(producer) &&
          (!reduces(producer) || cast<linalg::GenericOp>(producer).getNumReductionLoops() == 1))
        found.ops.insert(producer);
      if (found.ops.size() > kMost)
        return no(last, "expected at most " + Twine(kMost) + " ops that it depends on");
    }
  for (Operation *op : found.ops)
    join(cast<linalg::GenericOp>(op));
  found.n = found.axisOf(last, loops.front());
  found.extent = last.getStaticLoopRanges()[loops.front()];
  return checkAxes();
}

bool Finder::checkAxes() {
  for (Operation *op : found.ops) {
    auto generic = cast<linalg::GenericOp>(op);
    llvm::DenseSet<OnlineAxis> seen;
    for (unsigned loop : llvm::seq(generic.getNumLoops()))
      if (!seen.insert(found.axisOf(op, loop)).second)
        return no(op, "expected its loops to walk over different dimensions, two of them go along: "
                      "a tensor is read as it is and transposed");
  }
  // Reductions along another dimension are inputs.
  found.ops.remove_if([&](Operation *op) {
    auto generic = cast<linalg::GenericOp>(op);
    std::optional<unsigned> loop = found.loopOf(generic);
    return reduces(op) &&
           (!loop || generic.getIteratorTypesArray()[*loop] != utils::IteratorType::reduction);
  });
  return true;
}

/// Reductions of the same elements along n that `last` does not depend on.
void Finder::addBeside(linalg::GenericOp last) {
  SmallVector<Operation *> users;
  auto add = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (isPlain(user) && !found.ops.contains(user) && user->getBlock() == last->getBlock() &&
          !isContraction(user) && cast<linalg::GenericOp>(user).getNumReductionLoops() == 1)
        users.push_back(user);
  };
  for (Operation *op : found.ops)
    if (op != last && found.loopOf(cast<linalg::GenericOp>(op)))
      for (Value value : llvm::concat<const Value>(
               SmallVector<Value>(op->getResults()),
               SmallVector<Value>(cast<linalg::GenericOp>(op).getDpsInputs())))
        add(value);
  for (Operation *user : users) {
    auto generic = cast<linalg::GenericOp>(user);
    SmallVector<unsigned> loops;
    generic.getReductionDims(loops);
    // All that it reads is known where `last` is, and it walks along n as they do.
    bool fits = llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
      Operation *producer = input->get().getDefiningOp();
      if (producer && !found.ops.contains(producer) && !producer->isBeforeInBlock(last))
        return false;
      return llvm::all_of(
          llvm::enumerate(generic.getMatchingIndexingMap(input).getResults()), [&](auto each) {
            bool along = cast<AffineDimExpr>(each.value()).getPosition() == loops.front();
            return along == (found.axisOf(input->get().getAsOpaquePointer(), each.index()) ==
                             found.axisOf(found.n.first, found.n.second));
          });
    });
    if (!fits || found.ops.contains(user))
      continue;
    found.ops.insert(user);
    join(generic);
    OnlineReduction reduction;
    Finder attempt = *this;
    attempt.known.clear();
    if (!attempt.describe(generic, reduction) || !attempt.checkPower(reduction) ||
        (reduction.power && !reduction.power->rowSteps.empty()))
      found.ops.remove(user);
  }
}

Form Finder::formOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || !found.ops.contains(op))
    return {};
  if (reduces(op))
    return {Form::Row, false, {}, nullptr};
  auto generic = cast<linalg::GenericOp>(op);
  Form form = formOf(generic, yielded(generic));
  form.varies = false;
  return form;
}

Form Finder::formOf(linalg::GenericOp op, Value scalar) {
  if (OpOperand *operand = operandOf(op, scalar)) {
    Form form = formOf(operand->get());
    std::optional<unsigned> loop = found.loopOf(op);
    form.varies = form.kind == Form::Free && loop &&
                  op.getMatchingIndexingMap(operand).isFunctionOfDim(*loop);
    return form;
  }
  Operation *by = scalar.getDefiningOp();
  if (!by || by->getBlock() != op.getBody() || matchPattern(by, m_Constant()))
    return {};
  if (auto index = dyn_cast<linalg::IndexOp>(by))
    return {Form::Free, found.loopOf(op) == index.getDim(), {}, nullptr};
  auto [entry, isNew] = known.try_emplace(scalar);
  if (!isNew)
    return entry->second;
  Form form = combine(by, llvm::map_to_vector(by->getOperands(),
                                              [&](Value operand) { return formOf(op, operand); }));
  known[scalar] = form;
  return form;
}

bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

Form Finder::combine(Operation *op, ArrayRef<Form> forms) {
  auto all = [&](auto is) { return llvm::all_of(forms, is); };
  if (all([](const Form &form) { return form.kind == Form::Free; }))
    return {
        Form::Free, llvm::any_of(forms, [](const Form &form) { return form.varies; }), {}, nullptr};
  if (op->getNumResults() == 1 && op->getNumRegions() == 0 && all([](const Form &form) {
        return form.kind == Form::Row || (form.kind == Form::Free && !form.varies);
      }))
    return {Form::Row, false, {}, nullptr};
  Form result;
  auto take = [&](unsigned operand) {
    result = forms[operand];
    return true;
  };
  auto is = [&](unsigned operand, Form::Kind kind) { return forms[operand].kind == kind; };
  auto isOne = [&](Form::Kind kind) { return is(0, kind) != is(1, kind); };
  if (isa<arith::SubFOp>(op) && is(0, Form::Free) && is(1, Form::Row)) {
    result.kind = Form::Difference;
    result.power.difference = op;
    return result;
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op) && isOne(Form::Difference)) {
    unsigned at = is(0, Form::Difference) ? 0 : 1;
    if (isConstant(op->getOperand(1 - at)) && (at == 0 || isa<arith::MulFOp>(op)) && take(at)) {
      result.power.factors.push_back(op);
      return result;
    }
  }
  if (isa<math::ExpOp, math::Exp2Op>(op) && is(0, Form::Difference) && take(0)) {
    result.kind = Form::Power;
    result.power.power = op;
    return result;
  }
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(op) && is(0, Form::Power) && take(0))
    return result;
  if (isa<arith::MulFOp, arith::DivFOp>(op) && isOne(Form::Power)) {
    unsigned at = is(0, Form::Power) ? 0 : 1;
    if ((at == 0 || isa<arith::MulFOp>(op)) && (is(1 - at, Form::Free) || is(1 - at, Form::Row)) &&
        take(at)) {
      if (is(1 - at, Form::Row))
        result.power.rowSteps.push_back(op);
      return result;
    }
  }
  if (isa<arith::SelectOp>(op) && (is(0, Form::Free) || is(0, Form::Row)))
    for (unsigned at : {1, 2})
      if (is(at, Form::Power) && isZero(op->getOperand(3 - at)) && take(at)) {
        if (is(0, Form::Row))
          result.power.rowSteps.push_back(op);
        return result;
      }
  result = {};
  result.kind = Form::Other;
  for (const Form &form : forms)
    if (form.kind == Form::Other && form.by)
      result.by = form.by;
  if (!result.by)
    result.by = op;
  return result;
}

/// True if two scalars are the same computation of the same elements.
bool Finder::isSame(linalg::GenericOp x, Value a, linalg::GenericOp y, Value b) {
  auto resolve = [&](linalg::GenericOp &op, Value &scalar) {
    while (OpOperand *operand = operandOf(op, scalar)) {
      Operation *producer = operand->get().getDefiningOp();
      if (!found.isBetween(producer))
        return operand;
      op = cast<linalg::GenericOp>(producer);
      scalar = yielded(op);
    }
    return static_cast<OpOperand *>(nullptr);
  };
  OpOperand *left = resolve(x, a), *right = resolve(y, b);
  if (left || right) {
    if (!left || !right || left->get() != right->get())
      return false;
    auto axes = [&](linalg::GenericOp op, OpOperand *operand) {
      return llvm::map_to_vector(op.getMatchingIndexingMap(operand).getResults(),
                                 [&](AffineExpr expr) {
                                   return found.axisOf(op, cast<AffineDimExpr>(expr).getPosition());
                                 });
    };
    return axes(x, left) == axes(y, right);
  }
  Attribute one, other;
  if (matchPattern(a, m_Constant(&one)) || matchPattern(b, m_Constant(&other)))
    return matchPattern(a, m_Constant(&one)) && matchPattern(b, m_Constant(&other)) && one == other;
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || first->getName() != second->getName() ||
      first->getNumOperands() != second->getNumOperands() || first->getNumRegions() != 0)
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(first))
    return found.axisOf(x, index.getDim()) ==
           found.axisOf(y, cast<linalg::IndexOp>(second).getDim());
  return first->getAttrDictionary() == second->getAttrDictionary() &&
         llvm::all_of(llvm::zip_equal(first->getOperands(), second->getOperands()), [&](auto pair) {
           return isSame(x, std::get<0>(pair), y, std::get<1>(pair));
         });
}

bool startsFromZero(linalg::GenericOp op) {
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  if (fill)
    return isZero(fill.getInputs()[0]);
  DenseElementsAttr constant;
  return matchPattern(op.getOutputs()[0], m_Constant(&constant)) && constant.isSplat() &&
         isa<FloatType>(constant.getElementType()) && constant.getSplatValue<APFloat>().isZero();
}

/// Fills in what `op`, a reduction along n, is.
bool Finder::describe(linalg::GenericOp op, OnlineReduction &reduction) {
  reduction.op = op;
  reduction.loop = *found.loopOf(op);
  Operation *combiner = nullptr;
  Value element = elementOf(op, combiner);
  if (!element)
    return no(op, "expected a reduction that combines the result so far with an element by one op");
  Form form = formOf(op, element);
  if (form.kind == Form::Free)
    return true;
  if (form.kind != Form::Power)
    return no(form.by ? form.by : op,
              "expected elements that are products with exp(x - m), m = max x: nothing else is "
              "known to scale with the maximum");
  if (!isa<arith::AddFOp>(combiner))
    return no(op, "expected powers of differences from a maximum to be summed, got " +
                      combiner->getName().getStringRef());
  if (!startsFromZero(op))
    return no(op, "expected a sum of powers to start from zero: add what it starts from behind it");
  reduction.power = form.power;
  return true;
}

/// The exponent's largest is subtracted, and all that is needed of rows has the rows of the sum.
bool Finder::checkPower(OnlineReduction &reduction) {
  if (!reduction.power)
    return true;
  auto inOp = [](Operation *op) { return cast<linalg::GenericOp>(op->getParentOp()); };
  Operation *difference = reduction.power->difference;
  SmallVector<OnlineLeaf> leaves;
  found.leavesOf(inOp(difference), difference->getOperand(1), leaves);
  for (OnlineLeaf &leaf : leaves) {
    Operation *op = leaf.tensor.getDefiningOp();
    if (!op || !found.ops.contains(op))
      continue;
    Operation *combiner = nullptr;
    Value element = elementOf(cast<linalg::GenericOp>(op), combiner);
    if (!element || !isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner) ||
        !isSame(cast<linalg::GenericOp>(op), element, inOp(difference), difference->getOperand(0)))
      return no(op, "expected the maximum of what it is subtracted from, before the power: a "
                    "power of another difference may overflow on the way");
  }
  for (Operation *step : reduction.power->rowSteps)
    for (auto [i, operand] : llvm::enumerate(step->getOperands()))
      if (formOf(inOp(step), operand).kind == Form::Row)
        found.leavesOf(inOp(step), operand, leaves);
  SmallVector<OnlineAxis> kept = found.axesOfResult(reduction.op);
  for (OnlineLeaf &leaf : leaves)
    for (OnlineAxis axis : leaf.axes)
      if (!llvm::is_contained(kept, axis))
        return no(reduction.op, "expected the sum to keep all dimensions of the maximum");
  return true;
}

bool Finder::find(linalg::GenericOp last) {
  if (!collect(last))
    return false;
  addBeside(last);
  SmallVector<Operation *> sorted(found.ops.begin(), found.ops.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  bool depends = false;
  for (Operation *op : sorted) {
    if (!reduces(op))
      continue;
    OnlineReduction reduction;
    if (!describe(cast<linalg::GenericOp>(op), reduction))
      return false;
    if (reduction.power && !reduction.power->rowSteps.empty() && op != last)
      return no(op, "expected sums of powers as they are, divided by nothing: divide the sum");
    depends |= reduction.power.has_value();
    found.reductions.push_back(reduction);
  }
  for (OnlineReduction &reduction : found.reductions)
    if (!checkPower(reduction))
      return false;
  return depends || no(last, "expected a sum of powers exp(x - m), m = max x, none of what is "
                             "reduced depends on another reduction");
}

} // namespace

std::optional<Online> xetile::findOnline(linalg::GenericOp last, Operation *&where,
                                         std::string &why) {
  Finder finder;
  if (finder.find(last)) {
    finder.found.binary = mayBeBinary(finder.found);
    finder.found.reach = findReach(finder.found);
    return std::move(finder.found);
  }
  where = finder.where;
  why = finder.why;
  return std::nullopt;
}
