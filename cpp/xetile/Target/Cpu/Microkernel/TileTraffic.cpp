//===- TileTraffic.cpp - how tiles come through the caches -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction in the loop that calls it. Out: which operand streams, the direction of k,
// whether to fetch C's lines. Nothing is refused: what cannot be seen is left as it is.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/TileTraffic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace xetile;

static bool dependsOn(Value value, Value index) {
  Operation *op = value.getDefiningOp();
  return value == index || (op && llvm::any_of(op->getOperands(), [&](Value operand) {
                              return dependsOn(operand, index);
                            }));
}

/// True if `memref` is scratch memory that fits the first-level cache.
static bool isNear(Value memref, int64_t l1) {
  // Views of bytes are parts of memory that other scratch shares.
  auto view = memref.getDefiningOp<ViewLikeOpInterface>();
  while (view && !isa<memref::ViewOp>(view)) {
    memref = view.getViewSource();
    view = memref.getDefiningOp<ViewLikeOpInterface>();
  }
  auto type = cast<MemRefType>(memref.getType());
  // Results are allocated, too, but not freed.
  bool isScratch =
      memref.getDefiningOp() &&
      (isa<memref::AllocaOp, memref::ViewOp>(memref.getDefiningOp()) ||
       llvm::any_of(memref.getUsers(), [](Operation *op) { return isa<memref::DeallocOp>(op); }));
  return isScratch && type.hasStaticShape() &&
         type.getNumElements() * int64_t(type.getElementTypeBitWidth() / 8) <= l1;
}

/// Bytes of `operand` that a call reads; none if k is not known.
static std::optional<int64_t> panelBytes(const KernelBuilder &kernel, unsigned operand) {
  const KernelPlan &plan = kernel.plan;
  constexpr int64_t kUnknown = 32;
  Index extent = kernel.extentOf(operand == 0 ? plan.rowDim : plan.columnDim);
  int64_t lines =
      operand == 0 ? kernel.usualRows(extent, kUnknown) : kernel.usualColumns(extent, kUnknown);
  int64_t bytes = lines * plan.group * plan.elementOf(operand).getIntOrFloatBitWidth() / 8;
  for (unsigned dim : plan.stepDims()) {
    if (ShapedType::isDynamic(plan.kernel.sizes[dim]))
      return std::nullopt;
    bytes *= plan.kernel.sizes[dim];
  }
  return bytes;
}

TileTraffic xetile::planTraffic(const KernelBuilder &kernel, const SumStart &start) {
  const KernelPlan &plan = kernel.plan;
  RewriterBase &b = kernel.b;
  Location loc = kernel.loc;
  TileTraffic traffic;
  traffic.fetchesC =
      start.initial && plan.stepDims().size() == 1 && !isNear(plan.operands[2], plan.target.l1);
  auto loop = plan.kernel.op->getParentOfType<scf::ForOp>();
  if (!loop)
    return traffic;
  Value index = loop.getInductionVar();
  bool staysA = !dependsOn(plan.operands[0], index), staysB = !dependsOn(plan.operands[1], index);
  if (staysA == staysB)
    return traffic;
  traffic.streamed = staysA ? 1 : 0;
  std::optional<int64_t> again = panelBytes(kernel, 1 - traffic.streamed);
  if (!again || *again <= plan.target.l1)
    return traffic;
  Value number = arith::DivUIOp::create(b, loc, index, loop.getStep());
  Value bit = arith::AndIOp::create(b, loc, number, kernel.constant(1));
  traffic.backwards =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, kernel.constant(0));
  return traffic;
}
