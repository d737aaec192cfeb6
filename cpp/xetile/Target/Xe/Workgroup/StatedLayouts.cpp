//===- StatedLayouts.cpp - layouts that operations and descriptors state --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: layouts on operations and descriptor types. Out: the ownership of the vectors and accesses
// that they speak of. Refused: layouts that do not fit their vector, or are for another number of
// subgroups than others.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Xe/Workgroup/LayoutInference.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

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

/// The layout of an access: its own, or that of the descriptor.
static xegpu::DistributeLayoutAttr layoutOfAccess(xegpu::DistributeLayoutAttr own, Value memory) {
  return own ? own : layoutOfDescriptor(memory.getType());
}

/// Results and accesses.
// Long: where each operation states its layout, and nothing between them.
LogicalResult LayoutInference::collect(Operation *op) {
  for (OpResult result : op->getResults()) {
    auto layout = op->getAttrOfType<xegpu::DistributeLayoutAttr>(
        "layout_result_" + std::to_string(result.getResultNumber()));
    if (failed(state(op, result, layout)) ||
        failed(state(op, result, layoutOfDescriptor(result.getType()))))
      return failure();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](xegpu::LoadNdOp load) -> LogicalResult {
        if (xegpu::DistributeLayoutAttr own = load.getLayoutAttr())
          return state(op, load.getValue(), own);
        // A descriptor's is that of memory.
        xegpu::DistributeLayoutAttr layout = layoutOfDescriptor(load.getTensorDesc().getType());
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
        return stateAccess(op, layoutOfAccess(store.getLayoutAttr(), store.getTensorDesc()),
                           store.getValueType().getShape());
      })
      .Case([&](xegpu::PrefetchNdOp prefetch) {
        return stateAccess(op, layoutOfAccess(prefetch.getLayoutAttr(), prefetch.getTensorDesc()),
                           prefetch.getTensorDescType().getShape());
      })
      .Case([&](xegpu::LoadGatherOp load) {
        return state(op, load.getValue(), layoutOfAccess(load.getLayoutAttr(), load.getSource()));
      })
      .Case([&](xegpu::StoreScatterOp store) -> LogicalResult {
        auto vector = dyn_cast<VectorType>(store.getValue().getType());
        return vector ? stateAccess(op, layoutOfAccess(store.getLayoutAttr(), store.getDest()),
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
                     layoutOfAccess(atomic.getLayoutAttr(), atomic.getTensorDesc()));
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
            if (failed(state(op, argument, layoutOfDescriptor(argument.getType()))))
              return failure();
        return success();
      })
      .Default([](Operation *) { return success(); });
}

/// Stated layouts of operands; they hold where the operand's definition states nothing.
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
