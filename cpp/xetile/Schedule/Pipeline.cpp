//===- Pipeline.cpp - transform.xetile.pipeline --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: xetile.load_tile in scf.for. Out: loops that carry what they load for later steps.
// Refused, silenceably: loops that write to memory, in which no load moves, that carry what their
// body does not compute, whose maxima are lazy, or would carry more than a subgroup's registers.
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/IR/LazyAttr.h"
#include "xetile/Schedule/LoopSteps.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TargetEffects.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Transforms/Distribution.h"
#include "xetile/Transforms/WorkgroupSize.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

constexpr int64_t kDeepest = 8;

/// The first operation in `loop` that a load must not be moved over; null if there is none.
Operation *findObstacle(scf::ForOp loop) {
  Operation *found = nullptr;
  loop.getBody()->walk([&](Operation *op) {
    if (isa<PrefetchTileOp>(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    auto memory = dyn_cast<MemoryEffectOpInterface>(op);
    if (memory && (memory.hasNoEffect() || memory.onlyHasEffect<MemoryEffects::Read>()))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// Bytes that a subgroup has of a vector by the map of what makes it; 0 where that has none.
int64_t getOwnBytes(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || !op)
    return 0;
  auto load = dyn_cast<LoadTileOp>(op);
  WgMapAttr map = load ? load.getTile().getType().getWgMap() : getResultWgMap(op);
  if (!map)
    return 0;
  Ownership own = getOwnership(map, type);
  int64_t elements = own.numPieces() * ShapedType::getNumElements(own.pieceShape());
  return elements * memoryBits(type.getElementType()) / 8;
}

/// Loads of a loop's body that move with the loop, and the operations that each needs for that.
class AheadLoads {
public:
  explicit AheadLoads(scf::ForOp loop) : loop(loop) {
    for (auto load : loop.getBody()->getOps<LoadTileOp>()) {
      auto init = load.getTile().getDefiningOp<InitTileOp>();
      TileSlice slice;
      if (init && loop->isProperAncestor(init) && collectTileSlice(init, loop, slice).empty())
        found.emplace_back(load, std::move(slice));
    }
  }

  bool empty() const { return found.empty(); }

  /// Why a subgroup's registers do not hold what the loop carries, `depth` steps of loads and the
  /// rest; an empty string where they do.
  std::string findExcess(int64_t depth) const {
    int64_t loads = 0, rest = 0;
    for (auto &each : found)
      loads += getOwnBytes(each.first->getResult(0));
    for (Value value : loop.getYieldedValues())
      rest += getOwnBytes(value);
    const TargetInfo &target = getSmallestTarget();
    int64_t limit = int64_t(target.largeRegisters) * target.registerBytes;
    if (loads == 0 || depth * loads + rest <= limit)
      return {};
    std::string why;
    llvm::raw_string_ostream os(why);
    os << "cannot load " << depth << " steps ahead: a subgroup would carry " << depth << " x "
       << loads << " bytes of loads and " << rest << " of results, expected at most " << limit
       << ", its registers; ";
    if (int64_t most = (limit - rest) / loads; most > 0)
      os << "the most steps are " << most;
    else
      os << "loads of a step must be at most " << std::max<int64_t>(0, limit - rest)
         << " bytes: make the loop's step smaller";
    return why;
  }

  /// Gives each load operations of its own for its tile's offsets: those of the step of the moment
  /// are asked for by others.
  void separate(RewriterBase &rewriter) {
    for (auto &each : found) {
      LoadTileOp load = each.first;
      rewriter.setInsertionPoint(load);
      IRMapping copies;
      TileSlice own;
      for (Operation *op : each.second)
        own.insert(rewriter.clone(*op, copies));
      Value tile = copies.lookup(load.getTile());
      rewriter.modifyOpInPlace(load, [&] { load.getTileMutable().assign(tile); });
      each.second = std::move(own);
    }
  }

  /// All of the body in the order of a step: what loads for a later one behind the last operation
  /// that uses what was loaded before.
  void schedule(unsigned depth, std::vector<std::pair<Operation *, unsigned>> &order) {
    llvm::SmallPtrSet<Operation *, 16> ahead;
    llvm::DenseMap<Operation *, SmallVector<size_t>> behind;
    for (auto [number, each] : llvm::enumerate(found)) {
      ahead.insert(each.first);
      ahead.insert(each.second.begin(), each.second.end());
      behind[lastUser(each.first)].push_back(number);
    }
    auto place = [&](ArrayRef<size_t> numbers) {
      for (size_t number : numbers) {
        for (Operation *op : found[number].second)
          order.emplace_back(op, 0);
        order.emplace_back(found[number].first, 0);
      }
    };
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!ahead.contains(&op))
        order.emplace_back(&op, depth);
      place(behind.lookup(&op));
    }
    place(behind.lookup(loop.getBody()->getTerminator()));
  }

private:
  /// The last operation of the body that uses what is loaded, the terminator if none does.
  Operation *lastUser(LoadTileOp load) const {
    Operation *last = nullptr;
    for (Operation *user : load->getUsers()) {
      Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
      if (inBody && (!last || last->isBeforeInBlock(inBody)))
        last = inBody;
    }
    return last ? last : loop.getBody()->getTerminator();
  }

  mutable scf::ForOp loop;
  SmallVector<std::pair<LoadTileOp, TileSlice>> found;
};

bool computesWhatItCarries(scf::ForOp loop) {
  return llvm::all_of(loop.getYieldedValues(), [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == loop.getBody();
  });
}

} // namespace

// Long: what is refused is found before anything is changed.
DiagnosedSilenceableFailure PipelineOp::apply(TransformRewriter &rewriter,
                                              TransformResults &results, TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  int64_t depth;
  DiagnosedSilenceableFailure diag = readInteger(op, state, getDepth(), "depth", 0, depth);
  if (!diag.succeeded())
    return diag;
  if (depth > kDeepest)
    return op.emitDefiniteFailure() << "depth = " << depth << ": expected at most " << kDeepest;

  SmallVector<scf::ForOp> loops;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto refuse = [&](const Twine &why, Operation *where, StringRef what) {
      DiagnosedSilenceableFailure failure = emitSilenceableError() << why;
      failure.attachNote(where->getLoc()) << what;
      return failure;
    };
    auto loop = dyn_cast<scf::ForOp>(target);
    if (!loop)
      return refuse("expected scf.for, got " + target->getName().getStringRef(), target,
                    "target op");
    if (depth != 0) {
      if (loop->hasAttr(kLazyAttr))
        return refuse(
            "cannot load ahead: the loop's maxima are lazy, and a step that is done again "
            "needs its own loads; leave out 'lazy' of xetile.online, or this step",
            loop, "target op");
      if (AheadLoads(loop).empty())
        return refuse("no load of this loop moves with it: expected an xetile.load_tile of an "
                      "xetile.init_tile whose offsets are computed from the induction variable",
                      loop, "target op");
      if (Operation *obstacle = findObstacle(loop))
        return refuse("cannot load ahead: the loop writes to memory, which loads of later steps "
                      "may read",
                      obstacle, "by this operation");
      if (!computesWhatItCarries(loop))
        return refuse("cannot load ahead: expected what the loop carries to be computed in its "
                      "body",
                      loop.getBody()->getTerminator(), "carried to the next step");
      if (std::string why = AheadLoads(loop).findExcess(depth); !why.empty())
        return refuse(why, loop, "target op");
    }
    loops.push_back(loop);
  }

  SmallVector<Operation *> made;
  for (scf::ForOp loop : loops) {
    if (depth == 0) {
      made.push_back(loop);
      continue;
    }
    AheadLoads loads(loop);
    loads.separate(rewriter);
    scf::PipeliningOption options;
    options.getScheduleFn = [&](scf::ForOp, std::vector<std::pair<Operation *, unsigned>> &order) {
      loads.schedule(static_cast<unsigned>(depth), order);
    };
    options.peelEpilogue = false;
    options.supportDynamicLoops = true;
    // Loads behind the loop's end change nothing.
    options.predicateFn = [](RewriterBase &, Operation *op, Value) { return op; };
    rewriter.setInsertionPoint(loop);
    FailureOr<scf::ForOp> pipelined = scf::pipelineForLoop(rewriter, loop, options);
    if (failed(pipelined))
      return op.emitDefiniteFailure() << "the loop could not be pipelined";
    made.push_back(*pipelined);
  }
  results.set(cast<OpResult>(getLoops()), made);
  return DiagnosedSilenceableFailure::success();
}

void PipelineOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesTarget(getOperation(), effects);
}

} // namespace xetile::transform_ops
