//===- LaneLowering.cpp - functions and control flow, op by op --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on a subgroup's vectors. Out: the same on pieces. Refused: operations without a
// lowering, descriptors that scf.while carries, vectors as arguments of kernels.
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Xe/Lanes/CheckUniform.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

bool LaneLowering::isCut(Type type) {
  return isa<VectorType, xegpu::TensorDescType, xegpu::MemDescType, xegpu::NbarrierType>(type);
}

Type LaneLowering::storedType(Type element) {
  if (isa<FloatTF32Type>(element))
    return b.getF32Type();
  if (auto integer = dyn_cast<IntegerType>(element); integer && !integer.isSignless())
    return b.getIntegerType(integer.getWidth());
  return element;
}

LaneLayoutAttr LaneLowering::layoutOf(Value value) {
  LaneLayoutAttr &known = layouts[value];
  if (known)
    return known;
  ArrayAttr list;
  unsigned number = 0;
  if (auto result = dyn_cast<OpResult>(value)) {
    list = result.getOwner()->getAttrOfType<ArrayAttr>(lanesAttr);
    number = result.getResultNumber();
  } else {
    auto argument = cast<BlockArgument>(value);
    Operation *parent = argument.getOwner()->getParentOp();
    number = argument.getArgNumber();
    if (isa<scf::ForOp>(parent))
      --number;
    bool isBefore = isa<scf::WhileOp>(parent) &&
                    argument.getOwner()->getParent() == &cast<scf::WhileOp>(parent).getBefore();
    list = parent->getAttrOfType<ArrayAttr>(
        isa<FunctionOpInterface>(parent) || isBefore ? laneArgsAttr : lanesAttr);
  }
  if (list && number < list.size())
    known = dyn_cast<LaneLayoutAttr>(list[number]);
  if (!known) // made between the passes
    known =
        LaneMap::natural(cast<VectorType>(value.getType()).getShape(), lanes).attr(b.getContext());
  return layouts[value] = known;
}

const LaneTable &LaneLowering::tableFor(LaneLayoutAttr layout, ArrayRef<int64_t> shape) {
  auto &table = tables[{layout.getAsOpaquePointer(), shape.vec()}];
  if (!table)
    table = std::make_unique<LaneTable>(LaneMap(layout), shape, lanes);
  return *table;
}

const LaneTable &LaneLowering::tableOf(Value value) {
  return tableFor(layoutOf(value), cast<VectorType>(value.getType()).getShape());
}

VectorType LaneLowering::pieceType(Value value) {
  Type element = storedType(cast<VectorType>(value.getType()).getElementType());
  return VectorType::get({LaneMap(layoutOf(value)).numRegisters()}, element);
}

SmallVector<Type> LaneLowering::typesOf(Value value) {
  if (isa<VectorType>(value.getType()))
    return SmallVector<Type>(tableOf(value).pieces, pieceType(value));
  return {value.getType()};
}

void LaneLowering::flatten(ValueRange values, Values &flat) {
  for (Value value : values) {
    if (isCut(value.getType()))
      llvm::append_range(flat, piecesOf(value));
    else
      flat.push_back(value);
  }
}

void LaneLowering::cutArguments(Block &block, unsigned first, ArrayRef<SmallVector<Type>> types) {
  unsigned count = types.size();
  SmallVector<BlockArgument> old(block.getArguments().slice(first, count));
  unsigned at = first + count;
  for (auto [argument, pieces] : llvm::zip_equal(old, types)) {
    Values made;
    for (Type type : pieces)
      made.push_back(block.insertArgument(at++, type, argument.getLoc()));
    if (isCut(argument.getType()))
      define(argument, made);
    else
      argument.replaceAllUsesWith(made.front());
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Old arguments stay until their users are gone: the maps that are kept are keyed by them.
static void eraseArguments(Block &block, unsigned first, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    block.getArgument(first + i).dropAllUses();
  block.eraseArguments(first, count);
}

LogicalResult LaneLowering::lowerFor(scf::ForOp op) {
  bool cut = llvm::any_of(op.getResultTypes(), isCut);
  if (!cut)
    return lowerBlock(*op.getBody());
  Values inits;
  SmallVector<SmallVector<Type>> types;
  for (auto [init, argument] : llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs())) {
    size_t before = inits.size();
    flatten(ValueRange(init), inits);
    types.push_back(llvm::to_vector(ValueRange(ArrayRef(inits).drop_front(before)).getTypes()));
    if (isa<xegpu::TensorDescType>(argument.getType()))
      rankOf[argument] = rankOf[init];
  }
  unsigned count = op.getNumResults();
  auto loop = scf::ForOp::create(b, loc, op.getLowerBound(), op.getUpperBound(), op.getStep(),
                                 inits, nullptr, op.getUnsignedCmp());
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  loop->removeAttr(lanesAttr);
  // The builder gave the body of the new loop no terminator where it carries something.
  Block &body = *loop.getBody();
  if (!body.empty())
    body.getTerminator()->erase();
  unsigned at = 1;
  for (auto [argument, pieces] : llvm::zip_equal(op.getRegionIterArgs(), types)) {
    Values made;
    for (size_t i = 0; i < pieces.size(); ++i)
      made.push_back(body.getArgument(at++));
    if (!isCut(argument.getType())) {
      argument.replaceAllUsesWith(made.front());
      continue;
    }
    if (isa<VectorType>(argument.getType()))
      layouts[argument] = layoutOf(op.getResult(argument.getArgNumber() - 1));
    define(argument, made);
  }
  op.getInductionVar().replaceAllUsesWith(body.getArgument(0));
  body.getOperations().splice(body.end(), op.getBody()->getOperations());
  if (failed(lowerBlock(body)))
    return failure();
  at = 0;
  for (auto [result, pieces] : llvm::zip_equal(op.getResults(), types)) {
    Values made(loop.getResults().slice(at, pieces.size()));
    at += pieces.size();
    if (isCut(result.getType())) {
      define(result, made);
      rankOf[result] = rankOf[op.getRegionIterArg(result.getResultNumber())];
    } else {
      result.replaceAllUsesWith(made.front());
    }
  }
  (void)count;
  return success();
}

LogicalResult LaneLowering::lowerIf(scf::IfOp op) {
  if (llvm::none_of(op.getResultTypes(), isCut)) {
    for (Region &region : op->getRegions())
      if (!region.empty() && failed(lowerBlock(region.front())))
        return failure();
    return success();
  }
  Values yes(op.thenYield().getOperands()), no(op.elseYield().getOperands());
  for (Region &region : op->getRegions())
    if (failed(lowerBlock(region.front())))
      return failure();
  b.setInsertionPoint(op);
  loc = op.getLoc();
  // What both branches give alike, as most of a descriptor, is known behind them, too.
  auto commonOf = [&](Value left, Value right) -> Value {
    APInt number, other;
    if (left == right && !op->isAncestor(left.getParentBlock()->getParentOp()))
      return left;
    if (matchPattern(left, m_ConstantInt(&number)) && matchPattern(right, m_ConstantInt(&other)) &&
        number == other)
      return constant(left.getType(), number.getSExtValue());
    return {};
  };
  Values made, yesLeft, noLeft; // null where the branches differ
  SmallVector<size_t> counts;
  // Terminators have pieces by now.
  Values allYes(op.thenYield().getOperands()), allNo(op.elseYield().getOperands());
  auto sizeOf = [&](Value value) { return isCut(value.getType()) ? piecesOf(value).size() : 1; };
  for (auto [result, left, right] : llvm::zip_equal(op.getResults(), yes, no)) {
    if (sizeOf(left) != sizeOf(right))
      return op.emitOpError("gives descriptors of memory of different ranks, expected one rank");
    rankOf[result] = rankOf.lookup(left);
    counts.push_back(sizeOf(left));
    for (size_t i = 0; i < counts.back(); ++i) {
      Value mine = allYes[made.size()], other = allNo[made.size()];
      made.push_back(isa<VectorType>(mine.getType()) ? Value() : commonOf(mine, other));
      if (made.back())
        continue;
      yesLeft.push_back(mine);
      noLeft.push_back(other);
    }
  }
  auto branch = scf::IfOp::create(b, loc, ValueRange(yesLeft).getTypes(), op.getCondition(),
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(op.getThenRegion());
  branch.getElseRegion().takeBody(op.getElseRegion());
  branch.thenYield()->setOperands(yesLeft);
  branch.elseYield()->setOperands(noLeft);
  unsigned number = 0;
  for (Value &value : made)
    if (!value)
      value = branch.getResult(number++);
  ArrayRef<Value> left = made;
  for (auto [result, count] : llvm::zip_equal(op.getResults(), counts)) {
    if (isCut(result.getType()))
      define(result, Values(left.take_front(count)));
    else
      result.replaceAllUsesWith(left.front());
    left = left.drop_front(count);
  }
  return success();
}

LogicalResult LaneLowering::lowerWhile(scf::WhileOp op) {
  auto anyCut = [](auto types) { return llvm::any_of(types, isCut); };
  if (!anyCut(op.getResultTypes()) && !anyCut(op.getInits().getTypes()))
    return failure(failed(lowerBlock(*op.getBeforeBody())) ||
                   failed(lowerBlock(*op.getAfterBody())));
  for (Value value : op->getOperands())
    if (isCut(value.getType()) && !isa<VectorType>(value.getType()))
      return op.emitOpError("carries a descriptor; expected its offsets to be carried, and the "
                            "descriptor before the loop");
  Values inits;
  flatten(op.getInits(), inits);
  SmallVector<Type> types;
  SmallVector<SmallVector<Type>> before, after;
  for (Value argument : op.getBeforeArguments())
    before.push_back(typesOf(argument));
  for (auto [result, argument] : llvm::zip_equal(op.getResults(), op.getAfterArguments())) {
    if (isa<VectorType>(argument.getType()))
      layouts[argument] = layoutOf(result);
    after.push_back(typesOf(result));
    llvm::append_range(types, after.back());
  }
  auto loop = scf::WhileOp::create(b, loc, types, inits);
  for (auto [from, to, list] : {std::tuple(&op.getBefore(), &loop.getBefore(), &before),
                                std::tuple(&op.getAfter(), &loop.getAfter(), &after)}) {
    to->takeBody(*from);
    cutArguments(to->front(), 0, *list);
  }
  if (failed(lowerBlock(loop.getBefore().front())) || failed(lowerBlock(loop.getAfter().front())))
    return failure();
  size_t at = 0;
  for (auto [result, pieces] : llvm::zip_equal(op.getResults(), after)) {
    Values made(loop.getResults().slice(at, pieces.size()));
    at += pieces.size();
    if (isCut(result.getType()))
      define(result, made);
    else
      result.replaceAllUsesWith(made.front());
  }
  eraseArguments(loop.getBefore().front(), 0, before.size());
  eraseArguments(loop.getAfter().front(), 0, after.size());
  return success();
}

LogicalResult LaneLowering::lowerTerminator(Operation *op) {
  Values flat;
  flatten(op->getOperands(), flat);
  op->setOperands(flat);
  return success();
}

LogicalResult LaneLowering::lowerCall(func::CallOp op) {
  Values operands;
  flatten(op.getOperands(), operands);
  SmallVector<Type> types;
  SmallVector<size_t> counts;
  for (Value result : op.getResults()) {
    SmallVector<Type> pieces = typesOf(result);
    counts.push_back(pieces.size());
    llvm::append_range(types, pieces);
  }
  auto call = func::CallOp::create(b, loc, op.getCallee(), types, operands);
  size_t at = 0;
  for (auto [result, number] : llvm::zip_equal(op.getResults(), counts)) {
    Values made(call.getResults().slice(at, number));
    at += number;
    if (isCut(result.getType()))
      define(result, made);
    else
      result.replaceAllUsesWith(made.front());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult LaneLowering::lowerOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return lowerWhile(loop);
  for (Region &region : op->getRegions()) {
    for (Block &block : region)
      if (llvm::any_of(block.getArgumentTypes(), isCut))
        return op->emitOpError("has vectors or descriptors as arguments of its region; expected "
                               "scf.for, scf.if and scf.while around them");
    for (Block &block : region)
      if (failed(lowerBlock(block)))
        return failure();
  }
  bool isXeGPU = op->getDialect() && op->getDialect()->getNamespace() == "xegpu";
  bool touches = isXeGPU || llvm::any_of(op->getOperandTypes(), isCut) ||
                 llvm::any_of(op->getResultTypes(), isCut);
  if (!touches)
    return success();
  if (!op->isRegistered())
    return op->emitOpError("has no lowering to lanes: expected operations of a dialect that is "
                           "loaded");
  if (op->hasTrait<OpTrait::IsTerminator>())
    return lowerTerminator(op);
  if (auto call = dyn_cast<func::CallOp>(op))
    return lowerCall(call);
  // Descriptors may come from some of these operations, too: such a one has no lowering.
  bool givesVectors = llvm::all_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
  if (givesVectors && isElementwise(op))
    return lowerElementwise(op);
  if (givesVectors && isFreeOfLanes(op))
    return lowerFree(op);
  if (isStructural(op)) {
    numSelects = numShuffles = numMessages = 0;
    if (failed(lowerStructural(op)))
      return failure();
    if (printCosts) {
      InFlightDiagnostic remark = op->emitRemark("moves elements with ");
      remark << numShuffles << " shuffles and " << numSelects << " selects";
      if (numMessages)
        remark << ", and " << numMessages << " messages to and from shared local memory";
    }
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](xegpu::CreateNdDescOp create) { return lowerCreateNd(create); })
      .Case([&](xegpu::UpdateNdOffsetOp update) { return lowerUpdateNd(update); })
      .Case([&](xegpu::LoadNdOp load) { return lowerLoadNd(load); })
      .Case([&](xegpu::StoreNdOp store) { return lowerStoreNd(store); })
      .Case([&](xegpu::PrefetchNdOp prefetch) { return lowerPrefetchNd(prefetch); })
      .Case([&](xegpu::DpasOp dpas) { return lowerDpas(dpas); })
      .Case<xegpu::AllocNbarrierOp, xegpu::InitNbarrierOp, xegpu::NbarrierArriveOp,
            xegpu::NbarrierWaitOp, xegpu::FenceOp>([&](auto) { return lowerBarrier(op); })
      .Case([&](UnrealizedConversionCastOp) { return success(); })
      .Default([&](Operation *other) { return lowerMemory(other); });
}

LogicalResult LaneLowering::lowerBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    b.setInsertionPoint(&op);
    loc = op.getLoc();
    if (failed(lowerOp(&op)))
      return failure();
    bool rebuilt =
        isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) &&
        (op.getNumRegions() && (op.getRegion(0).empty() || op.getRegion(0).front().empty()));
    bool isXeGPU = op.getDialect() && op.getDialect()->getNamespace() == "xegpu";
    bool cut = isXeGPU || llvm::any_of(op.getOperandTypes(), isCut) ||
               llvm::any_of(op.getResultTypes(), isCut);
    if ((rebuilt || cut) && !op.hasTrait<OpTrait::IsTerminator>())
      dead.push_back(&op);
  }
  return success();
}

LogicalResult LaneLowering::lowerFunction(FunctionOpInterface function) {
  if (function.isExternal())
    return success();
  laneTables.clear();
  laneMasks.clear();
  laneNumber = {};
  Block &first = function.getFunctionBody().front();
  top = &first.front();
  unsigned count = first.getNumArguments();
  bool cut = llvm::any_of(first.getArgumentTypes(), isCut);
  SmallVector<Type> results;
  if (auto type = dyn_cast<FunctionType>(function.getFunctionType()))
    for (Type result : type.getResults()) {
      auto vector = dyn_cast<VectorType>(result);
      if (!vector) {
        results.push_back(result);
        continue;
      }
      cut = true;
      LaneMap map = LaneMap::natural(vector.getShape(), lanes);
      const LaneTable &table = tableFor(map.attr(b.getContext()), vector.getShape());
      results.append(table.pieces, VectorType::get({int64_t(table.registers)},
                                                   storedType(vector.getElementType())));
    }
  if (cut) {
    if (!isa<func::FuncOp>(function))
      return function.emitOpError("has vectors or descriptors as arguments, which a launch cannot "
                                  "pass; expected memrefs and numbers");
    SmallVector<SmallVector<Type>> types;
    SmallVector<Type> inputs;
    for (Value argument : first.getArguments()) {
      if (isCut(argument.getType()) && !isa<VectorType>(argument.getType()))
        return function.emitOpError(
            "has a descriptor as argument; expected its memref and offsets");
      types.push_back(typesOf(argument));
      llvm::append_range(inputs, types.back());
    }
    cutArguments(first, 0, types);
    cast<func::FuncOp>(function).setFunctionType(
        FunctionType::get(b.getContext(), inputs, results));
    function->removeAttr(laneArgsAttr);
  }
  for (Block &block : function.getFunctionBody())
    if (failed(lowerBlock(block)))
      return failure();
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead) {
    if (op->use_empty())
      continue;
    (*op->user_begin())->emitOpError("takes a value of a subgroup that nothing left to its lanes");
    return failure();
  }
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  dead.clear();
  if (cut)
    eraseArguments(first, 0, count);
  function->removeAttr(laneArgsAttr);
  function->walk([](Operation *op) {
    op->removeAttr(lanesAttr);
    op->removeAttr(laneArgsAttr);
  });
  held.clear();
  layouts.clear();
  finishScratch();
  return success();
}

LogicalResult LaneLowering::run() {
  if (failed(checkUniform(module, lanes)))
    return failure();
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!isa<LLVM::LLVMFuncOp>(function.getOperation()))
      if (failed(lowerFunction(function)))
        return failure();
  return success();
}
