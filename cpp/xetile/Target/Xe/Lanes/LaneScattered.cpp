//===- LaneScattered.cpp - accesses with offsets of each lane ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: create_tdesc, update_offset, load and store with offsets, prefetch. Out: loads and stores of
// each lane, whole chunks together. Refused: what lanes hold instead of what a subgroup does,
// elements that are no whole bytes, offsets that do not fit the mask.
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "xetile/Target/Xe/Lanes/LaneNeighbours.h"

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Descriptors: an address, and offsets in their natural lanes
//===----------------------------------------------------------------------===//

static Values naturalPieces(LaneContext &lanes, Value offsets) {
  auto type = cast<VectorType>(offsets.getType());
  LaneMap natural = LaneMap::natural(type.getShape(), lanes.count);
  return gather(lanes, VectorType::get({natural.numRegisters()}, lanes.b.getIndexType()),
                lanes.held.tableFor(natural.attr(type.getContext()), type.getShape()),
                {lanes.held.sourceOf(offsets)}, sameElement);
}

static LogicalResult lower(xegpu::CreateDescOp op, LaneContext &lanes) {
  FailureOr<LaneMatrix> matrix = matrixOf(lanes, op, op.getSource());
  if (failed(matrix))
    return failure();
  Values all{matrix->address};
  llvm::append_range(all, naturalPieces(lanes, op.getOffsets()));
  lanes.held.define(op.getResult(), all);
  return success();
}

static LogicalResult lower(xegpu::UpdateOffsetOp op, LaneContext &lanes) {
  Values deltas = naturalPieces(lanes, op.getOffsets());
  Values all(lanes.held.piecesOf(op.getTensorDesc()));
  if (all.size() != deltas.size() + 1)
    return op.emitOpError("has other offsets than its descriptor");
  for (auto [place, delta] : llvm::zip_equal(MutableArrayRef(all).drop_front(), deltas))
    place = arith::AddIOp::create(lanes.b, place, delta);
  lanes.held.define(op.getResult(), all);
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {

/// A load or store: `chunk` neighbours from each offset on.
struct Access {
  Operation *op;
  Value memory, offsets, mask, value;
  int64_t chunk = 1;
  VectorType maskType() const { return cast<VectorType>(mask.getType()); }
  Type element() const {
    return LaneFragments::storedType(cast<VectorType>(value.getType()).getElementType());
  }
};

/// Where it starts in each register of the value: offsets, and masks unless all lanes take part.
struct Places {
  Value address;
  unsigned space;
  Values offsets, masks;
};

} // namespace

/// Checks the types and finds the chunk.
static LogicalResult complete(Access &access) {
  Operation *op = access.op;
  auto vector = dyn_cast<VectorType>(access.value.getType());
  auto mask = dyn_cast<VectorType>(access.mask.getType());
  if (!vector || !mask || (access.offsets && !isa<VectorType>(access.offsets.getType())))
    return op->emitOpError("has what a lane holds for offsets, mask or value; expected vectors of "
                           "the subgroup, or xegpu-op-level=lane");
  if (vector.getNumElements() % mask.getNumElements() ||
      !llvm::equal(mask.getShape(), vector.getShape().take_front(mask.getRank())))
    return op->emitOpError("moves ") << vector << " under a mask of " << mask
                                     << ", expected the mask's shape, and behind it the chunk";
  access.chunk = vector.getNumElements() / mask.getNumElements();
  if (unsigned bits = memoryBits(access.element()); bits % 8)
    return op->emitOpError("moves elements of ") << bits << " bits, expected whole bytes";
  return success();
}

static FailureOr<Places> placesOf(LaneContext &lanes, const Access &access) {
  const LaneTable &table = lanes.held.tableOf(access.value);
  auto spread = [&](LaneSource from, Type type) {
    return gather(lanes, VectorType::get({int64_t(table.registers)}, type), table, {from},
                  [&](int64_t number) { return std::pair(0u, number / access.chunk); });
  };
  Places places;
  if (auto tile = dyn_cast<xegpu::TensorDescType>(access.memory.getType())) {
    places.address = lanes.held.piecesOf(access.memory).front();
    places.space = spaceOf(tile);
    LaneSource from = offsetsOf(lanes, access.memory, access.maskType());
    if (from.pieces.size() != from.table.pieces)
      return access.op->emitOpError("has a descriptor of other offsets than its mask");
    places.offsets = spread(from, lanes.b.getIndexType());
  } else {
    FailureOr<LaneMatrix> matrix = matrixOf(lanes, access.op, access.memory);
    if (failed(matrix))
      return failure();
    places.address = matrix->address;
    places.space = matrix->space;
    places.offsets = spread(lanes.held.sourceOf(access.offsets), lanes.b.getIndexType());
  }
  if (!matchPattern(access.mask, m_One()))
    places.masks = spread(lanes.held.sourceOf(access.mask), lanes.b.getI1Type());
  return places;
}

/// Calls `visit` for each access of a lane, of `run` registers of piece `p` from `r` on.
static void forEachRun(
    LaneContext &lanes, const Access &access, const Places &places,
    function_ref<void(unsigned p, unsigned r, unsigned run, Value pointer, Value mask)> visit) {
  LaneBuilder &b = lanes.b;
  const LaneTable &table = lanes.held.tableOf(access.value);
  Type element = access.element();
  for (unsigned flat = 0; flat < table.flatRegisters();) {
    unsigned p = flat / table.registers, r = flat % table.registers, run = 1;
    // Neighbours of a chunk go together.
    if (!element.isIndex())
      run = runOf(table, flat, [&](unsigned distance) {
        return llvm::all_of(
            llvm::zip_equal(table.row(flat), table.row(flat + distance)), [&](auto pair) {
              auto [from, to] = pair;
              return to == from + int64_t(distance) && to / access.chunk == from / access.chunk;
            });
      });
    SmallVector<int64_t> within;
    for (int64_t number : table.row(flat))
      within.push_back(number % access.chunk);
    Value place = b.add(b.element(places.offsets[p], r), lanes.numbers.index(within));
    Value bytes = b.mul(place, b.index(memoryBits(element) / 8));
    Value address = b.add(places.address, arith::IndexCastOp::create(b, b.getI64Type(), bytes));
    Value pointer = pointerTo(b, address, places.space);
    visit(p, r, run, pointer, places.masks.empty() ? Value() : b.element(places.masks[p], r));
    flat += run;
  }
}

static LogicalResult lower(xegpu::LoadGatherOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  Access access{op, op.getSource(), op.getOffsets(), op.getMask(), op.getValue()};
  // It may have been loaded with one before it.
  if (!lanes.held.piecesOf(op.getValue()).empty())
    return success();
  if (failed(complete(access)))
    return failure();
  if (loadNeighbours(op, lanes))
    return success();
  FailureOr<Places> places = placesOf(lanes, access);
  if (failed(places))
    return failure();
  Type element = access.element();
  VectorType piece = lanes.held.pieceType(op.getValue());
  Values pieces, elements;
  forEachRun(lanes, access, *places,
             [&](unsigned, unsigned, unsigned run, Value pointer, Value mask) {
               Type type = run == 1 ? element : Type(VectorType::get({int64_t(run)}, element));
               Value loaded = loadWhere(b, mask, type, pointer, memoryBits(element) / 8, Value());
               appendRegisters(b, loaded, elements);
               if (int64_t(elements.size()) == piece.getNumElements())
                 pieces.push_back(b.build(piece, std::exchange(elements, {})));
             });
  lanes.held.define(op.getValue(), pieces);
  return success();
}

static LogicalResult lower(xegpu::StoreScatterOp op, LaneContext &lanes) {
  Access access{op, op.getDest(), op.getOffsets(), op.getMask(), op.getValue()};
  if (failed(complete(access)))
    return failure();
  if (storeNeighbours(op, lanes))
    return success();
  FailureOr<Places> places = placesOf(lanes, access);
  if (failed(places))
    return failure();
  ArrayRef<Value> stored = lanes.held.piecesOf(op.getValue());
  forEachRun(lanes, access, *places,
             [&](unsigned p, unsigned r, unsigned run, Value pointer, Value mask) {
               storeWhere(lanes.b, mask, registersOf(lanes.b, stored[p], r, run), pointer,
                          memoryBits(access.element()) / 8);
             });
  return success();
}

/// A hint.
static LogicalResult lower(xegpu::PrefetchOp, LaneContext &) { return success(); }

void xetile::addScatteredLowerings(LaneLowerings &table) {
  table.add<xegpu::CreateDescOp>(lower);
  table.add<xegpu::UpdateOffsetOp>(lower);
  table.add<xegpu::LoadGatherOp>(lower);
  table.add<xegpu::StoreScatterOp>(lower);
  table.add<xegpu::PrefetchOp>(lower);
}
