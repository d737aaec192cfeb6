//===- SplitReductions.cpp - reductions of long dimensions in blocks ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions on tensors of sizes that are known. Out: the same of blocks, all at once, then of
// what these give. Refused: nothing; short ones, contractions, windows, and reductions of which
// many are computed beside one another stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/Online/Online.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/Scatter.h"
#include "xetile/Linalg/Simplify.h"

namespace xetile {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Elements that the registers of a subgroup hold.
constexpr int64_t kBlock = 1024;

/// Elements of a block of `extent`, each of which is `each` numbers: about what a subgroup holds,
/// if possible a divisor, and few enough blocks that a workgroup reduces what they give.
int64_t chooseBlock(int64_t extent, int64_t each, int64_t most) {
  constexpr int64_t kLanes = 32;
  int64_t wanted =
      std::max<int64_t>({1, std::min(kBlock, most) / each, llvm::divideCeilSigned(extent, most)});
  if (each > 1 || wanted >= extent)
    return std::min(wanted, extent);
  // A whole number of blocks leaves nothing to cut off, one of lanes no lane idle.
  for (int64_t lanes : {kLanes, kLanes / 2})
    for (int64_t size = wanted / lanes * lanes; size > wanted / 4; size -= lanes)
      if (extent % size == 0 && llvm::divideCeilSigned(extent, size) <= most)
        return size;
  return static_cast<int64_t>(llvm::alignTo(wanted, kLanes));
}

struct SplitReductions : xetile::impl::SplitReductionsBase<SplitReductions> {
  using SplitReductionsBase::SplitReductionsBase;

  void runOnOperation() override {
    if (shortest < 1 || rows < 1) {
      getOperation()->emitError("shortest = ")
          << shortest.getValue() << ", rows = " << rows.getValue()
          << ": expected both to be positive";
      return signalPassFailure();
    }
    // Maps by dimensions alone tell which loops of two ops are the same.
    if (keepsLongDims() && failed(dropUnitDims(getOperation())))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    // Of one that was split in one dimension, another may be long, too.
    while (Operation *next = findNext())
      split(rewriter, cast<linalg::GenericOp>(next));
  }

private:
  /// Along which of its loops it is split; none for those that stay.
  std::optional<unsigned> longLoop(linalg::GenericOp op);
  std::optional<unsigned> longest(linalg::GenericOp op);
  bool keepsLongDims();
  bool isFew(linalg::GenericOp op);
  Operation *findNext();
  void split(IRRewriter &rewriter, linalg::GenericOp op);
  std::optional<Online> dependent(linalg::GenericOp op);

  llvm::DenseSet<Operation *> seen;
};

} // namespace

std::optional<unsigned> SplitReductions::longLoop(linalg::GenericOp op) {
  if (!llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  return longest(op);
}

/// True if a long reduction keeps dimensions, of size one then, as PyTorch's do.
bool SplitReductions::keepsLongDims() {
  WalkResult found = getOperation()->walk([&](linalg::GenericOp op) {
    bool keeps = !longLoop(op) && llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
      return map.isProjectedPermutation(/*allowZeroInResults=*/true);
    }) && longest(op);
    return keeps ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// The longest of the loops that are reduced, if these are long.
std::optional<unsigned> SplitReductions::longest(linalg::GenericOp op) {
  Operation *combiner = nullptr;
  if (!isInFunction(op) || !op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.hasDynamicShape() || op.getNumReductionLoops() == 0 || isContraction(op) ||
      Scatter::match(op) || !elementOf(op, combiner) || !linalg::getCombinerOpKind(combiner))
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  int64_t all = 1;
  for (int64_t extent : extents)
    if (extent == 0)
      return std::nullopt;
  for (unsigned loop : loops)
    all = saturatingProduct(all, extents[loop]);
  auto most =
      llvm::max_element(loops, [&](unsigned x, unsigned y) { return extents[x] < extents[y]; });
  if (all <= shortest || extents[*most] < 2)
    return std::nullopt;
  return *most;
}

/// True if so few results are computed that their workgroups are few, too.
bool SplitReductions::isFew(linalg::GenericOp op) {
  return cast<RankedTensorType>(op.getResult(0).getType()).getNumElements() <= rows;
}

/// Reductions that depend on one another, of which a long row would be read once for each.
std::optional<Online> SplitReductions::dependent(linalg::GenericOp op) {
  Operation *where = nullptr;
  std::string why;
  std::optional<Online> found = findOnline(op, where, why);
  if (!found)
    return std::nullopt;
  for (const OnlineReduction &reduction : found->reductions) {
    linalg::GenericOp each = reduction.op;
    if (isContraction(each) || !longLoop(each))
      return std::nullopt;
  }
  return found;
}

Operation *SplitReductions::findNext() {
  Operation *next = nullptr;
  getOperation()->walk<WalkOrder::PreOrder>([&](Block *block) {
    for (Operation &op : llvm::reverse(*block)) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (generic && !seen.contains(&op) && longLoop(generic)) {
        next = &op;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return next;
}

void SplitReductions::split(IRRewriter &rewriter, linalg::GenericOp op) {
  seen.insert(op);
  std::optional<Online> found = dependent(op);
  int64_t each = 1;
  if (!found) {
    if (!isFew(op))
      return;
    unsigned loop = *longLoop(op);
    found = aloneOnline(op, loop);
    if (!found)
      return;
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    SmallVector<unsigned> loops;
    op.getReductionDims(loops);
    for (unsigned other : loops)
      if (other != loop)
        each = saturatingProduct(each, extents[other]);
  }
  int64_t block = chooseBlock(found->extent, each, shortest);
  if (block >= found->extent)
    return;
  splitOnline(rewriter, *found, block);
  seen.erase(op);
}
