//===- LaneLowering.cpp - functions of a subgroup, op by op ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on a subgroup's vectors. Out: the same on pieces. Refused: operations without a
// lowering, vectors as arguments of kernels, of blocks, and of regions other than those of scf.
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/Target/Xe/Lanes/CheckUniform.h"

using namespace mlir;
using namespace xetile;

const LaneLowering *LaneLowerings::find(Operation *op) const {
  // Descriptors may come from some of these operations, too: such a one has no lowering.
  if (llvm::all_of(op->getResultTypes(), llvm::IsaPred<VectorType>))
    for (const auto &[holds, lowering] : general)
      if (holds(op))
        return &lowering;
  auto found = exact.find(op->getName().getTypeID());
  return found == exact.end() ? nullptr : &found->second;
}

LogicalResult xetile::refuseLowering(Operation *op) {
  return op->emitOpError("has no lowering to lanes: expected XeGPU, elementwise operations, vector "
                         "operations that move or reduce elements, vector.transfer_read and "
                         "transfer_write");
}

static const LaneLowerings &allLowerings() {
  static const LaneLowerings all = [] {
    LaneLowerings table;
    for (auto add :
         {addAtomicLowerings, addBarrierLowerings, addBlockLowerings, addControlFlowLowerings,
          addDescriptorLowerings, addDpasLowerings, addElementLowerings, addInsertionLowerings,
          addMatrixLowerings, addReductionLowerings, addScatteredLowerings, addStructuralLowerings,
          addTransferLowerings})
      add(table);
    return table;
  }();
  return all;
}

namespace {

/// Walks a module and dispatches.
class LaneDriver {
public:
  LaneDriver(gpu::GPUModuleOp module, const TargetInfo &target, bool printCosts)
      : table(allLowerings()), lanes(module, target), printCosts(printCosts) {
    lanes.lowerBlock = [&](Block &block) { return lowerBlock(block); };
  }

  LogicalResult lowerFunction(FunctionOpInterface function);

private:
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation *op);
  LogicalResult lowerRegions(Operation *op);
  FailureOr<bool> cutSignature(FunctionOpInterface function);
  LogicalResult eraseDead();

  const LaneLowerings &table;
  LaneContext lanes;
  bool printCosts;
  SmallVector<Operation *> dead;
};

} // namespace

/// True for operations on values of a subgroup.
static bool isOfSubgroup(Operation *op) {
  return isa_and_nonnull<xegpu::XeGPUDialect>(op->getDialect()) ||
         llvm::any_of(op->getOperandTypes(), LaneFragments::isCut) ||
         llvm::any_of(op->getResultTypes(), LaneFragments::isCut);
}

LogicalResult LaneDriver::lowerRegions(Operation *op) {
  for (Region &region : op->getRegions()) {
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), LaneFragments::isCut))
        return op->emitOpError("has vectors or descriptors as arguments of its region; expected "
                               "scf.for, scf.if and scf.while around them");
    for (Block &block : region)
      if (failed(lowerBlock(block)))
        return failure();
  }
  return success();
}

LogicalResult LaneDriver::lowerOp(Operation *op) {
  const LaneLowering *lowering = table.find(op);
  if (lowering && lowering->hasRegions)
    return lowering->lower(op, lanes);
  if (failed(lowerRegions(op)))
    return failure();
  if (!isOfSubgroup(op))
    return success();
  if (!op->isRegistered())
    return op->emitOpError("has no lowering to lanes: expected operations of a dialect that is "
                           "loaded");
  if (!lowering)
    return refuseLowering(op);
  lanes.b.moves = {};
  if (failed(lowering->lower(op, lanes)))
    return failure();
  if (printCosts && lowering->moves) {
    LaneMoves moves = lanes.b.moves;
    InFlightDiagnostic remark = op->emitRemark("moves elements with ");
    remark << moves.shuffles << " shuffles and " << moves.selects << " selects";
    if (moves.messages)
      remark << ", and " << moves.messages << " messages to and from shared local memory";
  }
  return success();
}

LogicalResult LaneDriver::lowerBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    lanes.b.setOp(&op);
    if (failed(lowerOp(&op)))
      return failure();
    if (isOfSubgroup(&op) && !op.hasTrait<OpTrait::IsTerminator>())
      dead.push_back(&op);
  }
  return success();
}

/// Arguments and results of a helper function in pieces; whether there are any.
FailureOr<bool> LaneDriver::cutSignature(FunctionOpInterface function) {
  Block &first = function.getFunctionBody().front();
  bool cut = llvm::any_of(first.getArgumentTypes(), LaneFragments::isCut);
  SmallVector<Type> inputs, results;
  if (auto type = dyn_cast<FunctionType>(function.getFunctionType()))
    for (Type result : type.getResults()) {
      auto vector = dyn_cast<VectorType>(result);
      if (!vector) {
        results.push_back(result);
        continue;
      }
      cut = true;
      LaneMap map = LaneMap::natural(vector.getShape(), lanes.count);
      const LaneTable &table =
          lanes.held.tableFor(map.attr(result.getContext()), vector.getShape());
      results.append(table.pieces,
                     VectorType::get({int64_t(table.registers)},
                                     LaneFragments::storedType(vector.getElementType())));
    }
  if (!cut)
    return false;
  auto helper = dyn_cast<func::FuncOp>(function.getOperation());
  if (!helper)
    return function.emitOpError("has vectors or descriptors as arguments, which a launch cannot "
                                "pass; expected memrefs and numbers");
  SmallVector<SmallVector<Type>> types;
  for (Value argument : first.getArguments()) {
    if (LaneFragments::isCut(argument.getType()) && !isa<VectorType>(argument.getType()))
      return function.emitOpError("has a descriptor as argument; expected its memref and offsets");
    types.push_back(lanes.held.typesOf(argument));
    llvm::append_range(inputs, types.back());
  }
  lanes.held.cutArguments(first, types);
  helper.setFunctionType(FunctionType::get(helper.getContext(), inputs, results));
  return true;
}

LogicalResult LaneDriver::eraseDead() {
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead)
    if (!op->use_empty())
      return (*op->user_begin())
          ->emitOpError("takes a value of a subgroup that nothing left to its lanes");
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  dead.clear();
  return success();
}

LogicalResult LaneDriver::lowerFunction(FunctionOpInterface function) {
  if (function.isExternal())
    return success();
  Block &first = function.getFunctionBody().front();
  unsigned count = first.getNumArguments();
  lanes.numbers.clear();
  lanes.b.top = &first.front();
  FailureOr<bool> cut = cutSignature(function);
  if (failed(cut))
    return failure();
  for (Block &block : llvm::drop_begin(function.getFunctionBody()))
    if (llvm::any_of(block.getArgumentTypes(), LaneFragments::isCut))
      return function.emitOpError(
          "has branches that carry vectors or descriptors; expected scf.for, "
          "scf.if and scf.while");
  for (Block &block : function.getFunctionBody())
    if (failed(lowerBlock(block)))
      return failure();
  if (failed(eraseDead()))
    return failure();
  if (*cut) {
    for (BlockArgument argument : first.getArguments().take_front(count))
      argument.dropAllUses();
    first.eraseArguments(0, count);
  }
  function->walk([](Operation *op) {
    op->removeAttr(lanesAttr);
    op->removeAttr(laneArgsAttr);
  });
  lanes.held.clear();
  lanes.scratch.finish();
  return success();
}

LogicalResult xetile::lowerToLanes(gpu::GPUModuleOp module, const TargetInfo &target,
                                   bool printCosts) {
  if (failed(checkUniform(module, target.subgroupSize)))
    return failure();
  LaneDriver driver(module, target, printCosts);
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!isa<LLVM::LLVMFuncOp>(function.getOperation()))
      if (failed(driver.lowerFunction(function)))
        return failure();
  return success();
}
