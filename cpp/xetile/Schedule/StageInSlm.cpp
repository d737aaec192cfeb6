//===- StageInSlm.cpp - transform.xetile.stage_in_slm --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: workgroup-level load_tile in scf.for. Out: rings of buffers in shared local memory, which all
// subgroups fill together a step ahead, in the blocks of the matrix unit. Refused: tiles without
// wg_map, tiles that do not move with the loop, uneven sharing, more memory than there is.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/WgMap.h"
#include "xetile/Schedule/LoopSteps.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/SlmRings.h"
#include "xetile/Schedule/TargetEffects.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Transforms/ScratchMemory.h"
#include "xetile/Transforms/TiedValues.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

constexpr int64_t kLineBytes = 64;

/// A load that is staged: where its tile comes from, and how subgroups share the copy.
struct Staged {
  LoadTileOp load;
  TileSlice slice;
  TileType copied, written, read; // in memory; in the ring, by those who copy and by those who read
  Value ring;

  int64_t bytes() const { return getBufferBytes(copied.getShape(), copied.getElementType()); }
};

/// Rows and columns of the blocks in which products take the value, directly or behind elementwise
/// operations; those of sums where none does.
std::array<int64_t, 2> getRegisterBlock(Value value, ArrayRef<int64_t> own,
                                        const TargetInfo &target) {
  std::array<int64_t, 2> plain = {std::min<int64_t>(own[0] & -own[0], target.dpas.maxM),
                                  target.dpas.n};
  SmallVector<Value> pending{value};
  for (unsigned steps = 0; !pending.empty() && steps < 64; ++steps) {
    Value next = pending.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      auto product = dyn_cast<TileMmaOp>(use.getOwner());
      if (!product) {
        if (isElementwiseOnVectors(use.getOwner()))
          llvm::append_range(pending, use.getOwner()->getResults());
        continue;
      }
      Type element = cast<VectorType>(next.getType()).getElementType();
      int64_t k = target.dpasK(element.getIntOrFloatBitWidth());
      if (k && product.getB() == next)
        return {k, target.dpas.n};
      if (k && product.getA() == next)
        return {plain[0], k};
    }
  }
  return plain;
}

/// The map by which all subgroups copy a tile together, in pieces of whole blocks: as wide as a
/// cache line if that can be. Null if they cannot share it evenly.
WgMapAttr getCopyMap(MLIRContext *context, TileType tile, std::array<int64_t, 2> block,
                     int64_t subgroups) {
  if (tile.getDimSize(0) % block[0] || tile.getDimSize(1) % block[1])
    return {};
  int64_t gridRows = tile.getDimSize(0) / block[0], gridColumns = tile.getDimSize(1) / block[1];
  int64_t bytes = std::max<int64_t>(1, tile.getElementType().getIntOrFloatBitWidth() / 8);
  bool isColumnMajor = tile.isColumnMajor();
  // Of the sides along memory: how many blocks make a line.
  int64_t along = block[isColumnMajor ? 0 : 1] * bytes;
  WgMapAttr best;
  int64_t bestCost = 0;
  for (int64_t rows = 1; rows <= subgroups; ++rows) {
    int64_t columns = subgroups / rows;
    if (rows * columns != subgroups || !sharesBlocks(gridRows, gridColumns, rows, columns))
      continue;
    int64_t pieceRows = std::max<int64_t>(1, gridRows / rows);
    int64_t pieceColumns = std::max<int64_t>(1, gridColumns / columns);
    int64_t line = (isColumnMajor ? pieceRows : pieceColumns) * along;
    // Copies that several make are made for nothing; then come lines that are cut, then long ones.
    int64_t cost = pieceRows * pieceColumns * 16 + (line < kLineBytes ? 8 : 0) +
                   (line > kLineBytes ? std::min<int64_t>(7, line / kLineBytes) : 0);
    if (best && cost >= bestCost)
      continue;
    bestCost = cost;
    best =
        WgMapAttr::get(context, {rows, columns}, {pieceRows * block[0], pieceColumns * block[1]});
  }
  return best;
}

/// Fills in how `load` is staged. Returns why it cannot be, or an empty string.
std::string plan(LoadTileOp load, scf::ForOp loop, const TargetInfo &target, Staged &staged) {
  staged.load = load;
  auto init = load.getTile().getDefiningOp<InitTileOp>();
  if (!init)
    return "its tile does not come from an xetile.init_tile";
  if (!loop->isProperAncestor(init))
    return "it does not move with the loop";
  if (std::string reason = collectTileSlice(init, loop, staged.slice); !reason.empty())
    return reason;
  TileType tile = init.getTile().getType();
  WgMapAttr map = tile.getWgMap();
  if (!map)
    return "its tile has no wg_map; run xetile-infer-wg-map first";
  if (tile.getMemorySpace() != MemorySpace::Global)
    return "its tile is in shared local memory already";
  MLIRContext *context = load.getContext();
  ArrayRef<int64_t> own = map.getSgData();
  std::array<int64_t, 2> block = getRegisterBlock(load.getValue(), own, target);
  int64_t subgroups = map.getNumSubgroups();
  WgMapAttr shared = getCopyMap(context, tile, block, subgroups);
  if (!shared || own[0] % block[0] || own[1] % block[1])
    return ("its tile of " + Twine(tile.getDimSize(0)) + " x " + Twine(tile.getDimSize(1)) +
            " elements, of which a subgroup reads " + Twine(own[0]) + " x " + Twine(own[1]) +
            ", is no whole number of the matrix unit's blocks of " + Twine(block[0]) + " x " +
            Twine(block[1]) + " elements that " + Twine(subgroups) +
            " subgroups can share evenly; change the tile or the subgroup layout")
        .str();
  staged.copied = tile.withWgMap(shared);
  auto inRing = [&](WgMapAttr which) {
    return TileType::get(tile.getShape(), tile.getElementType(),
                         TileAttr::get(context, which, ArrayRef<int64_t>(), ArrayRef<int64_t>(),
                                       MemorySpace::SLM, /*scatter=*/false));
  };
  staged.written = inRing(shared);
  staged.read = inRing(map);
  return {};
}

/// Writes the loop anew: `buffers` steps a turn, so that each step knows its buffer.
class RingWriter {
public:
  RingWriter(RewriterBase &rewriter, scf::ForOp loop, MutableArrayRef<Staged> staged,
             int64_t buffers)
      : rewriter(rewriter), loop(loop), loc(loop.getLoc()), staged(staged), buffers(buffers) {}

  /// The new loop; the old one is gone.
  scf::ForOp run();

private:
  Value constant(int64_t value) {
    return arith::ConstantOp::create(
        rewriter, loc, rewriter.getIntegerAttr(loop.getInductionVar().getType(), value));
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }

  void createRings();
  /// The tiles of memory that step `at` reads, shared among subgroups.
  SmallVector<Value> load(Value at);
  /// The tile of a buffer of a ring.
  Value getTile(Staged &each, TileType type, Value buffer);
  void store(ValueRange values, Value buffer);
  /// One step on `buffer`, while the next one's tiles are on their way to the one behind.
  SmallVector<Value> step(Value at, Value buffer, ValueRange carried, Value nextBuffer);
  void findEnds();

  RewriterBase &rewriter;
  scf::ForOp loop;
  Location loc;
  MutableArrayRef<Staged> staged;
  int64_t buffers;
  Value mainEnd;
  std::optional<int64_t> rest; // steps behind the turns, where that is known
};

void RingWriter::createRings() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&loop->getParentOfType<gpu::GPUFuncOp>().getBody().front());
  for (Staged &each : staged) {
    auto type = MemRefType::get({buffers * each.copied.getDimSize(0), each.copied.getDimSize(1)},
                                each.copied.getElementType(), MemRefLayoutAttrInterface(),
                                rewriter.getI64IntegerAttr(int64_t(MemorySpace::SLM)));
    each.ring =
        memref::AllocaOp::create(rewriter, loc, type, rewriter.getI64IntegerAttr(kLineBytes));
  }
}

SmallVector<Value> RingWriter::load(Value at) {
  SmallVector<Value> values;
  for (Staged &each : staged) {
    InitTileOp tile = cloneTileAt(rewriter, each.slice, loop, at, each.copied);
    values.push_back(LoadTileOp::create(rewriter, each.load.getLoc(),
                                        each.load.getValue().getType(), tile.getTile(),
                                        each.load.getPaddingAttr()));
  }
  return values;
}

Value RingWriter::getTile(Staged &each, TileType type, Value buffer) {
  Value row = rewriter.createOrFold<arith::MulIOp>(loc, buffer, index(type.getDimSize(0)));
  SmallVector<OpFoldResult> offsets{getAsOpFoldResult(row), rewriter.getIndexAttr(0)};
  return InitTileOp::create(rewriter, each.load.getLoc(), type, each.ring, offsets,
                            ArrayRef<OpFoldResult>(), ArrayRef<OpFoldResult>());
}

void RingWriter::store(ValueRange values, Value buffer) {
  for (auto [each, value] : llvm::zip_equal(staged, values))
    StoreTileOp::create(rewriter, each.load.getLoc(), value, getTile(each, each.written, buffer));
}

SmallVector<Value> RingWriter::step(Value at, Value buffer, ValueRange carried, Value nextBuffer) {
  // The buffer is filled, and nobody reads the next one any more.
  gpu::BarrierOp::create(rewriter, loc);
  SmallVector<Value> ahead;
  if (nextBuffer)
    ahead = load(advanceBySteps(rewriter, loc, at, loop, 1));
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), at);
  mapping.map(loop.getRegionIterArgs(), carried);
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto each = llvm::find_if(staged, [&](const Staged &s) { return s.load == &op; });
    if (each == staged.end()) {
      rewriter.clone(op, mapping);
      continue;
    }
    Value read = LoadTileOp::create(rewriter, op.getLoc(), each->load.getValue().getType(),
                                    getTile(*each, each->read, buffer), TypedAttr());
    mapping.map(each->load.getValue(), read);
  }
  if (nextBuffer)
    store(ahead, nextBuffer);
  return llvm::map_to_vector(loop.getYieldedValues(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

void RingWriter::findEnds() {
  if (std::optional<int64_t> steps = getKnownSteps(loop)) {
    rest = *steps % buffers;
    mainEnd = advanceBySteps(rewriter, loc, loop.getLowerBound(), loop, *steps - *rest);
    return;
  }
  Value length = arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), loop.getLowerBound());
  length = arith::MaxSIOp::create(rewriter, loc, length, constant(0));
  Value turn = rewriter.createOrFold<arith::MulIOp>(loc, loop.getStep(), constant(buffers));
  // A last step that is not whole counts.
  Value less = rewriter.createOrFold<arith::SubIOp>(loc, loop.getStep(), constant(1));
  length = arith::AddIOp::create(rewriter, loc, length, less);
  Value turns = arith::DivUIOp::create(rewriter, loc, length, turn);
  mainEnd = arith::AddIOp::create(rewriter, loc, loop.getLowerBound(),
                                  arith::MulIOp::create(rewriter, loc, turns, turn));
}

scf::ForOp RingWriter::run() {
  createRings();
  rewriter.setInsertionPoint(loop);
  // Who is done with an earlier turn of a loop around may overtake others.
  if (loop->getParentOfType<LoopLikeOpInterface>())
    gpu::BarrierOp::create(rewriter, loc);
  store(load(loop.getLowerBound()), index(0));
  findEnds();
  Value turn = rewriter.createOrFold<arith::MulIOp>(loc, loop.getStep(), constant(buffers));
  auto main =
      scf::ForOp::create(rewriter, loc, loop.getLowerBound(), mainEnd, turn, loop.getInitArgs(),
                         [&](OpBuilder &, Location, Value at, ValueRange carried) {
                           SmallVector<Value> values(carried);
                           for (int64_t number = 0; number < buffers; ++number)
                             values = step(advanceBySteps(rewriter, loc, at, loop, number),
                                           index(number), values, index((number + 1) % buffers));
                           scf::YieldOp::create(rewriter, loc, values);
                         });
  main->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  rewriter.setInsertionPointAfter(main);
  SmallVector<Value> values(main.getResults());
  if (rest) {
    for (int64_t number = 0; number < *rest; ++number)
      values = step(advanceBySteps(rewriter, loc, mainEnd, loop, number), index(number), values,
                    number + 1 < *rest ? index(number + 1) : Value());
  } else {
    auto last = scf::ForOp::create(
        rewriter, loc, mainEnd, loop.getUpperBound(), loop.getStep(), values,
        [&](OpBuilder &, Location, Value at, ValueRange carried) {
          Value done = arith::SubIOp::create(rewriter, loc, at, mainEnd);
          Value number = arith::DivUIOp::create(rewriter, loc, done, loop.getStep());
          if (!number.getType().isIndex())
            number = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(), number);
          Value next = arith::AddIOp::create(rewriter, loc, number, index(1));
          auto inRing = [&](Value at) -> Value {
            return arith::RemUIOp::create(rewriter, loc, at, index(buffers));
          };
          scf::YieldOp::create(rewriter, loc, step(at, inRing(number), carried, inRing(next)));
        });
    values = SmallVector<Value>(last.getResults());
  }
  rewriter.replaceOp(loop, values);
  return main;
}

using StagedLoops = llvm::MapVector<scf::ForOp, SmallVector<Staged>>;

int64_t getDepth(Operation *op) {
  int64_t depth = 0;
  while ((op = op->getParentOp()))
    ++depth;
  return depth;
}

/// All rings of a kernel fit its shared memory, beside what it has there.
DiagnosedSilenceableFailure checkMemory(TransformOpInterface op, StagedLoops &loops,
                                        int64_t buffers, StringRef chip) {
  llvm::MapVector<Operation *, int64_t> needed;
  for (auto &[loop, staged] : loops)
    for (const Staged &each : staged)
      needed[loop->getParentOfType<gpu::GPUFuncOp>()] += each.bytes();
  for (auto [kernel, bytes] : needed) {
    int64_t others = getOtherSharedBytes(kernel), limit = lookupTarget(chip)->slmBytes;
    if (buffers * bytes + others <= limit)
      continue;
    DiagnosedDefiniteFailure failure =
        op.emitDefiniteFailure()
        << "buffers = " << buffers << ": a step's tiles need " << bytes << " bytes, " << buffers
        << " x " << bytes << " = " << buffers * bytes
        << (others ? " and " + std::to_string(others) + " of the kernel's own" : std::string())
        << ", more than the " << limit << " bytes of shared local memory of a workgroup on " << chip
        << "; ";
    int64_t most = (limit - others) / bytes;
    if (most >= 2)
      failure << "the most buffers are " << most;
    else
      failure << "two buffers need tiles of at most " << std::max<int64_t>(0, limit - others) / 2
              << " bytes a step: make k_step or the workgroup's tile smaller";
    failure.attachNote(kernel->getLoc()) << "kernel";
    return failure;
  }
  return DiagnosedSilenceableFailure::success();
}

} // namespace

DiagnosedSilenceableFailure StageInSlmOp::apply(TransformRewriter &rewriter,
                                                TransformResults &results, TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  int64_t buffers;
  StringRef chip;
  DiagnosedSilenceableFailure diag = readInteger(op, state, getBuffers(), "buffers", 0, buffers);
  if (diag.succeeded())
    diag = readString(op, state, getChip(), "target", chip);
  if (!diag.succeeded())
    return diag;
  if (Problem outside = checkRingBuffers(buffers))
    return op.emitDefiniteFailure() << "buffers = " << buffers << ": " << *outside;

  StagedLoops loops;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto load = dyn_cast<LoadTileOp>(target);
    if (!load)
      return wrongTarget(op, target, "xetile.load_tile");
    auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
    ArrayRef<int64_t> shape = load.getTile().getType().getShape();
    if (!loop || buffers == 0 || llvm::is_contained(shape, 1))
      continue;
    if (std::optional<std::string> why = checkChip(chip))
      return op.emitDefiniteFailure() << *why;
    Staged staged;
    std::string reason = plan(load, loop, *lookupTarget(chip), staged);
    if (reason.empty() && !loop->getParentOfType<gpu::GPUFuncOp>())
      reason = "it is in no gpu.func, whose workgroups share memory";
    if (!reason.empty()) {
      DiagnosedDefiniteFailure failure = op.emitDefiniteFailure()
                                         << "cannot stage this load: " << reason;
      failure.attachNote(load.getLoc()) << "target op";
      return failure;
    }
    loops[loop].push_back(staged);
  }

  diag = checkMemory(op, loops, buffers, chip);
  if (!diag.succeeded())
    return diag;
  // A loop in a loop first: it is copied with what is around it.
  auto order = llvm::to_vector(llvm::make_first_range(loops));
  llvm::sort(order, [](scf::ForOp a, scf::ForOp b) { return getDepth(a) > getDepth(b); });
  SmallVector<Operation *> staged;
  for (scf::ForOp loop : order)
    staged.push_back(RingWriter(rewriter, loop, loops[loop], buffers).run());
  results.set(cast<OpResult>(getLoops()), staged);
  return DiagnosedSilenceableFailure::success();
}

void StageInSlmOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesTarget(getOperation(), effects);
}

} // namespace xetile::transform_ops
