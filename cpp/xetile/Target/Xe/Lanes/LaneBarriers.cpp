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

LogicalResult LaneLowering::lowerBarrier(Operation *op) {
  if (auto fence = dyn_cast<xegpu::FenceOp>(op)) {
    auto scope = fence.getFenceScope() == xegpu::FenceScope::Workgroup ? xevm::MemScope::WORKGROUP
                                                                       : xevm::MemScope::DEVICE;
    auto space = fence.getMemoryKind() == xegpu::MemorySpace::SLM ? xevm::AddrSpace::SHARED
                                                                  : xevm::AddrSpace::GLOBAL;
    xevm::MemfenceOp::create(b, loc, scope, space);
    return success();
  }
  if (auto init = dyn_cast<xegpu::InitNbarrierOp>(op)) {
    APInt participants;
    auto function = op->getParentOfType<gpu::GPUFuncOp>();
    std::optional<ArrayRef<int32_t>> block = function ? function.getKnownBlockSize() : std::nullopt;
    if (!matchPattern(init.getParticipantThreadNum(), m_ConstantInt(&participants)) || !block)
      return op->emitOpError("needs a constant number of participants, and known_block_size at the "
                             "kernel: only barriers of all subgroups have a lowering");
    int64_t subgroups = llvm::product_of(*block) / lanes;
    if (participants.getZExtValue() != uint64_t(subgroups))
      return op->emitOpError("has ")
             << participants.getZExtValue() << " participants, expected the " << subgroups
             << " subgroups of the workgroup: no public builtin makes a "
                "barrier of some";
    define(init.getResult(), {});
    return success();
  }
  // To arrive without waiting is to wait at the wait.
  if (isa<xegpu::NbarrierWaitOp>(op))
    gpu::BarrierOp::create(b, loc);
  return success();
}
