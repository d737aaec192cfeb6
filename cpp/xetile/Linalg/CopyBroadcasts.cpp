//===- CopyBroadcasts.cpp - each reader has a broadcast of its own ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: ops on tensors. Out: those that repeat the elements of a smaller tensor, and compute nothing,
// and those of few elements that compute next to nothing, once for each op that reads them.
// Refused: nothing; sizes of which that is not known stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "xetile/IR/BytesOf.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_COPYBROADCASTS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// How many times as large as what it is of a broadcast is at least.
static constexpr int64_t kTimes = 8;

static int64_t knownBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? xetile::bytesOf(type).value_or(0) : 0;
}

/// True if `op` does nothing but to repeat elements of a much smaller tensor.
static bool isBroadcast(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 || op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().back().isPermutation())
    return false;
  Operation *yield = op.getBlock()->getTerminator();
  int64_t small = knownBytes(op.getDpsInputs()[0]), large = knownBytes(op->getResult(0));
  return yield->getOperand(0) == op.getBlock()->getArgument(0) && small > 0 &&
         large / kTimes >= small;
}

/// True if `use` takes each element of a small tensor as it is, maybe of another shape.
static bool readsEach(OpOperand &use) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(use.getOwner()))
    return llvm::all_of(expand->getUses(), readsEach);
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  return reader && !isContraction(reader) &&
         reader.getMatchingIndexingMap(&use).isProjectedPermutation(/*allowZeroInResults=*/true);
}

/// True if `op` computes next to nothing of few elements: cheaper than to launch one more kernel
/// for its readers.
static bool isLittle(linalg::LinalgOp op) {
  constexpr int64_t kMostBytes = 16384;
  constexpr unsigned kMostOps = 4, kMostReaders = 8;
  if (!isa<linalg::GenericOp>(op) || !op.hasPureTensorSemantics() || op.getNumDpsInputs() == 0 ||
      op->getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().back().isPermutation() ||
      !op.getBlock()->getArguments().back().use_empty())
    return false;
  auto body = op.getBlock()->without_terminator();
  unsigned count = llvm::range_size(body);
  if (count == 0 || count > kMostOps || !llvm::all_of(body, [](Operation &inner) {
        return isa<arith::ArithDialect>(inner.getDialect()) &&
               !isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
                   inner);
      }))
    return false;
  int64_t bytes = 0;
  for (Value operand : op->getOperands()) {
    int64_t known = knownBytes(operand);
    if (known == 0 || known > kMostBytes)
      return false;
    bytes += known;
  }
  llvm::SmallPtrSet<Operation *, 8> readers;
  for (Operation *reader : op->getUsers())
    readers.insert(reader);
  return bytes <= kMostBytes && readers.size() <= kMostReaders &&
         llvm::all_of(op->getUses(), readsEach);
}

/// The op among those of `block` that has `use` somewhere inside.
static Operation *readerIn(Block *block, OpOperand &use) {
  return block->findAncestorOpInBlock(*use.getOwner());
}

namespace {
struct CopyBroadcasts : xetile::impl::CopyBroadcastsBase<CopyBroadcasts> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> copied;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isBroadcast(op) || isLittle(op))
        copied.push_back(op);
    });
    // Those of others come after what they are of.
    for (linalg::LinalgOp op : llvm::reverse(copied))
      copy(op);
  }

private:
  static void copy(linalg::LinalgOp op) {
    llvm::SmallDenseMap<Operation *, Value> copies;
    for (OpOperand &use : llvm::make_early_inc_range(op->getResult(0).getUses())) {
      Operation *reader = readerIn(op->getBlock(), use);
      auto [known, isNew] = copies.try_emplace(reader, op->getResult(0));
      // The first reader has the op itself.
      if (isNew && copies.size() > 1) {
        OpBuilder b(reader);
        known->second = b.clone(*op)->getResult(0);
      }
      use.set(known->second);
    }
  }
};
} // namespace
