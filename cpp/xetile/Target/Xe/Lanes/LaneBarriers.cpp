//===- LaneBarriers.cpp - named barriers and fences --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: xegpu's named barriers and fences. Out: a barrier of the workgroup, xevm.memfence.
// Refused: named barriers that not all subgroups of the workgroup take part in: no public builtin
// makes one.
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

static LogicalResult lower(xegpu::FenceOp op, LaneContext &lanes) {
  auto scope = op.getFenceScope() == xegpu::FenceScope::Workgroup ? xevm::MemScope::WORKGROUP
                                                                  : xevm::MemScope::DEVICE;
  auto space = op.getMemoryKind() == xegpu::MemorySpace::SLM ? xevm::AddrSpace::SHARED
                                                             : xevm::AddrSpace::GLOBAL;
  xevm::MemfenceOp::create(lanes.b, scope, space);
  return success();
}

static LogicalResult lower(xegpu::InitNbarrierOp op, LaneContext &lanes) {
  APInt participants;
  auto function = op->getParentOfType<gpu::GPUFuncOp>();
  std::optional<ArrayRef<int32_t>> block = function ? function.getKnownBlockSize() : std::nullopt;
  if (!matchPattern(op.getParticipantThreadNum(), m_ConstantInt(&participants)) || !block)
    return op->emitOpError("needs a constant number of participants, and known_block_size at the "
                           "kernel: only barriers of all subgroups have a lowering");
  int64_t subgroups = llvm::product_of(*block) / lanes.count;
  if (participants.getZExtValue() != uint64_t(subgroups))
    return op->emitOpError("has ")
           << participants.getZExtValue() << " participants, expected the " << subgroups
           << " subgroups of the workgroup: no public builtin makes a "
              "barrier of some";
  lanes.held.define(op.getResult(), {});
  return success();
}

static LogicalResult lower(xegpu::NbarrierWaitOp, LaneContext &lanes) {
  gpu::BarrierOp::create(lanes.b);
  return success();
}

/// To arrive without waiting is to wait at the wait.
template <typename Op> static LogicalResult drop(Op, LaneContext &) { return success(); }

void xetile::addBarrierLowerings(LaneLowerings &table) {
  table.add<xegpu::FenceOp>(lower);
  table.add<xegpu::InitNbarrierOp>(lower);
  table.add<xegpu::NbarrierWaitOp>(lower);
  table.add<xegpu::NbarrierArriveOp>(drop);
  table.add<xegpu::AllocNbarrierOp>(drop);
}
