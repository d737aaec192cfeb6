//===- FindOnline.cpp - which reductions depend on another --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a sum, or a contraction, on tensors. Out: the reductions along its dimension that it depends
// on, those beside it, and how their elements depend on a maximum or a mean. Refused, with the op
// and the reason: elements that are proportional neither to exp(x - max x) nor to (x - r)^2, sums
// that do not start from zero.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/Online/OnlineFinder.h"

using namespace mlir;
using namespace xetile;

/// Ops of the forms that are looked through.
static bool isPlain(Operation *op) {
  auto generic = dyn_cast_if_present<linalg::GenericOp>(op);
  return generic && isInFunction(op) && generic.hasPureTensorSemantics() &&
         generic->getNumResults() == 1 &&
         llvm::all_of(generic.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         llvm::all_of(generic.getStaticLoopRanges(),
                      [](int64_t extent) { return !ShapedType::isDynamic(extent); });
}

static bool reduces(Operation *op) {
  return cast<linalg::GenericOp>(op).getNumReductionLoops() != 0;
}

/// Unifies the loops of an op with the dimensions of its operands through the indexing maps.
void OnlineFinder::join(linalg::GenericOp op) {
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
bool OnlineFinder::collect(linalg::GenericOp last) {
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
  if (found.extent == 0)
    return no(last, "expected elements along the dimension that is reduced, got none");
  return checkAxes();
}

bool OnlineFinder::checkAxes() {
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
void OnlineFinder::addBeside(linalg::GenericOp last) {
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
    OnlineFinder attempt = *this;
    attempt.known.clear();
    if (!attempt.describe(generic, reduction) || !attempt.checkPower(reduction) ||
        !attempt.checkSquare(reduction) ||
        (reduction.power && !reduction.power->rowSteps.empty()) ||
        (reduction.square && !reduction.square->rowSteps.empty()))
      found.ops.remove(user);
  }
}

static bool startsFromZero(linalg::GenericOp op) {
  auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  if (fill)
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  DenseElementsAttr constant;
  return matchPattern(op.getOutputs()[0], m_Constant(&constant)) && constant.isSplat() &&
         isa<FloatType>(constant.getElementType()) && constant.getSplatValue<APFloat>().isZero();
}

/// Fills in what `op`, a reduction along n, is.
bool OnlineFinder::describe(linalg::GenericOp op, OnlineReduction &reduction) {
  reduction.op = op;
  reduction.loop = *found.loopOf(op);
  Operation *combiner = nullptr;
  Value element = elementOf(op, combiner);
  if (!element)
    return no(op, "expected a reduction that combines the result so far with an element by one op");
  OnlineForm form = formOf(op, element);
  if (form.kind == OnlineForm::Free)
    return true;
  if (form.kind != OnlineForm::Power && form.kind != OnlineForm::Square)
    return no(form.by ? form.by : op,
              "expected elements that are products with exp(x - m), m = max x, or with (x - r)^2: "
              "nothing else is known to be made of those of blocks");
  if (!isa<arith::AddFOp>(combiner))
    return no(op, "expected powers and squares of differences to be summed, got " +
                      combiner->getName().getStringRef());
  if (!startsFromZero(op))
    return no(op, "expected a sum of powers or squares to start from zero: add what it starts from "
                  "behind it");
  if (form.kind == OnlineForm::Power)
    reduction.power = form.power;
  else
    reduction.square = form.square;
  return true;
}

/// The exponent's largest is subtracted, and all that is needed of rows has the rows of the sum.
bool OnlineFinder::checkPower(OnlineReduction &reduction) {
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
  return checkRows(reduction, reduction.power->rowSteps, leaves);
}

/// All that is needed of rows, `leaves` and what steps read, has the rows of the sum.
bool OnlineFinder::checkRows(OnlineReduction &reduction, ArrayRef<Operation *> rowSteps,
                             SmallVector<OnlineLeaf> &leaves) {
  for (Operation *step : rowSteps) {
    auto op = cast<linalg::GenericOp>(step->getParentOp());
    for (Value operand : step->getOperands()) {
      OnlineForm form = formOf(op, operand);
      if (form.kind == OnlineForm::Row || (reduction.square && form.kind == OnlineForm::Free))
        found.leavesOf(op, operand, leaves);
    }
  }
  SmallVector<OnlineAxis> kept = found.axesOfResult(reduction.op);
  for (OnlineLeaf &leaf : leaves)
    for (OnlineAxis axis : leaf.axes)
      if (!llvm::is_contained(kept, axis))
        return no(reduction.op, "expected the sum to keep all dimensions of what it depends on");
  return true;
}

/// Squares are about a multiple of the sum of the same elements.
bool OnlineFinder::checkSquare(OnlineReduction &reduction) {
  if (!reduction.square)
    return true;
  OnlineSquare &square = *reduction.square;
  auto op = cast<linalg::GenericOp>(square.difference->getParentOp());
  Value x = square.difference->getOperand(square.varying),
        r = square.difference->getOperand(1 - square.varying);
  if (knowsPlaces(op, x) || knowsPlaces(op, r))
    return no(square.difference, "expected squares of what does not depend on its place");
  SmallVector<OnlineLeaf> leaves, read;
  found.leavesOf(op, r, leaves);
  found.leavesOf(op, x, read);
  SmallVector<OnlineAxis> kept = found.axesOfResult(reduction.op);
  kept.push_back(found.axisOf(found.n.first, found.n.second));
  for (OnlineLeaf &leaf : read)
    for (OnlineAxis axis : leaf.axes)
      if (!llvm::is_contained(kept, axis))
        return no(reduction.op, "expected the sum to keep all dimensions of what is squared");
  for (OnlineLeaf &leaf : leaves) {
    auto sum = leaf.tensor.getDefiningOp<linalg::GenericOp>();
    Operation *combiner = nullptr;
    if (!sum || !found.ops.contains(sum) || !reduces(sum) || isContraction(sum))
      continue;
    Value element = elementOf(sum, combiner);
    if (element && isa<arith::AddFOp>(combiner) && startsFromZero(sum) &&
        leaf.axes.size() + 1 == kept.size() && isSame(sum, element, op, x))
      square.sum = sum;
  }
  if (!square.sum)
    return no(square.difference,
              "expected distances from what is computed of the sum of the same elements");
  return checkRows(reduction, square.rowSteps, leaves);
}

/// True if what is reduced is computed of products that have a dimension along n.
bool OnlineFinder::reducesProducts() {
  OnlineAxis n = found.axisOf(found.n.first, found.n.second);
  for (Operation *op : found.ops)
    for (Value input : cast<linalg::GenericOp>(op).getDpsInputs())
      if (Operation *producer = input.getDefiningOp(); isPlain(producer) && sumsProducts(producer))
        for (unsigned dim : llvm::seq<unsigned>(0, cast<ShapedType>(input.getType()).getRank()))
          if (found.axisOf(input.getAsOpaquePointer(), dim) == n)
            return true;
  return false;
}

bool OnlineFinder::find(linalg::GenericOp last, bool products) {
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
    depends |= reduction.depends();
    found.reductions.push_back(reduction);
  }
  for (OnlineReduction &reduction : found.reductions)
    if (!checkPower(reduction) || !checkSquare(reduction))
      return false;
  if (depends)
    return true;
  if (!products)
    return no(last, "expected a sum of powers exp(x - m), m = max x, or of squares "
                    "(x - r)^2, r of the sum of x: none of what is reduced depends on "
                    "another reduction");
  found.products = reducesProducts();
  return found.products || no(last, "expected a product of what other products make, got a "
                                    "reduction of operands that no product is in");
}

bool OnlineFinder::findAlone(linalg::GenericOp op, unsigned loop) {
  Operation *combiner = nullptr;
  if (!isPlain(op) || !elementOf(op, combiner))
    return false;
  found.ops.insert(op);
  join(op);
  found.n = found.axisOf(op, loop);
  found.extent = op.getStaticLoopRanges()[loop];
  OnlineReduction reduction;
  reduction.op = op;
  reduction.loop = loop;
  found.reductions.push_back(reduction);
  return found.extent != 0 && checkAxes() && !found.ops.empty();
}

std::optional<Online> xetile::findOnline(linalg::GenericOp last, Operation *&where,
                                         std::string &why, bool products) {
  OnlineFinder finder;
  if (finder.find(last, products)) {
    finder.found.binary = mayBeBinary(finder.found);
    if (llvm::none_of(finder.found.reductions,
                      [](const OnlineReduction &each) { return each.square.has_value(); }))
      finder.found.reach = findReach(finder.found);
    return std::move(finder.found);
  }
  where = finder.where;
  why = finder.why;
  return std::nullopt;
}

std::optional<Online> xetile::aloneOnline(linalg::GenericOp op, unsigned loop) {
  OnlineFinder finder;
  if (!finder.findAlone(op, loop))
    return std::nullopt;
  return std::move(finder.found);
}
