//===- ShareOps.cpp - threads for linalg ops on memory -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops and copies on memory that no loop of threads is around: windows that are copied
// for convolutions, poolings, pads, transposes. Out: those that take long, in a loop of threads,
// each of which has some of the outermost elements. Refused: nothing; sizes that only the run
// knows, short ops and microkernels stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Linalg/TileLoops.h"
#include "xetile/Target/Cpu/Lowering/VectorLoops/VectorPlan.h"
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_SHAREOPS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Vector multiply-adds that take as long as a function of math.
static constexpr double kFunctionCycles = 15;

/// Work of one thread that is shared, and of each part of it, as parts of what a fork takes.
static constexpr double kLeastWork = 3, kLeastPart = 0.25;

static bool isOnThread(Operation *op) {
  return op->getParentOfType<scf::ForallOp>() || op->getParentOfType<scf::ParallelOp>();
}

/// Nanoseconds on one thread: of vectors, or of elements where it becomes scalar loops, and of what
/// it reads and writes.
static double timeOf(linalg::LinalgOp op, const Machine &machine) {
  double steps = 1, ops = 1, read = 0, written = 0;
  for (int64_t extent : op.getStaticLoopRanges())
    steps *= double(extent);
  for (Operation &inner : op->getRegion(0).front().without_terminator())
    ops += inner.getName().getDialectNamespace() == "math" ? kFunctionCycles : 1;
  for (OpOperand &operand : op->getOpOperands())
    if (auto type = dyn_cast<MemRefType>(operand.get().getType()))
      (op.isDpsInit(&operand) ? written : read) +=
          double(type.getNumElements()) * double(type.getElementTypeBitWidth()) / 8;
  if (std::optional<VectorPlan> plan = planVectors(op, machine.vectorBits))
    steps /= double(std::min(plan->length, op.getStaticLoopRanges()[plan->column]));
  else
    ops += kFunctionCycles / 4;
  const Rates &rates = machine.rates;
  bool isNear = read + written <= double(machine.l2);
  double moved = read / 1024 * (isNear ? rates.readL2 : rates.readL3) +
                 written / 1024 * (isNear ? rates.writeL2 : rates.writeL3);
  return std::max(steps * ops * rates.multiplyAdd, moved);
}

/// The outermost dimension of the result whose elements `threads` share nearly evenly; none if all
/// of its dimensions are too short.
static std::optional<unsigned> sharedDim(linalg::LinalgOp op, int64_t threads) {
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!result.isProjectedPermutation(/*allowZeroInResults=*/true))
    return std::nullopt;
  constexpr double kMostLoad = 1.35;
  for (AffineExpr expr : result.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue;
    int64_t extent = extents[dim.getPosition()];
    if (double(llvm::divideCeil(extent, threads) * threads) <= kMostLoad * double(extent))
      return dim.getPosition();
  }
  return std::nullopt;
}

static bool isStatic(linalg::LinalgOp op) {
  return llvm::all_of(
             op.getStaticLoopRanges(),
             [](int64_t extent) { return !ShapedType::isDynamic(extent) && extent != 0; }) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto memory = dyn_cast<MemRefType>(type);
           return memory ? memory.hasStaticShape() && memory.getElementType().isIntOrFloat()
                         : type.isIntOrFloat();
         });
}

static void share(RewriterBase &b, linalg::LinalgOp op, unsigned dim, int64_t threads) {
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto team = scf::ForallOp::create(b, loc, ArrayRef<Index>{b.getIndexAttr(threads)}, ValueRange(),
                                    std::nullopt);
  b.setInsertionPointToStart(team.getBody());
  int64_t extent = extents[dim];
  Index id = team.getInductionVar(0), first, size;
  if (extent % threads == 0) {
    first = mulIndex(b, loc, id, extent / threads);
    size = b.getIndexAttr(extent / threads);
  } else {
    first = floorDivIndex(b, loc, mulIndex(b, loc, id, extent), threads);
    Index next = addIndex(b, loc, id, b.getIndexAttr(1));
    size = subIndex(b, loc, floorDivIndex(b, loc, mulIndex(b, loc, next, extent), threads), first);
  }
  SmallVector<Index> sizes(extents.size(), b.getIndexAttr(0)), starts = sizes, bounds;
  sizes[dim] = size;
  starts[dim] = first;
  bounds = getAsIndexOpFoldResult(b.getContext(), extents);
  SmallVector<Value> parts =
      linalg::makeTiledShapes(b, loc, op, op->getOperands(), ArrayRef<Index>{first}, sizes, bounds,
                              /*omitPartialTileCheck=*/true);
  auto part = cast<linalg::LinalgOp>(clone(b, op.getOperation(), TypeRange(), parts));
  linalg::offsetIndices(b, part, starts);
  b.eraseOp(op);
}

namespace {
struct ShareOps : xetile::impl::ShareOpsBase<ShareOps> {
  using ShareOpsBase::ShareOpsBase;

  void runOnOperation() override {
    if (failed(checkThreads(getOperation(), threads)))
      return signalPassFailure();
    if (threads == 1)
      return;
    IRRewriter rewriter(&getContext());
    shareCopies(rewriter);
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics() && !op->hasAttr(kMicrokernelAttr) && !isOnThread(op) &&
          !linalg::isaContractionOpInterface(op) && isStatic(op))
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops) {
      FailureOr<Machine> machine = describeMachine(op, /*require=*/false);
      if (failed(machine))
        return signalPassFailure();
      // All threads of the team start and join, those that have nothing to do, too: they do a part,
      // if that takes longer than for its data to come from the core that wrote them.
      double fork = std::max(machine->rates.fork, 1.0), alone = timeOf(op, *machine);
      auto count = int64_t(
          std::min(double(threads == 0 ? machine->cores : threads), alone / (kLeastPart * fork)));
      if (alone < kLeastWork * fork || count < 2)
        continue;
      if (std::optional<unsigned> dim = sharedDim(op, count))
        share(rewriter, op, *dim, count);
    }
  }

private:
  /// Copies to or from parts of memory become loops anyway.
  void shareCopies(RewriterBase &b) {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) {
      auto from = dyn_cast<MemRefType>(op.getSource().getType());
      auto to = dyn_cast<MemRefType>(op.getTarget().getType());
      if (from && to && from.hasStaticShape() && to.hasStaticShape() && !isOnThread(op) &&
          (!from.getLayout().isIdentity() || !to.getLayout().isIdentity()))
        copies.push_back(op);
    });
    for (memref::CopyOp op : copies) {
      b.setInsertionPoint(op);
      linalg::makeMemRefCopyOp(b, op.getLoc(), op.getSource(), op.getTarget());
      b.eraseOp(op);
    }
  }
};
} // namespace
