//===- LayoutInference.cpp - who owns which pieces of each vector ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function of workgroup-level XeGPU with layouts on some operations and descriptors. Out: the
// ownership of each vector, and a convert_layout where an operation wants another one. Refused:
// layouts that do not fit or are for another number of subgroups, vectors that none tells about.
#include "xetile/Target/Xe/Workgroup/LayoutInference.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Transforms/WgMapInference.h"
#include "llvm/ADT/TypeSwitch.h"
#include <deque>

using namespace mlir;
using namespace xetile;

static bool isShared(Value value) { return getSharedShape(value.getType()).has_value(); }

/// Computed from nothing distributed, a copy for each use.
static bool isFree(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isFreelyDistributed(op);
}

Ownership xetile::dropChunk(const Ownership &value, unsigned rank) {
  Ownership result = value;
  result.dims.truncate(std::min<size_t>(rank, result.dims.size()));
  return result;
}

const Ownership *LayoutInference::lookup(Value value) const {
  auto found = owners.find(value);
  return found == owners.end() ? nullptr : &found->second;
}

const Ownership *LayoutInference::lookupAccess(Operation *op) const {
  auto found = accesses.find(op);
  return found == accesses.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// What is stated
//===----------------------------------------------------------------------===//

std::optional<Ownership> LayoutInference::read(Operation *op, xegpu::DistributeLayoutAttr layout,
                                               ArrayRef<int64_t> shape) {
  Result<Ownership> ownership = ownershipOfLayout(layout, shape);
  if (!ownership) {
    op->emitOpError() << ownership.error().message;
    return std::nullopt;
  }
  if (numSubgroups == 0)
    numSubgroups = ownership->numSubgroups;
  if (ownership->numSubgroups == numSubgroups)
    return *ownership;
  op->emitOpError("has a layout for ")
      << ownership->numSubgroups << " subgroups, but others of the function are for "
      << numSubgroups << "; expected the same number everywhere";
  return std::nullopt;
}

LogicalResult LayoutInference::state(Operation *op, Value value,
                                     xegpu::DistributeLayoutAttr layout) {
  if (!isWorkgroupLayout(layout) || !isShared(value))
    return success();
  std::optional<Ownership> ownership = read(op, layout, *getSharedShape(value.getType()));
  if (!ownership)
    return failure();
  set(value, ownership);
  return success();
}

LogicalResult LayoutInference::stateAccess(Operation *op, xegpu::DistributeLayoutAttr layout,
                                           ArrayRef<int64_t> shape) {
  if (!isWorkgroupLayout(layout))
    return success();
  std::optional<Ownership> ownership = read(op, layout, shape);
  if (!ownership)
    return failure();
  accesses.try_emplace(op, *ownership);
  return success();
}

/// The layout that a descriptor's type states.
static xegpu::DistributeLayoutAttr getLayout(Type type) {
  auto tile = dyn_cast<xegpu::TensorDescType>(type);
  return tile ? dyn_cast_if_present<xegpu::DistributeLayoutAttr>(tile.getLayout())
              : xegpu::DistributeLayoutAttr();
}

/// The layout of an access: its own, or that of the descriptor.
static xegpu::DistributeLayoutAttr getLayout(xegpu::DistributeLayoutAttr own, Value memory) {
  return own ? own : getLayout(memory.getType());
}

/// Results and accesses.
LogicalResult LayoutInference::collect(Operation *op) {
  for (OpResult result : op->getResults()) {
    auto layout = op->getAttrOfType<xegpu::DistributeLayoutAttr>(
        "layout_result_" + std::to_string(result.getResultNumber()));
    if (failed(state(op, result, layout)) || failed(state(op, result, getLayout(result.getType()))))
      return failure();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](xegpu::LoadNdOp load) -> LogicalResult {
        if (xegpu::DistributeLayoutAttr own = load.getLayoutAttr())
          return state(op, load.getValue(), own);
        // A descriptor's is that of memory.
        xegpu::DistributeLayoutAttr layout = getLayout(load.getTensorDesc().getType());
        if (!isWorkgroupLayout(layout))
          return success();
        auto tile = read(op, layout, load.getTensorDescType().getShape());
        if (!tile)
          return failure();
        std::optional<Ownership> vector = vectorOfLoad(load, *tile);
        if (!vector)
          return load.emitOpError("packs ")
                 << load.getType().getShape().back() << " rows, expected a multiple of them in "
                 << "sg_data, got " << tile->dims[0].pieceSize;
        set(load.getValue(), vector);
        return success();
      })
      .Case([&](xegpu::StoreNdOp store) {
        return stateAccess(op, getLayout(store.getLayoutAttr(), store.getTensorDesc()),
                           store.getValueType().getShape());
      })
      .Case([&](xegpu::PrefetchNdOp prefetch) {
        return stateAccess(op, getLayout(prefetch.getLayoutAttr(), prefetch.getTensorDesc()),
                           prefetch.getTensorDescType().getShape());
      })
      .Case([&](xegpu::LoadGatherOp load) {
        return state(op, load.getValue(), getLayout(load.getLayoutAttr(), load.getSource()));
      })
      .Case([&](xegpu::StoreScatterOp store) -> LogicalResult {
        auto vector = dyn_cast<VectorType>(store.getValue().getType());
        return vector ? stateAccess(op, getLayout(store.getLayoutAttr(), store.getDest()),
                                    vector.getShape())
                      : success();
      })
      .Case([&](xegpu::PrefetchOp prefetch) -> LogicalResult {
        auto offsets = dyn_cast_if_present<VectorType>(
            prefetch.getOffsets() ? prefetch.getOffsets().getType() : Type());
        return offsets ? stateAccess(op, prefetch.getLayoutAttr(), offsets.getShape()) : success();
      })
      .Case([&](xegpu::AtomicRMWOp atomic) {
        return state(op, atomic.getResult(),
                     getLayout(atomic.getLayoutAttr(), atomic.getTensorDesc()));
      })
      .Case(
          [&](xegpu::LoadMatrixOp load) { return state(op, load.getRes(), load.getLayoutAttr()); })
      .Case([&](xegpu::StoreMatrixOp store) -> LogicalResult {
        auto vector = dyn_cast<VectorType>(store.getData().getType());
        return vector ? stateAccess(op, store.getLayoutAttr(), vector.getShape()) : success();
      })
      .Case([&](xegpu::ConvertLayoutOp convert) {
        return state(op, convert.getResult(), convert.getTargetLayoutAttr());
      })
      .Case([&](xegpu::DpasOp dpas) { return state(op, dpas.getResult(), dpas.getLayoutCdAttr()); })
      .Case<scf::ForOp, scf::WhileOp>([&](auto loop) -> LogicalResult {
        for (Region *region : loop.getLoopRegions())
          for (BlockArgument argument : region->getArguments())
            if (failed(state(op, argument, getLayout(argument.getType()))))
              return failure();
        return success();
      })
      .Default([](Operation *) { return success(); });
}

/// What operations state about operands; it holds where the operand's definition states nothing.
LogicalResult LayoutInference::collectOperands(Operation *op) {
  if (auto dpas = dyn_cast<xegpu::DpasOp>(op)) {
    if (failed(state(op, dpas.getLhs(), dpas.getLayoutAAttr())) ||
        failed(state(op, dpas.getRhs(), dpas.getLayoutBAttr())))
      return failure();
  } else if (auto convert = dyn_cast<xegpu::ConvertLayoutOp>(op)) {
    if (failed(state(op, convert.getSource(), convert.getInputLayoutAttr())))
      return failure();
  } else if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op)) {
    // A slice says how what was reduced is shared out.
    auto slice = op->getAttrOfType<xegpu::SliceAttr>("layout_result_0");
    if (slice && llvm::equal(slice.getDims().asArrayRef(), reduction.getReductionDims()) &&
        slice.getParent().getRank() == reduction.getSourceVectorType().getRank() &&
        failed(state(op, reduction.getSource(), slice.getParent())))
      return failure();
  }
  for (OpOperand &operand : op->getOpOperands())
    if (auto layout = op->getAttrOfType<xegpu::DistributeLayoutAttr>(
            "layout_operand_" + std::to_string(operand.getOperandNumber())))
      if (failed(state(op, operand.get(), layout)))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// What follows
//===----------------------------------------------------------------------===//

void LayoutInference::set(Value value, const std::optional<Ownership> &ownership) {
  if (!ownership || !isShared(value) ||
      ArrayRef(ownership->shape()) != *getSharedShape(value.getType()))
    return;
  if (owners.try_emplace(value, *ownership).second)
    worklist.push_back(value);
}

/// The first that is known, and is not free to have any, holds for all.
void LayoutInference::tie(ValueRange values) {
  for (Value value : values)
    if (const Ownership *known = isFree(value) ? nullptr : lookup(value)) {
      Ownership ownership = *known;
      for (Value other : values)
        set(other, ownership);
      return;
    }
}

void LayoutInference::propagateThrough(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [result, init, argument, yielded] :
         llvm::zip_equal(loop.getResults(), loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues()))
      tie({argument, result, init, yielded});
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yielded] : llvm::zip_equal(
             loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
      tie({argument, init, yielded});
    for (auto [result, argument, passed] : llvm::zip_equal(
             loop.getResults(), loop.getAfterArguments(), loop.getConditionOp().getArgs()))
      tie({argument, result, passed});
    return;
  }
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (OpResult result : op->getResults()) {
      SmallVector<Value> tied{result};
      for (Region &region : op->getRegions())
        if (!region.empty())
          tied.push_back(region.front().getTerminator()->getOperand(result.getResultNumber()));
      tie(tied);
    }
    return;
  }
  if (isElementwiseOverSubgroups(op)) {
    SmallVector<Value> tied(op->getResults());
    llvm::append_range(tied, op->getOperands());
    tie(tied);
    return;
  }
  if (isa<xegpu::UpdateOffsetOp>(op)) {
    tie({op->getResult(0), op->getOperand(0)});
  } else if (auto atomic = dyn_cast<xegpu::AtomicRMWOp>(op)) {
    tie({atomic.getResult(), atomic.getTensorDesc(), atomic.getValue()});
  } else if (auto load = dyn_cast<xegpu::LoadGatherOp>(op)) {
    // The same rank, unless each loads a chunk.
    for (Value like : {Value(load.getSource()), load.getOffsets(), load.getMask()})
      if (like && isShared(like))
        tie({load.getValue(), like});
  }
  // From what an operation wants of its operands to those that have nothing yet, and from results.
  for (OpOperand &operand : op->getOpOperands())
    if (isShared(operand.get()) && !lookup(operand.get()))
      set(operand.get(), getWanted(operand));
  for (OpResult result : op->getResults())
    if (isShared(result) && !lookup(result))
      for (OpOperand &operand : op->getOpOperands())
        if (const Ownership *known =
                isShared(operand.get()) && !isFree(operand.get()) ? lookup(operand.get()) : nullptr)
          set(result, ownershipOfResult(operand, *known));
}

void LayoutInference::propagate() {
  // In the order in which they became known: what is stated nearer comes first.
  std::deque<Value> pending;
  while (!worklist.empty() || !pending.empty()) {
    llvm::append_range(pending, worklist);
    worklist.clear();
    Value value = pending.front();
    pending.pop_front();
    if (Operation *op = value.getDefiningOp())
      propagateThrough(op);
    else
      propagateThrough(value.getParentBlock()->getParentOp());
    for (Operation *user : llvm::to_vector(value.getUsers()))
      propagateThrough(user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user);
  }
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

std::optional<Ownership> LayoutInference::getWanted(OpOperand &operand) const {
  using Maybe = std::optional<Ownership>;
  Operation *op = operand.getOwner();
  if (!isShared(operand.get()))
    return std::nullopt;
  auto like = [&](const Ownership *known) { return known ? Maybe(*known) : Maybe(); };
  unsigned rank = getSharedShape(operand.get().getType())->size();
  auto withoutChunk = [&](const Ownership *known) {
    return known ? Maybe(dropChunk(*known, rank)) : Maybe();
  };
  auto ofAccess = [&](Value value) {
    if (const Ownership *stated = lookupAccess(op))
      return stated;
    return lookup(value);
  };
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case<xegpu::StoreNdOp, xegpu::StoreMatrixOp>([&](auto) { return like(lookupAccess(op)); })
      .Case([&](xegpu::LoadGatherOp load) { return withoutChunk(lookup(load.getValue())); })
      .Case([&](xegpu::StoreScatterOp store) { return withoutChunk(ofAccess(store.getValue())); })
      .Case([&](xegpu::PrefetchOp prefetch) {
        return prefetch.getOffsets() ? withoutChunk(ofAccess(prefetch.getOffsets())) : Maybe();
      })
      .Case([&](xegpu::AtomicRMWOp atomic) { return withoutChunk(lookup(atomic.getResult())); })
      .Case([&](xegpu::CreateDescOp create) { return withoutChunk(lookup(create.getResult())); })
      .Case([&](xegpu::UpdateOffsetOp update) { return withoutChunk(lookup(update.getResult())); })
      .Case([&](vector::TransferWriteOp write) { // its mask
        return operand.get() == write.getVector() ? Maybe() : like(lookup(write.getVector()));
      })
      .Case([&](vector::ExtractOp extract) -> Maybe {
        const Ownership *result = lookup(extract.getResult());
        if (result)
          return ownershipOfOperand(operand, *result);
        if (isa<VectorType>(extract.getResult().getType()))
          return std::nullopt;
        // Every subgroup has the number.
        Ownership whole{{}, numSubgroups};
        for (int64_t size : cast<VectorType>(operand.get().getType()).getShape())
          whole.dims.push_back(OwnedDim::whole(size));
        return whole;
      })
      .Case([&](scf::ForOp loop) {
        BlockArgument argument = loop.getTiedLoopRegionIterArg(&operand);
        return argument ? like(lookup(argument)) : Maybe();
      })
      .Case([&](scf::WhileOp loop) {
        return like(lookup(loop.getBeforeArguments()[operand.getOperandNumber()]));
      })
      .Case([&](scf::ConditionOp condition) {
        auto loop = cast<scf::WhileOp>(op->getParentOp());
        return operand.getOperandNumber() == 0
                   ? Maybe()
                   : like(lookup(loop.getAfterArguments()[operand.getOperandNumber() - 1]));
      })
      .Case([&](scf::YieldOp) {
        if (auto loop = dyn_cast<scf::WhileOp>(op->getParentOp()))
          return like(lookup(loop.getBeforeArguments()[operand.getOperandNumber()]));
        return like(lookup(op->getParentOp()->getResult(operand.getOperandNumber())));
      })
      .Default([&](Operation *) -> Maybe {
        if (op->getNumResults() != 1 || !isShared(op->getResult(0)))
          return std::nullopt;
        const Ownership *result = lookup(op->getResult(0));
        return result ? ownershipOfOperand(operand, *result) : Maybe();
      });
}

void LayoutInference::convert(OpOperand &operand, const Ownership &wanted) {
  Value value = operand.get();
  if (isFree(value)) { // it has no other use
    owners[value] = wanted;
    return;
  }
  for (Operation *user : value.getUsers()) {
    auto known = dyn_cast<xegpu::ConvertLayoutOp>(user);
    if (known && user->hasAttr("xetile.inserted") && *lookup(known.getResult()) == wanted) {
      operand.set(known.getResult());
      return;
    }
  }
  operand.set(convert(operand.getOwner()->getLoc(), value, wanted));
}

Value LayoutInference::convert(Location loc, Value value, const Ownership &wanted) {
  OpBuilder builder(scope->getContext());
  builder.setInsertionPointAfterValue(value);
  // What it says is not read again: the owners are known here.
  SmallVector<int32_t> ones(std::max(1u, wanted.rank()), 1);
  auto layout = xegpu::LayoutAttr::get(
      builder.getContext(), builder.getDenseI32ArrayAttr(ones), DenseI32ArrayAttr(),
      DenseI32ArrayAttr(), DenseI32ArrayAttr(), DenseI32ArrayAttr(), DenseI32ArrayAttr());
  auto conversion =
      xegpu::ConvertLayoutOp::create(builder, loc, value.getType(), value, layout, layout);
  conversion->setAttr("xetile.inserted", builder.getUnitAttr());
  owners[conversion.getResult()] = wanted;
  return conversion.getResult();
}

/// Behind an operation that cannot give its result under the ownership that was found for it.
void LayoutInference::convertResults(Operation *op) {
  for (Value result : op->getResults()) {
    const Ownership *known = lookup(result);
    if (!known)
      continue;
    Ownership wanted = *known, made = ownershipMade(op, wanted);
    if (made == wanted)
      continue;
    owners[result] = made;
    Value converted = convert(op->getLoc(), result, wanted);
    result.replaceAllUsesExcept(converted, converted.getDefiningOp());
  }
}

/// Whether a layout for subgroups stands at an operation, or on a descriptor that it takes or
/// makes.
static bool mentionsLayout(Operation *op) {
  return llvm::any_of(op->getAttrs(),
                      [](NamedAttribute attr) {
                        return isWorkgroupLayout(
                            dyn_cast<xegpu::DistributeLayoutAttr>(attr.getValue()));
                      }) ||
         llvm::any_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                      [](Type type) { return isWorkgroupLayout(getLayout(type)); });
}

void LayoutInference::cloneFreeVectors() {
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op) && !mentionsLayout(op))
      op->erase();
  ops.clear();
  scope->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  SmallVector<Operation *> clones;
  for (Operation *op : ops)
    if (isFreelyDistributed(op)) {
      OpBuilder builder(op);
      for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getUses()))) {
        clones.push_back(builder.clone(*op));
        use.set(clones.back()->getResult(0));
      }
    }
  llvm::append_range(ops, clones);
}

LogicalResult LayoutInference::checkComplete() {
  auto refuse = [](Operation *op, Value value) {
    return op->emitOpError("has a value of type ")
           << value.getType()
           << " beside layouts for subgroups, and none follows for it; expected a layout with "
              "sg_layout on its operation (layout, or layout_result_0) or on its descriptor";
  };
  for (Operation *op : ops) {
    for (Value result : op->getResults())
      if (isa<VectorType>(result.getType()) ? !lookup(result) : isShared(result) && !lookup(result))
        return refuse(op, result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (isShared(argument) && !lookup(argument))
            return refuse(op, argument);
  }
  return success();
}

LogicalResult LayoutInference::run(Operation *function) {
  scope = function;
  if (!scope->walk([&](Operation *op) { return WalkResult(failure(mentionsLayout(op))); })
           .wasInterrupted())
    return success();
  scope->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  cloneFreeVectors();
  for (Operation *op : ops)
    if (failed(collect(op)))
      return failure();
  for (Operation *op : ops)
    if (failed(collectOperands(op)))
      return failure();
  // Stores and prefetches want something although no value may be known.
  for (Operation *op : ops)
    if (accesses.contains(op))
      propagateThrough(op);
  propagate();
  if (failed(checkComplete()))
    return failure();
  for (Operation *op : ops)
    convertResults(op);
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands()) {
      std::optional<Ownership> wanted = getWanted(operand);
      const Ownership *known = lookup(operand.get());
      if (!wanted || !known || *wanted == *known || isa<xegpu::ConvertLayoutOp>(op))
        continue;
      if (!isa<VectorType>(operand.get().getType()))
        return op->emitOpError("needs a descriptor of type ")
               << operand.get().getType()
               << " under another layout than the one it was made with; expected one layout for "
                  "it, or two descriptors";
      convert(operand, *wanted);
    }
  return success();
}
