//===- FindAttention.cpp - two contractions and the softmax between them ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction on tensors. Out: the ops from another contraction to its left operand, and
// what only they use; a function of these. Refused: results that are used elsewhere, too, sizes
// that only the run knows.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xetile/Linalg/Attention/AttentionOps.h"
#include "xetile/Linalg/InFunction.h"

using namespace mlir;
using namespace xetile;

static bool isReshape(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

/// True for an op that may lie between the contractions or before them.
static bool isBetween(Operation *op) {
  if (!op || !isInFunction(op) || !isMemoryEffectFree(op))
    return false;
  if (isReshape(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
           isa<RankedTensorType>(op->getResult(0).getType());
  return linalgOp.hasPureTensorSemantics() && !isContraction(op) &&
         !isa<linalg::ConvolutionOpInterface>(op) && !isa<linalg::FillOp>(op);
}

static bool isReduction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() > 0;
}

/// True if an op may be recomputed for each head or block: reshapes, copies, arithmetic.
static bool isCheapInput(Operation *op) {
  if (!isBetween(op) || isReduction(op) || op->getNumResults() != 1)
    return false;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return isReshape(op) || isa<arith::ArithDialect>(op->getDialect());
  if (linalgOp.hasIndexSemantics())
    return false;
  return llvm::all_of(op->getRegion(0).front().without_terminator(), [](Operation &inner) {
    return isa<arith::ArithDialect>(inner.getDialect());
  });
}

namespace {
class Finder {
public:
  explicit Finder(linalg::LinalgOp output) { found.output = output; }

  Result<AttentionOps> find();

private:
  bool leadsToScores(Value value);
  void addInputs();
  void addInits();
  Problem refuse();

  AttentionOps found;
  /// Ops that were visited, and whether they read scores.
  DenseMap<Operation *, bool> reads;
  /// Between the contractions.
  llvm::SetVector<Operation *> between;
  bool severalScores = false;
};
} // namespace

bool Finder::leadsToScores(Value value) {
  constexpr size_t kMost = 100; // of one attention, not of a whole model
  Operation *op = value.getDefiningOp();
  if (isContraction(op) && isInFunction(op)) {
    severalScores |= found.scores && found.scores != op;
    found.scores = cast<linalg::LinalgOp>(op);
    return true;
  }
  if (!isBetween(op) || reads.size() > kMost)
    return false;
  auto [known, isNew] = reads.try_emplace(op, false);
  if (!isNew)
    return known->second;
  bool any = false;
  for (Value operand : op->getOperands())
    any |= leadsToScores(operand);
  reads[op] = any;
  if (any)
    between.insert(op);
  return any;
}

/// Work on inputs that nothing else uses, and none that belongs to the matmul before it.
void Finder::addInputs() {
  SmallVector<Operation *> todo(found.ops.begin(), found.ops.end());
  while (!todo.empty()) {
    Operation *op = todo.pop_back_val();
    for (Value operand : op->getOperands()) {
      Operation *input = operand.getDefiningOp();
      if (!isCheapInput(input) || found.ops.contains(input) ||
          !llvm::all_of(input->getUsers(),
                        [&](Operation *user) { return found.ops.contains(user); }) ||
          (!isReshape(input) && llvm::any_of(input->getOperands(), [](Value value) {
            return isContraction(value.getDefiningOp());
          })))
        continue;
      found.ops.insert(input);
      // Those that read the same may be taken now.
      todo.assign(found.ops.begin(), found.ops.end());
      break;
    }
  }
}

/// Fills and memory that results start from; others may use them, too.
void Finder::addInits() {
  SmallVector<Operation *> todo(found.ops.begin(), found.ops.end());
  while (!todo.empty()) {
    Operation *op = todo.pop_back_val();
    for (Value operand : op->getOperands()) {
      Operation *made = operand.getDefiningOp();
      if (made && isInFunction(made) &&
          (isa<linalg::FillOp, tensor::EmptyOp>(made) ||
           (isReshape(made) && made->getOperand(0).getDefiningOp<linalg::FillOp>())) &&
          found.ops.insert(made))
        todo.push_back(made);
    }
  }
}

static bool hasStaticShapes(Operation *op) {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || (shaped.hasStaticShape() && shaped.getNumElements() != 0);
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}

Problem Finder::refuse() {
  for (Operation *op : between)
    if (!hasStaticShapes(op) || !hasStaticShapes(found.scores) || !hasStaticShapes(found.output))
      return "its sizes are not all known, or it has no elements";
  between.insert(found.scores);
  for (Operation *op : between)
    for (Operation *user : op->getUsers())
      if (!between.contains(user) && user != found.output)
        return op == found.scores ? "its scores are used elsewhere, too"
                                  : "what is computed of its scores is used elsewhere, too";
  return {};
}

Result<AttentionOps> Finder::find() {
  linalg::LinalgOp output = found.output;
  // Something has to lie between, with a sum or the like in it: two matmuls alone share no rows.
  if (!isInFunction(output) || isContraction(output->getOperand(0).getDefiningOp()) ||
      !leadsToScores(output->getOperand(0)) || severalScores ||
      llvm::none_of(between, isReduction) || reads.lookup(output->getOperand(1).getDefiningOp()))
    return Error("");
  if (Problem why = refuse())
    return Error(*why);
  found.ops.insert_range(between);
  found.ops.insert(output);
  addInputs();
  addInits();
  // Reshapes of the result make others needless.
  found.result = output->getResult(0);
  while (found.result.hasOneUse() && isReshape(*found.result.user_begin()) &&
         isInFunction(*found.result.user_begin())) {
    found.ops.insert(*found.result.user_begin());
    found.result = found.result.user_begin()->getResult(0);
  }
  SmallVector<Operation *> sorted(found.ops.begin(), found.ops.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  found.ops.clear();
  found.ops.insert_range(sorted);
  return found;
}

Result<AttentionOps> xetile::findAttention(linalg::LinalgOp output) {
  return isContraction(output) ? Finder(output).find() : Error("");
}

OwningOpRef<func::FuncOp> xetile::outlineAttention(const AttentionOps &attention,
                                                   SmallVectorImpl<Value> &arguments) {
  llvm::SetVector<Value> reads;
  for (Operation *op : attention.ops) {
    reads.insert_range(op->getOperands());
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, reads);
  }
  SmallVector<Operation *> constants;
  for (Value value : reads) {
    Operation *made = value.getDefiningOp();
    if (made && attention.ops.contains(made))
      continue;
    auto constant = dyn_cast_if_present<arith::ConstantOp>(made);
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
    if (constant && (!isa<ShapedType>(constant.getType()) || (elements && elements.isSplat())))
      constants.push_back(constant);
    else
      arguments.push_back(value);
  }
  OpBuilder b(attention.output->getContext());
  Location loc = attention.output->getLoc();
  auto type = b.getFunctionType(ValueRange(arguments).getTypes(), attention.result.getType());
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(loc, "attention", type);
  Block *body = function->addEntryBlock();
  b.setInsertionPointToStart(body);
  IRMapping map;
  map.map(arguments, body->getArguments());
  for (Operation *constant : constants)
    b.clone(*constant, map);
  for (Operation *op : attention.ops)
    b.clone(*op, map);
  func::ReturnOp::create(b, loc, map.lookup(attention.result));
  return function;
}
