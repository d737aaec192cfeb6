//===- LayoutInference.cpp - who owns which pieces of each vector ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function of workgroup-level XeGPU with layouts on some operations and descriptors. Out: the
// ownership of each vector, and a convert_layout where an operation wants another one. Refused:
// layouts that do not fit or are for another number of subgroups, vectors that none tells about.
#include "xetile/Target/Xe/Workgroup/LayoutInference.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Transforms/WgMapInference.h"

using namespace mlir;
using namespace xetile;

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
// Conversions
//===----------------------------------------------------------------------===//

void LayoutInference::convert(OpOperand &operand, const Ownership &wanted) {
  Value value = operand.get();
  if (isFree(value)) { // it has no other use
    owners[value] = wanted;
    return;
  }
  for (Operation *user : value.getUsers()) {
    auto known = dyn_cast<xegpu::ConvertLayoutOp>(user);
    if (known && user->hasAttr(kInsertedAttr) && *lookup(known.getResult()) == wanted) {
      operand.set(known.getResult());
      return;
    }
  }
  operand.set(convert(operand.getOwner()->getLoc(), value, wanted));
}

Value LayoutInference::convert(Location loc, Value value, const Ownership &wanted) {
  OpBuilder builder(scope->getContext());
  builder.setInsertionPointAfterValue(value);
  // A placeholder, never read: the ownership is known here.
  SmallVector<int32_t> ones(std::max(1u, wanted.rank()), 1);
  auto layout = xegpu::LayoutAttr::get(
      builder.getContext(), builder.getDenseI32ArrayAttr(ones), DenseI32ArrayAttr(),
      DenseI32ArrayAttr(), DenseI32ArrayAttr(), DenseI32ArrayAttr(), DenseI32ArrayAttr());
  auto conversion =
      xegpu::ConvertLayoutOp::create(builder, loc, value.getType(), value, layout, layout);
  conversion->setAttr(kInsertedAttr, builder.getUnitAttr());
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

/// True if an operation, or a descriptor that it takes or makes, has a layout for subgroups.
static bool mentionsLayout(Operation *op) {
  return llvm::any_of(op->getAttrs(),
                      [](NamedAttribute attr) {
                        return isWorkgroupLayout(
                            dyn_cast<xegpu::DistributeLayoutAttr>(attr.getValue()));
                      }) ||
         llvm::any_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                      [](Type type) { return isWorkgroupLayout(layoutOfDescriptor(type)); });
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
