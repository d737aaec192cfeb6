//===- KernelPlan.cpp - how a contraction is computed in registers -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction on memrefs. Out: its rows and columns, groups of k, types, the instructions
// that multiply. Refused: operands that vectors cannot be read from: neither is n contiguous in B
// and C, nor k in A and B.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"
#include "xetile/Target/Cpu/Microkernel/TileSums.h"

using namespace mlir;
using namespace xetile;

int64_t KernelPlan::strideOf(unsigned operand, unsigned place) const {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(operands[operand].getType());
  return succeeded(type.getStridesAndOffset(strides, offset)) ? strides[place]
                                                              : ShapedType::kDynamic;
}

std::optional<std::pair<unsigned, unsigned>> KernelPlan::indexedBy(unsigned dim) const {
  for (unsigned operand = 0; operand < 3; ++operand)
    if (std::optional<unsigned> place =
            maps[operand].getResultPosition(getAffineDimExpr(dim, element.getContext())))
      return std::pair(operand, *place);
  return std::nullopt;
}

void KernelPlan::swap() {
  std::swap(operands[0], operands[1]);
  std::swap(maps[0], maps[1]);
  std::swap(roles[kM], roles[kN]);
  swapped = true;
}

SmallVector<unsigned> KernelPlan::stepDims() const {
  SmallVector<unsigned> dims;
  for (unsigned dim : roles[kK])
    if (dim != groupDim)
      dims.push_back(dim);
  return dims;
}

/// Elements of k that one instruction of the target multiplies and adds, 1 without such.
static int64_t dotGroup(const KernelPlan &plan) {
  Type a = plan.elementOf(0), b = plan.elementOf(1);
  if (plan.target.int8Dot && plan.sumType.isInteger(32) && a.isInteger(8) && b.isInteger(8))
    return 4;
  return plan.target.bf16Dot && plan.sumType.isF32() && a.isBF16() && b.isBF16() ? 2 : 1;
}

static void useDot(KernelPlan &plan) {
  plan.usesDot = true;
  plan.offsetsA = plan.group == 4 && plan.isUnsigned(0) == plan.isUnsigned(1);
}

/// B in groups of k: n and the group are as one dimension. False if it is not.
static bool planGroups(KernelPlan &plan) {
  unsigned last = plan.lastDim(1);
  int64_t size = plan.kernel.sizes[last];
  if (!llvm::is_contained(plan.roles[kK], last) || plan.maps[1].getNumResults() < 2 ||
      plan.lastDim(1, 2) != plan.columnDim || (size != 2 && size != 4) ||
      plan.strideOf(1, plan.maps[1].getNumResults() - 2) != size)
    return false;
  plan.groupDim = last;
  plan.group = size;
  // A dot product reads a group of A at once.
  Type a = plan.elementOf(0), b = plan.elementOf(1);
  if (!plan.isContiguous(0) || plan.lastDim(0) != last)
    return true;
  bool bytes = plan.target.int8Dot && size == 4 && plan.sumType.isInteger(32) && a.isInteger(8) &&
               b.isInteger(8);
  bool halves =
      plan.target.bf16Dot && size == 2 && plan.sumType.isF32() && a.isBF16() && b.isBF16();
  plan.usesDot = bytes || halves;
  plan.offsetsA = bytes && plan.isUnsigned(0) == plan.isUnsigned(1);
  return true;
}

/// Vectors of B and C run along n; false if these are not contiguous.
static bool planColumns(KernelPlan &plan) {
  if (!plan.isContiguous(2))
    return false;
  if (llvm::is_contained(plan.roles[kM], plan.lastDim(2)))
    plan.swap();
  plan.columnDim = plan.lastDim(2);
  plan.rowDim = plan.roles[kM].back();
  if (!plan.isContiguous(1) || (plan.lastDim(1) != plan.columnDim && !planGroups(plan)))
    return false;
  plan.usesTiles = fitsTiles(plan);
  return true;
}

/// Vectors of A and B run along k; false if it is not contiguous in both.
static bool planLanes(KernelPlan &plan) {
  for (unsigned operand : {0, 1})
    if (!plan.runsAlong(operand, plan.roles[kK].back()))
      return false;
  // Sums of one row are stored together, if they are side by side in C.
  if (plan.runsAlong(2, plan.roles[kM].back()))
    plan.swap();
  plan.rowDim = plan.roles[kM].back();
  plan.columnDim = plan.roles[kN].back();
  plan.sumsLanes = true;
  plan.group = dotGroup(plan);
  if (plan.group > 1)
    useDot(plan);
  return true;
}

KernelOperands xetile::viewOperands(RewriterBase &rewriter, const Contraction &kernel) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(kernel.op);
  KernelOperands operands;
  for (unsigned operand : {0, 1, 2}) {
    Value &value = operands.values[operand] = kernel.op->getOperand(operand);
    AffineMap &map = operands.maps[operand] = kernel.map(operand);
    auto type = cast<MemRefType>(value.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (type.getRank() < 2 || failed(type.getStridesAndOffset(strides, offset)) ||
        (strides.back() == 1 && type.getShape().back() != 1))
      continue;
    auto isContiguous = [&](unsigned place) {
      return strides[place] == 1 && type.getDimSize(place) != 1;
    };
    auto places = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
    auto *found = llvm::find_if(places, isContiguous);
    if (found == places.end())
      continue;
    std::rotate(found, found + 1, places.end());
    AffineMap order = AffineMap::getPermutationMap(places, rewriter.getContext());
    value =
        memref::TransposeOp::create(rewriter, kernel.op.getLoc(), value, AffineMapAttr::get(order));
    map = order.compose(map);
  }
  return operands;
}

std::optional<KernelPlan> xetile::planKernel(const Contraction &kernel,
                                             const KernelOperands &operands,
                                             const MicrokernelTarget &target) {
  KernelPlan plan(kernel, target);
  plan.operands = operands.values;
  plan.maps = operands.maps;
  plan.roles = kernel.roles;
  plan.element = plan.elementOf(2);
  plan.sumType = isLowPrecision(plan.element) ? Type(Float32Type::get(plan.element.getContext()))
                                              : plan.element;
  plan.length = target.vectorBits / plan.sumType.getIntOrFloatBitWidth();
  for (unsigned dim = 0; dim < kernel.sizes.size(); ++dim)
    if (!plan.indexedBy(dim))
      return std::nullopt;
  if (!kernel.batch.empty())
    return std::nullopt;
  KernelPlan alongK = plan;
  bool hasColumns = planColumns(plan);
  // A single column would be one lane of a vector.
  if (hasColumns && (plan.groupDim || kernel.sizes[plan.columnDim] != 1))
    return plan;
  if (planLanes(alongK))
    return alongK;
  return hasColumns ? std::optional(plan) : std::nullopt;
}

/// True if `op` adds a vector over n to every row of C.
static bool addsBias(linalg::GenericOp op, Value c) {
  auto type = dyn_cast<MemRefType>(c.getType());
  if (!type || type.getRank() != 2 || op->getNumOperands() != 2 || op.getOutputs()[0] != c)
    return false;
  AffineExpr row, column;
  bindDims(op.getContext(), row, column);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  mlir::Block &body = op.getRegion().front();
  auto add = dyn_cast<arith::AddIOp>(&body.front());
  return maps[0] == AffineMap::get(2, 0, {column}, op.getContext()) && maps[1].isIdentity() &&
         op.getNumReductionLoops() == 0 && add && add->getNextNode() == body.getTerminator() &&
         body.getTerminator()->getOperand(0) == add.getResult() && add.getLhs() != add.getRhs() &&
         isa<BlockArgument>(add.getLhs()) && isa<BlockArgument>(add.getRhs());
}

static SumStart findOps(const KernelPlan &plan) {
  SumStart start;
  Value c = plan.kernel.op->getOperand(2);
  for (Operation *op = plan.kernel.op->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      if (fill.getOutputs()[0] == c) {
        start.initial = fill.getInputs()[0];
        start.absorbed.push_back(fill);
      }
      return start;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && !start.bias && c == plan.operands[2] && plan.lastDim(2, 2) == plan.rowDim &&
        addsBias(generic, c)) {
      start.bias = generic.getInputs()[0];
      start.absorbed.push_back(generic);
    } else if (!isMemoryEffectFree(op)) {
      return start;
    }
  }
  return start;
}

SumStart xetile::findStart(const KernelPlan &plan) {
  SumStart start = findOps(plan);
  if (plan.sumsLanes && start.bias)
    return SumStart();
  // Tiles start from zeros or from C.
  bool isZero = !start.initial || matchPattern(start.initial, m_AnyZeroFloat()) ||
                matchPattern(start.initial, m_Zero());
  return plan.usesTiles && (start.bias || !isZero) ? SumStart() : start;
}
