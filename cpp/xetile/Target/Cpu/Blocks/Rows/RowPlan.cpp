//===- RowPlan.cpp - ops that share the rows of a tensor -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg op on tensors. Out: the ops that lead to it and can be computed in blocks with it,
// and the size of a block. Refused: ops without common rows, and small ones.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Blocks/Rows/RowPlan.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Linalg/HasElements.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// Columns of a block: some vectors and some lines of a cache.
static constexpr int64_t kColumns = 64;
/// Bytes of several ops that threads start for, and of a block that is not cut for them.
static constexpr int64_t kShared = 256 << 10, kLeastShare = 16 << 10;
/// Bytes of what has dimensions of unknown sizes.
static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

namespace {

/// For each loop of an op: the loop of the root that it is unified with, or none.
using RootLoops = SmallVector<std::optional<unsigned>>;

class Planner {
public:
  Planner(linalg::LinalgOp root, const RowOptions &options) : root(root), options(options) {}

  Result<RowPlan> plan();

private:
  void findProducers(linalg::LinalgOp op);
  bool leadsToReduction(linalg::LinalgOp op);
  void chooseRows();
  void keepProducers();
  bool chooseTiles(RowPlan &plan);
  int64_t bytes(ArrayRef<int64_t> tiles);
  std::optional<unsigned> column();

  bool isSmallEnough(ArrayRef<int64_t> tiles);
  bool isShared(ArrayRef<int64_t> tiles, int64_t blocks);

  linalg::LinalgOp root;
  const RowOptions &options;
  int64_t limit = options.cacheBytes;
  /// In the order from the root backwards.
  llvm::SmallMapVector<Operation *, RootLoops, 8> loops;
  SmallVector<unsigned> rows;
};

} // namespace

static bool isCandidate(Operation *op) {
  auto linalgOp = dyn_cast_if_present<linalg::LinalgOp>(op);
  if (!linalgOp || !isInFunction(op) || !linalgOp.hasPureTensorSemantics() ||
      op->getNumResults() != 1 || !isMemoryEffectFree(op) ||
      linalg::isaContractionOpInterface(linalgOp) || isa<linalg::ConvolutionOpInterface>(op))
    return false;
  AffineMap result = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
  return result.isProjectedPermutation() &&
         llvm::all_of(linalgOp.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); });
}

static AffineMap resultMap(linalg::LinalgOp op) {
  return op.getMatchingIndexingMap(op.getDpsInitOperand(0));
}

void Planner::findProducers(linalg::LinalgOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
    if (!producer || !isCandidate(producer) || !hasElements(producer) ||
        !isFor(producer, options.schedules))
      continue;
    AffineMap read = op.getMatchingIndexingMap(&operand), written = resultMap(producer);
    RootLoops found(producer.getNumLoops());
    for (auto [use, place] : llvm::zip_equal(read.getResults(), written.getResults()))
      found[cast<AffineDimExpr>(place).getPosition()] =
          loops[op][cast<AffineDimExpr>(use).getPosition()];
    auto [known, isNew] = loops.try_emplace(producer, found);
    if (!isNew) {
      // Read in two ways: what both of them have in common.
      RootLoops before = known->second;
      for (auto [one, other] : llvm::zip_equal(known->second, found))
        if (one != other)
          one = std::nullopt;
      if (known->second == before)
        continue;
    }
    findProducers(producer);
  }
}

bool Planner::leadsToReduction(linalg::LinalgOp op) {
  if (!loops.contains(op))
    return false;
  return op.getNumReductionLoops() > 0 || llvm::any_of(op->getOperands(), [&](Value operand) {
           auto producer = operand.getDefiningOp<linalg::LinalgOp>();
           return producer && leadsToReduction(producer);
         });
}

static SmallVector<unsigned> common(ArrayRef<unsigned> rows, const RootLoops &loops) {
  return llvm::filter_to_vector(
      rows, [&](unsigned row) { return llvm::is_contained(loops, std::optional(row)); });
}

/// Rows are those of all reductions, as far as they have some in common.
void Planner::chooseRows() {
  for (auto [dim, kind] : llvm::enumerate(root.getIteratorTypesArray()))
    if (linalg::isParallelIterator(kind))
      rows.push_back(dim);
  for (auto &[op, along] : loops) {
    if (op == root || !leadsToReduction(cast<linalg::LinalgOp>(op)))
      continue;
    SmallVector<unsigned> left = common(rows, along);
    if (!left.empty())
      rows = left;
  }
}

/// Drops producers that each block, or others, would compute again.
void Planner::keepProducers() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto &[op, along] : loops) {
      if (op == root)
        continue;
      bool isOwn = llvm::all_of(op->getUsers(), [&](Operation *user) {
        return loops.contains(user) && isInFunction(user);
      });
      // A constant fills each block anew.
      bool isFree = isa<linalg::FillOp>(op);
      if ((isOwn || isFree) && (isFree || common(rows, along).size() == rows.size()))
        continue;
      Operation *dropped = op;
      loops.erase(dropped);
      changed = true;
      break;
    }
  }
}

/// The footprint of a block's ops in bytes, each tensor counted once.
int64_t Planner::bytes(ArrayRef<int64_t> tiles) {
  llvm::SmallDenseMap<Value, int64_t> parts;
  for (auto &[op, along] : loops) {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    SmallVector<int64_t> extents = linalgOp.getStaticLoopRanges();
    for (auto [extent, row] : llvm::zip_equal(extents, along))
      if (row && tiles[*row] != 0)
        extent = tiles[*row];
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      int64_t part = llvm::divideCeil(memoryBits(type.getElementType()), 8);
      for (AffineExpr expr : linalgOp.getMatchingIndexingMap(&operand).getResults()) {
        int64_t extent = extents[cast<AffineDimExpr>(expr).getPosition()];
        if (ShapedType::isDynamic(extent) || llvm::MulOverflow(part, extent, part))
          return kUnbounded;
      }
      Value tensor = linalgOp.isDpsInit(&operand) ? op->getResult(0) : operand.get();
      parts[tensor] = std::max(parts.lookup(tensor), part);
    }
  }
  int64_t total = 0;
  for (auto [tensor, part] : parts)
    if (llvm::AddOverflow(total, part, total))
      return kUnbounded;
  return total;
}

/// The root's loop that the largest tensor has its neighbours in memory along.
std::optional<unsigned> Planner::column() {
  std::optional<unsigned> found;
  unsigned rank = 0;
  for (auto &[op, along] : loops)
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = cast<linalg::LinalgOp>(op).getMatchingIndexingMap(&operand);
      if (map.getNumResults() <= rank)
        continue;
      rank = map.getNumResults();
      found = along[cast<AffineDimExpr>(map.getResults().back()).getPosition()];
    }
  return found;
}

bool Planner::isSmallEnough(ArrayRef<int64_t> tiles) {
  if (options.rows == 0)
    return bytes(tiles) <= limit;
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  int64_t count = 1;
  for (unsigned row : rows) {
    int64_t extent = tiles[row] == 0 ? extents[row] : tiles[row];
    if (ShapedType::isDynamic(extent) || llvm::MulOverflow(count, extent, count))
      return false;
  }
  return count <= options.rows;
}

/// True if threads have nearly equal shares of `blocks`.
bool Planner::isShared(ArrayRef<int64_t> tiles, int64_t blocks) {
  int64_t threads = options.threads;
  if (options.rows != 0 || threads == 1 || ShapedType::isDynamic(blocks))
    return true;
  constexpr double kMostLoad = 1.25;
  double most = double(llvm::divideCeil(blocks, threads)) * double(threads);
  return most <= kMostLoad * double(blocks) || bytes(tiles) <= kLeastShare;
}

/// Divisors of `number` from 2 on, ascending. None of numbers of rows that no process has: there
/// are too many to try.
static SmallVector<int64_t> divisorsOf(int64_t number) {
  constexpr int64_t kMost = int64_t(1) << 40;
  SmallVector<int64_t> small, large;
  for (int64_t each = 1; number <= kMost && each * each <= number; ++each)
    if (number % each == 0) {
      if (each > 1)
        small.push_back(each);
      if (each * each != number)
        large.push_back(number / each);
    }
  small.append(large.rbegin(), large.rend());
  return small;
}

bool Planner::chooseTiles(RowPlan &plan) {
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  plan.tiles.assign(extents.size(), 0);
  std::optional<unsigned> inLines = column();
  plan.blocks = 1;
  for (unsigned row : rows) {
    if (isSmallEnough(plan.tiles) && isShared(plan.tiles, plan.blocks))
      break;
    int64_t extent = extents[row];
    int64_t least = row == inLines ? kColumns : 1;
    if (ShapedType::isDynamic(extent)) {
      if (row == inLines)
        continue;
      plan.tiles[row] = 1;
      plan.blocks = ShapedType::kDynamic;
      continue;
    }
    // The largest part that divides it and fits, so that all blocks have one size.
    int64_t best = extent;
    for (int64_t count : divisorsOf(extent)) {
      if (count > extent / least || extent / count % least != 0)
        continue;
      best = plan.tiles[row] = extent / count;
      int64_t blocks =
          ShapedType::isDynamic(plan.blocks) ? plan.blocks : saturatingProduct(plan.blocks, count);
      if (isSmallEnough(plan.tiles) && isShared(plan.tiles, blocks))
        break;
    }
    if (!ShapedType::isDynamic(plan.blocks))
      plan.blocks = saturatingProduct(plan.blocks, extent / best);
  }
  return plan.blocks != 1;
}

static int64_t orUnknown(int64_t bytes) {
  return bytes == kUnbounded ? ShapedType::kDynamic : bytes;
}

Result<RowPlan> Planner::plan() {
  if (!isFor(root, options.schedules))
    return Error("it is for the schedule '" + scheduleOf(root) + "'");
  if (!isCandidate(root) || isa<linalg::FillOp>(root))
    return Error("rows are those of ops with one result that are indexed by dimensions alone");
  if (root.getNumParallelLoops() == 0)
    return Error("it has no rows, all of it becomes one number");
  if (!hasElements(root))
    return Error("it has no elements");
  RootLoops own;
  for (unsigned dim : llvm::seq(root.getNumLoops()))
    own.push_back(dim);
  loops.try_emplace(root, own);
  findProducers(root);
  chooseRows();
  keepProducers();
  bool hasProducers = llvm::any_of(
      loops, [&](auto &entry) { return entry.first != root && !isa<linalg::FillOp>(entry.first); });
  if (!hasProducers && !options.alone)
    return Error("no op before it could share its rows");
  RowPlan plan;
  plan.root = root;
  for (auto &entry : loops)
    if (entry.first != root)
      plan.producers.insert(entry.first);
  int64_t all = bytes(SmallVector<int64_t>(root.getNumLoops(), 0));
  bool isSharedAll = hasProducers && options.threads > 1 && all >= kShared;
  if (options.rows == 0 && all <= options.cacheBytes && !isSharedAll)
    return Error("all that it touches, " + Twine(all) + " bytes, stays in a cache");
  if (!chooseTiles(plan))
    return Error("its rows cannot be cut into equal blocks");
  if (hasProducers && options.rows == 0) {
    limit = std::min(options.nearBytes, options.cacheBytes);
    RowPlan nearer = plan;
    if (chooseTiles(nearer) && isSmallEnough(nearer.tiles))
      plan = nearer;
  }
  plan.allBytes = orUnknown(all);
  plan.blockBytes = orUnknown(bytes(plan.tiles));
  return plan;
}

Result<RowPlan> xetile::planRows(linalg::LinalgOp root, const RowOptions &options) {
  return Planner(root, options).plan();
}
