//===- BlockSums.cpp - long sums by blocks -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors. Out: those that add many floats up in loops over blocks, each summed
// from zero and added to what there was. Refused: vector-bits that are no power of two.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "xetile/Linalg/HasElements.h"
#include "xetile/Linalg/SumStep.h"
#include "xetile/Target/Cpu/Lowering/VectorBits.h"
#include "xetile/Target/Cpu/Lowering/VectorLoops/VectorPlan.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/MicrokernelCall.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_BLOCKSUMS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Additions in a row of a block; sums of at most twice as many are no blocks.
static constexpr int64_t kBlock = 256;
/// Blocks in a block of blocks where it is known how many there are.
static constexpr int64_t kBranch = 16;
/// Blocks of blocks where nobody knows how many there are. Dimensions that share a block's
/// additions evenly, though most of them may lie along one, have a level more.
static constexpr int64_t kUnknownLevels = 2, kSharedLevels = 3;

/// True if result `number` is a sum in f32 or f64.
static bool isSum(linalg::LinalgOp op, unsigned number) {
  mlir::Block &body = op->getRegion(0).front();
  BlockArgument sum = op.getMatchingBlockArgument(op.getDpsInitOperand(number));
  Operation *step = findSumStep(body, sum, body.getTerminator()->getOperand(number));
  return step && !isa<arith::MulFOp>(step) && (sum.getType().isF32() || sum.getType().isF64());
}

static bool isCandidate(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() > 0 && hasElements(op) &&
         !op->hasAttr(kMicrokernelAttr) &&
         llvm::any_of(llvm::seq<unsigned>(op->getNumResults()),
                      [&](unsigned number) { return isSum(op, number); });
}

namespace {
/// A reduced dimension, with how many of its elements are added up side by side.
struct SumDim {
  unsigned position;
  int64_t extent, lanes = 1;

  bool isUnknown() const { return ShapedType::isDynamic(extent); }
  int64_t steps() const { return llvm::divideCeil(extent, lanes); }
};

class Cutter {
public:
  Cutter(RewriterBase &rewriter, int64_t vectorBits) : b(rewriter), vectorBits(vectorBits) {}

  LogicalResult cut(linalg::LinalgOp op) {
    auto isUnknown = [](const SumDim &dim) { return dim.isUnknown(); };
    return cut(op, llvm::count_if(sumDims(op), isUnknown) > 1 ? kSharedLevels : kUnknownLevels);
  }

private:
  /// `levels` of blocks are made where sizes are unknown.
  LogicalResult cut(linalg::LinalgOp op, int64_t levels);
  /// Innermost first.
  SmallVector<SumDim> sumDims(linalg::LinalgOp op);
  /// Lets `op` start from zero, and adds what it gives to what it started from. `scratch` is where
  /// to make memory for it.
  linalg::LinalgOp startFromZero(linalg::LinalgOp op, OpBuilder::InsertPoint scratch);

  RewriterBase &b;
  int64_t vectorBits;
};
} // namespace

SmallVector<SumDim> Cutter::sumDims(linalg::LinalgOp op) {
  std::optional<VectorPlan> plan = planVectors(op, vectorBits);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<SumDim> dims;
  for (unsigned dim = op.getNumLoops(); dim-- > 0;) {
    if (!linalg::isReductionIterator(kinds[dim]))
      continue;
    if (plan && plan->combiner && plan->column == dim)
      dims.insert(dims.begin(), {dim, extents[dim], plan->length * kSums});
    else
      dims.push_back({dim, extents[dim]});
  }
  return dims;
}

/// The extent of each of `dims` dimensions whose product is `total` at most.
static int64_t shareOf(int64_t total, int64_t dims) {
  int64_t share = 1;
  auto power = [&](int64_t base) {
    int64_t product = 1;
    for (int64_t dim = 0; dim < dims && product <= total; ++dim)
      product *= base;
    return product;
  };
  while (power(2 * share) <= total)
    share *= 2;
  return share;
}

linalg::LinalgOp Cutter::startFromZero(linalg::LinalgOp op, OpBuilder::InsertPoint scratch) {
  Location loc = op.getLoc();
  for (unsigned number : llvm::seq<unsigned>(op->getNumResults())) {
    if (!isSum(op, number))
      continue;
    OpOperand *init = op.getDpsInitOperand(number);
    Value before = init->get();
    auto type = cast<RankedTensorType>(before.getType());
    b.setInsertionPoint(op);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, before);
    // Sizes that are known at run time are computed where the op is.
    if (type.hasStaticShape())
      b.restoreInsertionPoint(scratch);
    Value memory = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
    b.setInsertionPoint(op);
    // 0 + -0 is 0: only from -0 on is a sum of nothing but -0 what it is without blocks.
    Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(type.getElementType(), -0.0));
    Value start = linalg::FillOp::create(b, loc, zero, memory).getResult(0);
    b.modifyOpInPlace(op, [&] { init->set(start); });
    b.setInsertionPointAfter(op);
    SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
    auto total = linalg::GenericOp::create(b, loc, type, op->getResult(number), before, maps, kinds,
                                           [](OpBuilder &inner, Location at, ValueRange values) {
                                             Value sum = arith::AddFOp::create(inner, at, values[1],
                                                                               values[0]);
                                             linalg::YieldOp::create(inner, at, sum);
                                           });
    b.replaceAllUsesExcept(op->getResult(number), total.getResult(0), total);
  }
  return op;
}

/// Steps of a block, or nothing where the sum is to stay whole.
static std::optional<int64_t> stepsOfBlock(ArrayRef<SumDim> dims, int64_t levels) {
  int64_t chain = 1, budget = kBlock;
  for (const SumDim &dim : dims)
    if (!dim.isUnknown() && llvm::MulOverflow(chain, dim.steps(), chain))
      chain = std::numeric_limits<int64_t>::max();
  if (llvm::any_of(dims, [](const SumDim &dim) { return dim.isUnknown(); })) {
    if (levels == 0)
      return std::nullopt;
    for (int64_t level = 1; level < levels; ++level)
      budget *= kBlock;
    return budget;
  }
  if (chain <= 2 * kBlock)
    return std::nullopt;
  while (chain / budget > 2 * kBranch)
    budget *= kBranch;
  return budget;
}

LogicalResult Cutter::cut(linalg::LinalgOp op, int64_t levels) {
  SmallVector<SumDim> dims = sumDims(op);
  int64_t unknown = llvm::count_if(dims, [](const SumDim &dim) { return dim.isUnknown(); });
  std::optional<int64_t> steps = stepsOfBlock(dims, levels);
  if (!steps)
    return success();
  int64_t budget = *steps;

  OpBuilder::InsertionGuard guard(b);
  SmallVector<OpFoldResult> tiles(op.getNumLoops(), b.getIndexAttr(0));
  SmallVector<linalg::LinalgOp> rests;
  for (const SumDim &dim : dims) {
    int64_t steps = budget;
    if (dim.isUnknown())
      steps = shareOf(budget, unknown--);
    if (!dim.isUnknown() && dim.steps() <= steps) {
      budget = std::max<int64_t>(budget / std::max<int64_t>(dim.steps(), 1), 1);
      continue;
    }
    int64_t tile = steps * dim.lanes;
    budget = dim.isUnknown() ? budget / steps : 1;
    tiles[dim.position] = b.getIndexAttr(tile);
    // The remainder is an op of its own: all sizes stay static.
    if (int64_t rest = dim.isUnknown() ? 0 : dim.extent % tile) {
      b.setInsertionPoint(op);
      auto [whole, last] = linalg::splitOp(b, cast<TilingInterface>(op.getOperation()),
                                           dim.position, b.getIndexAttr(dim.extent - rest));
      if (!whole || !last)
        return op.emitOpError("has a long sum that cannot be cut into blocks");
      op = cast<linalg::LinalgOp>(whole.getOperation());
      rests.push_back(cast<linalg::LinalgOp>(last.getOperation()));
    }
  }
  for (linalg::LinalgOp rest : rests) {
    b.setInsertionPoint(rest);
    if (failed(cut(startFromZero(rest, b.saveInsertionPoint()), levels)))
      return failure();
  }

  scf::SCFTilingOptions options;
  options.setTileSizes(tiles);
  b.setInsertionPoint(op);
  FailureOr<scf::SCFTilingResult> blocks =
      scf::tileUsingSCF(b, cast<TilingInterface>(op.getOperation()), options);
  if (failed(blocks) || blocks->tiledOps.size() != 1 || blocks->loops.empty())
    return op.emitOpError("has a long sum that cannot be cut into blocks");
  b.replaceOp(op, blocks->replacements);
  b.setInsertionPoint(blocks->loops.front());
  linalg::LinalgOp block =
      startFromZero(cast<linalg::LinalgOp>(blocks->tiledOps[0]), b.saveInsertionPoint());
  return cut(block, levels - 1);
}

namespace {
struct BlockSums : xetile::impl::BlockSumsBase<BlockSums> {
  using BlockSumsBase::BlockSumsBase;

  void runOnOperation() override {
    if (failed(checkVectorBits(vectorBits, &getContext())))
      return signalPassFailure();
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isCandidate(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      FailureOr<int64_t> bits = vectorBitsFor(op, vectorBits);
      if (failed(bits))
        return signalPassFailure();
      if (failed(Cutter(rewriter, *bits).cut(op)))
        return signalPassFailure();
    }
  }
};
} // namespace
