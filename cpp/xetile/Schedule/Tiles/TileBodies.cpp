//===- TileBodies.cpp - scalar code of linalg ops on vectors ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg op, the places of its loops, a scalar of its body. Out: the vector of the scalar.
// Refused: ops that vectors do not have, scalars from outside that are no constants.
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/ReachAttrs.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Tiles/AtDepth.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace xetile::transform_ops {

FailureOr<Value> TileWriter::read(linalg::LinalgOp op, OpOperand &operand, ArrayRef<Place> loops,
                                  TypedAttr padding) {
  if (!isa<RankedTensorType>(operand.get().getType())) {
    if (TypedAttr constant = getSplat(operand.get()))
      return splat(constant);
    return numberOfRun(op, operand.get());
  }
  SmallVector<Place> places;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    FailureOr<Place> place = placeOf(expr, loops);
    if (failed(place))
      return readByIndices(op, operand, loops, padding);
    places.push_back(*place);
  }
  return value(operand.get(), places, padding);
}

/// A number of the caller, or one that the function computes before the kernel, as of its sizes.
FailureOr<Value> TileWriter::numberOfRun(Operation *op, Value scalar) {
  // Bits are computed again of what is passed.
  Operation *made = scalar.getDefiningOp();
  if (scalar.getType().isInteger(1) && made && isPure(made) &&
      made->getBlock() == workgroups->getBlock()) {
    AtDepth outermost(*this, 0);
    scalar = b.clone(*made)->getResult(0);
    return Value(
        vector::BroadcastOp::create(b, loc, VectorType::get({1, 1}, scalar.getType()), scalar));
  }
  bool isPassed = scalar.getParentBlock() == workgroups->getBlock() &&
                  (isTileElement(scalar.getType()) || isa<IndexType>(scalar.getType()));
  if (!isPassed)
    return refuse(
        op, "expected numbers that are there before the kernel, of the types of tensors' elements");
  return Value(
      vector::BroadcastOp::create(b, loc, VectorType::get({1, 1}, scalar.getType()), scalar));
}

/// Ops that `wanted` is computed by, in the order of the block.
static llvm::SmallPtrSet<Operation *, 16> opsFor(Value wanted, Block *block) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Value> open{wanted};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == block && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return needed;
}

FailureOr<Value> TileWriter::scalarCode(linalg::LinalgOp op, ArrayRef<Place> loops, Value wanted,
                                        TypedAttr padding) {
  return scalarCode(
      op, wanted, [&](OpOperand &operand) { return read(op, operand, loops, padding); },
      [&](unsigned loop) { return indices(loops[loop]); });
}

FailureOr<Value>
TileWriter::scalarCode(linalg::LinalgOp op, Value wanted,
                       llvm::function_ref<FailureOr<Value>(OpOperand &)> readOperand,
                       llvm::function_ref<Value(unsigned)> indexOf) {
  Block *block = op.getBlock();
  DenseMap<Value, Value> known;
  auto get = [&](Value scalar) -> FailureOr<Value> {
    if (Value found = known.lookup(scalar))
      return found;
    if (auto argument = dyn_cast<BlockArgument>(scalar); argument && argument.getOwner() == block) {
      FailureOr<Value> vector = readOperand(op->getOpOperand(argument.getArgNumber()));
      if (succeeded(vector))
        known[scalar] = *vector;
      return vector;
    }
    if (TypedAttr constant = getSplat(scalar))
      return splat(constant);
    if (Value variable = variables.lookup(scalar)) {
      Place place;
      place.base = variable;
      return indices(place);
    }
    return numberOfRun(op, scalar);
  };
  llvm::SmallPtrSet<Operation *, 16> needed = opsFor(wanted, block);
  // The operand with the most dimensions tells where results of a loop are wanted: they become one.
  SmallVector<BlockArgument> reads;
  for (BlockArgument argument : block->getArguments())
    if (plan.blocks && (argument == wanted || llvm::any_of(argument.getUsers(), [&](Operation *by) {
                          return needed.contains(by);
                        })))
      reads.push_back(argument);
  auto rank = [&](BlockArgument argument) {
    auto type = dyn_cast<RankedTensorType>(op->getOperand(argument.getArgNumber()).getType());
    return type ? type.getRank() : int64_t(0);
  };
  llvm::sort(reads, [&](BlockArgument x, BlockArgument y) {
    return std::pair(-rank(x), x.getArgNumber()) < std::pair(-rank(y), y.getArgNumber());
  });
  for (BlockArgument argument : reads)
    if (failed(get(argument)))
      return failure();
  for (Operation &each : *block) {
    if (!needed.contains(&each) || isa<arith::ConstantOp>(each))
      continue;
    if (each.getNumResults() != 1 || each.getNumRegions() != 0)
      return refuse(&each,
                    "expected elementwise ops of one result in the body of a linalg op, got " +
                        each.getName().getStringRef());
    FailureOr<Value> vector = inner(&each, indexOf, get);
    if (failed(vector))
      return failure();
    known[each.getResult(0)] = *vector;
  }
  return get(wanted);
}

/// The operand that a mask leaves as it is where it hides nothing. Null for other ops.
/// (Scores of -0 stay what they are, their powers are those of 0.)
static Value unmasked(Operation *op, ArrayRef<Value> operands) {
  if (isa<arith::SelectOp>(op)) {
    if (matchPattern(operands[0], m_One()))
      return operands[1];
    return matchPattern(operands[0], m_Zero()) ? operands[2] : Value();
  }
  if (isa<arith::AddFOp>(op))
    for (unsigned zero : {0, 1})
      if (matchPattern(operands[zero], m_AnyZeroFloat()))
        return operands[1 - zero];
  return {};
}

FailureOr<Value> TileWriter::inner(Operation *op, llvm::function_ref<Value(unsigned)> indexOf,
                                   llvm::function_ref<FailureOr<Value>(Value)> get) {
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return indexOf(index.getDim());
  bool isSeen = llvm::any_of(scopes, [](const auto &scope) { return scope->seen; });
  if (auto known = op->getAttrOfType<BoolAttr>(kSeenAttr); known && isSeen)
    return splat(known);
  llvm::SaveAndRestore<Location> at(loc, isa<UnknownLoc>(op->getLoc()) ? loc : op->getLoc());
  SmallVector<Value> operands;
  bool extracts = isa<tensor::ExtractOp>(op);
  for (Value operand : op->getOperands().drop_front(extracts ? 1 : 0)) {
    FailureOr<Value> vector = get(operand);
    if (failed(vector))
      return failure();
    operands.push_back(*vector);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return valueAt(op, extract.getTensor(), operands);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    FailureOr<Value> vector =
        indices(apply.getAffineMap().getResult(0), apply.getAffineMap().getNumDims(), operands);
    if (failed(vector))
      return refuse(op, "expected indices from zero on in quotients");
    return vector;
  }
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return refuse(op, "expected elementwise ops in the body of a linalg op, got " +
                          op->getName().getStringRef());
  if (plan.narrow && op->getResult(0).getType().isF32()) {
    if (isa<math::ExpOp>(op))
      return power(operands.front());
    if (Value simpler = isa<math::Exp2Op>(op)    ? binaryPower(operands.front())
                        : isa<arith::MulFOp>(op) ? product(operands[0], operands[1])
                                                 : Value())
      return simpler;
  }
  if (isSeen)
    if (Value simpler = unmasked(op, operands))
      return simpler;
  SmallVector<int64_t> shape = meet(operands);
  OperationState state(loc, op->getName(), operands,
                       VectorType::get(shape, op->getResult(0).getType()), op->getAttrs());
  state.attributes.erase(kSeenAttr);
  Operation *made = b.create(state);
  SmallVector<Value> folded;
  if (!isSeen || failed(b.tryFold(made, folded)) || folded.size() != 1)
    return made->getResult(0);
  made->erase();
  return folded.front();
}

} // namespace xetile::transform_ops
