//===- LaneBlocks.cpp - accesses to blocks of memory -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: load_nd, store_nd, prefetch_nd. Out: 2D block messages of XeVM; where no message does what is
// asked for, each lane accesses its elements. Refused: vectors that are not all of the tile.
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneDescriptors.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Operands of messages
//===----------------------------------------------------------------------===//

/// False if constants violate a limit of 2D block messages.
static bool isBlockSurface(const TargetInfo &target, const TilePlace &at) {
  const Surface &surface = at.surface;
  unsigned rank = at.rank();
  if (rank < 2 || at.tile.getRank() != 2 || spaceOf(at.tile) != globalSpace)
    return false;
  unsigned bits = memoryBits(at.tile.getElementType());
  std::optional<int64_t> width = constantOf(surface.sizes[rank - 1]),
                         height = constantOf(surface.sizes[rank - 2]),
                         pitch = constantOf(surface.strides[rank - 2]);
  // Alignment of a constant offset in a row; others are trusted.
  if (std::optional<int64_t> x = constantOf(at.place[rank - 1]))
    if (bits >= 8 && target.checkXOffset(bits, std::abs(*x)).has_value())
      return false;
  auto toBytes = [&](int64_t elements) {
    return llvm::SaturatingMultiply<uint64_t>(elements, bits) / 8;
  };
  uint64_t widthBytes = width ? toBytes(*width) : target.surface.minWidthBytes;
  uint64_t pitchBytes = pitch ? toBytes(*pitch) : target.surface.maxExtent;
  return !target.checkSurface(widthBytes, height.value_or(1), pitchBytes, std::max(bits, 8u))
              .has_value();
}

namespace {
struct BlockOperands {
  Value pointer, width, height, pitch, x, y;
};
} // namespace

/// Of the message that starts at `corner` of the tile.
static BlockOperands blockOperands(LaneBuilder &b, const TilePlace &at, const BlockShape &shape,
                                   std::array<int64_t, 2> corner) {
  unsigned rank = at.rank(), bits = memoryBits(at.tile.getElementType());
  const Surface &surface = at.surface;
  Values place = at.place;
  for (unsigned i : {0, 1})
    if (corner[i]) {
      Value &start = place[rank - 2 + i];
      start = b.add(start, arith::ConstantIndexOp::create(b, corner[i]));
    }
  auto toBytes = [&](Value count) {
    return bits == 4 ? b.createOrFold<arith::DivSIOp>(count, b.index(2))
                     : b.mul(count, b.index(bits / 8));
  };
  auto toI32 = [&](Value number) {
    return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), number);
  };
  // Dimensions before the last two choose the matrix.
  Value address = surface.address;
  for (unsigned dim = 0; dim + 2 < rank; ++dim) {
    Value bytes = toBytes(b.mul(place[dim], surface.strides[dim]));
    if (constantOf(bytes) != 0)
      address = b.add(address, b.createOrFold<arith::IndexCastOp>(b.getI64Type(), bytes));
  }
  int64_t perElement = shape.elemBits / bits;
  Value x = place[rank - 1];
  if (perElement > 1)
    x = b.createOrFold<arith::DivSIOp>(x, b.index(perElement));
  return {pointerTo(b, address, globalSpace),
          toI32(toBytes(surface.sizes[rank - 1])),
          toI32(surface.sizes[rank - 2]),
          toI32(toBytes(surface.strides[rank - 2])),
          toI32(x),
          toI32(place[rank - 2])};
}

/// The policy of L1 and of the device's last cache; XeVM calls that L3.
template <typename Op>
static std::pair<xegpu::CachePolicy, xegpu::CachePolicy> hintsOf(Op op,
                                                                 xegpu::CachePolicy standard) {
  auto l1 = op.getL1Hint(), l2 = op.getL2Hint(), l3 = op.getL3Hint();
  if (!l1 && !l2 && !l3)
    return {standard, standard};
  return {l1.value_or(xegpu::CachePolicy::UNCACHED),
          l3 ? *l3 : l2.value_or(xegpu::CachePolicy::UNCACHED)};
}

static xevm::LoadCacheControlAttr
loadControl(MLIRContext *context, std::pair<xegpu::CachePolicy, xegpu::CachePolicy> hints) {
  using Policy = xegpu::CachePolicy;
  using Control = xevm::LoadCacheControl;
  auto [l1, l3] = hints;
  bool last = l3 == Policy::CACHED;
  Control control = Control::L1UC_L2UC_L3UC;
  if (l1 == Policy::READ_INVALIDATE)
    control = Control::INVALIDATE_READ;
  else if (l1 == Policy::CACHED)
    control = last ? Control::L1C_L2UC_L3C : Control::L1C_L2UC_L3UC;
  else if (l1 == Policy::STREAMING)
    control = last ? Control::L1S_L2UC_L3C : Control::L1S_L2UC_L3UC;
  else
    control = last ? Control::L1UC_L2UC_L3C : Control::L1UC_L2UC_L3UC;
  return xevm::LoadCacheControlAttr::get(context, control);
}

static xevm::StoreCacheControlAttr
storeControl(MLIRContext *context, std::pair<xegpu::CachePolicy, xegpu::CachePolicy> hints) {
  using Policy = xegpu::CachePolicy;
  using Control = xevm::StoreCacheControl;
  auto [l1, l3] = hints;
  bool last = l3 == Policy::WRITE_BACK;
  Control control = last ? Control::L1UC_L2UC_L3WB : Control::L1UC_L2UC_L3UC;
  if (l1 == Policy::WRITE_THROUGH)
    control = last ? Control::L1WT_L2UC_L3WB : Control::L1WT_L2UC_L3UC;
  else if (l1 == Policy::STREAMING)
    control = last ? Control::L1S_L2UC_L3WB : Control::L1S_L2UC_L3UC;
  else if (l1 == Policy::WRITE_BACK)
    control = last ? Control::L1WB_L2UC_L3WB : Control::L1WB_L2UC_L3UC;
  return xevm::StoreCacheControlAttr::get(context, control);
}

//===----------------------------------------------------------------------===//
// Registers of messages
//===----------------------------------------------------------------------===//

/// Values of vectors of `width` registers each, numbered through: those at `places`, as a vector of
/// type `type`. A whole vector or a slice of one, else element by element.
static Value collect(LaneBuilder &b, ArrayRef<Value> vectors, unsigned width,
                     ArrayRef<unsigned> places, VectorType type) {
  unsigned first = places.front() / width;
  bool isRun = first == places.back() / width &&
               llvm::all_of(llvm::enumerate(places),
                            [&](auto entry) { return entry.value() == places[0] + entry.index(); });
  if (isRun && (places.size() > 1 || width == 1))
    return width == places.size()
               ? vectors[first]
               : registersOf(b, vectors[first], places[0] % width, places.size());
  Values elements;
  for (unsigned at : places)
    elements.push_back(b.element(vectors[at / width], at % width));
  return b.build(type, elements);
}

static LaneMatrix matrixOf(const TilePlace &at) {
  xegpu::TensorDescType tile = at.tile;
  LaneMatrix matrix;
  matrix.address = at.surface.address;
  matrix.space = spaceOf(at.tile);
  matrix.strides = Values(at.surface.strides);
  matrix.offsets = at.place;
  if (tile.getBoundaryCheck() && tile.getRank() >= 2)
    matrix.sizes = Values(at.surface.sizes);
  return matrix;
}

/// The tile's coordinate along dimension `dim` of memory.
static int64_t coordinateInTile(const TilePlace &at, int64_t element, unsigned dim) {
  unsigned rank = at.rank(), tileRank = at.tile.getRank();
  return dim + tileRank < rank ? 0 : unravel(element, at.tile.getShape())[dim + tileRank - rank];
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Each lane loads its elements.
static void loadByLanes(xegpu::LoadNdOp op, const TilePlace &at, LaneContext &lanes) {
  auto vector = cast<VectorType>(op.getType());
  bool transpose = op.getTranspose().has_value(), packed = op.getPacked().value_or(false);
  auto coordinate = [&](int64_t element, unsigned dim) -> int64_t {
    if (at.tile.getRank() > 2)
      return coordinateInTile(at, element, dim);
    auto [row, column] = cellInTile(vector, at.tile, transpose, packed, element);
    return dim == at.rank() - 1 ? column : dim + 2 == at.rank() ? row : 0;
  };
  lanes.held.define(op.getValue(),
                    loadLanes(lanes, lanes.held.pieceType(op.getValue()),
                              lanes.held.tableOf(op.getValue()), matrixOf(at), coordinate));
}

/// A row of as many words as there are lanes, wholly in memory, by a message that takes an address
/// alone; null for other tiles. Those of blocks take six numbers, written anew for each.
static Value loadRow(xegpu::LoadNdOp op, const TilePlace &at, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  xegpu::TensorDescType tile = at.tile;
  auto vector = cast<VectorType>(op.getType());
  std::array<int64_t, 2> row = {1, lanes.count};
  const LaneTable &table = lanes.held.tableOf(op.getValue());
  if (tile.getBoundaryCheck() || tile.isScattered() || tile.getShape() != ArrayRef(row) ||
      vector.getShape() != ArrayRef(row) || memoryBits(tile.getElementType()) != 32 ||
      spaceOf(tile) != globalSpace || op.getTranspose() || op.getPacked().value_or(false) ||
      constantOf(at.surface.strides.back()) != 1 || table.flatRegisters() != 1)
    return {};
  for (auto [lane, element] : llvm::enumerate(table.row(0)))
    if (element != int64_t(lane))
      return {};
  Value linear = b.index(0);
  for (auto [place, stride] : llvm::zip_equal(at.place, at.surface.strides))
    linear = b.add(linear, b.mul(place, stride));
  Value pointer = pointerTo(b, advance(b, at.surface.address, linear, 4), globalSpace);
  Value word = xevm::BlockLoadOp::create(
      b, b.getI32Type(), pointer,
      loadControl(op.getContext(), hintsOf(op, xegpu::CachePolicy::CACHED)));
  VectorType piece = lanes.held.pieceType(op.getValue());
  Value words = b.build(VectorType::get({1}, b.getI32Type()), {word});
  return piece == words.getType() ? words : vector::BitCastOp::create(b, piece, words).getResult();
}

static LogicalResult lower(xegpu::LoadNdOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  auto vector = cast<VectorType>(op.getType());
  FailureOr<TilePlace> at = placeOf(lanes, op);
  if (failed(at))
    return failure();
  xegpu::TensorDescType tile = at->tile;
  if (tile.getNumElements() * (tile.isScattered() ? 1 : tile.getArrayLength()) !=
      vector.getNumElements())
    return op.emitOpError("loads ") << vector << " from a tile of " << tile
                                    << ", expected all of its elements: those of a subgroup, or "
                                       "xegpu-op-level=lane";
  if (Value row = loadRow(op, *at, lanes)) {
    lanes.held.define(op.getValue(), row);
    return success();
  }
  MessageRequest request;
  request.vector = vector;
  request.tile = tile;
  request.lanes = lanes.held.layoutOf(op.getValue());
  request.transpose = op.getTranspose().has_value();
  request.packed = op.getPacked().value_or(false);
  request.inDwords = feedsDpasB(op.getValue());
  const LaneMessages *plan =
      isBlockSurface(lanes.target, *at) ? lanes.planner.plan(request) : nullptr;
  if (!plan) {
    loadByLanes(op, *at, lanes);
    return success();
  }
  const BlockShape &shape = plan->shape;
  VectorType piece = lanes.held.pieceType(op.getValue());
  unsigned wordBits = shape.transform ? 32 : shape.elemBits;
  auto loaded =
      VectorType::get({int64_t(plan->perLane) * memoryBits(tile.getElementType()) / wordBits},
                      b.getIntegerType(wordBits));
  auto asElements = VectorType::get({int64_t(plan->perLane)}, piece.getElementType());
  xevm::LoadCacheControlAttr control =
      loadControl(op.getContext(), hintsOf(op, xegpu::CachePolicy::CACHED));
  Values messages;
  for (std::array<int64_t, 2> corner : plan->corners) {
    BlockOperands from = blockOperands(b, *at, shape, corner);
    Value value = xevm::BlockLoad2dOp::create(
        b, loaded, from.pointer, from.width, from.height, from.pitch, from.x, from.y,
        int32_t(shape.elemBits), int32_t(shape.width), int32_t(shape.height), int32_t(shape.blocks),
        shape.transpose, shape.transform, control);
    if (loaded != asElements)
      value = vector::BitCastOp::create(b, asElements, value);
    messages.push_back(value);
  }
  Values pieces;
  for (ArrayRef<unsigned> left = plan->source; !left.empty();
       left = left.drop_front(piece.getNumElements()))
    pieces.push_back(
        collect(b, messages, plan->perLane, left.take_front(piece.getNumElements()), piece));
  lanes.held.define(op.getValue(), pieces);
  return success();
}

static LogicalResult lower(xegpu::StoreNdOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  auto vector = cast<VectorType>(op.getValue().getType());
  FailureOr<TilePlace> at = placeOf(lanes, op);
  if (failed(at))
    return failure();
  if (at->tile.getNumElements() != vector.getNumElements())
    return op.emitOpError("stores ") << vector << " to a tile of " << at->tile
                                     << ", expected all of its elements: those of a subgroup, or "
                                        "xegpu-op-level=lane";
  ArrayRef<Value> values = lanes.held.piecesOf(op.getValue());
  const LaneTable &table = lanes.held.tableOf(op.getValue());
  Type element = LaneFragments::storedType(vector.getElementType());
  MessageRequest request;
  request.vector = vector;
  request.tile = at->tile;
  request.access = BlockAccess::Store;
  request.lanes = lanes.held.layoutOf(op.getValue());
  const LaneMessages *plan =
      isBlockSurface(lanes.target, *at) ? lanes.planner.plan(request) : nullptr;
  if (!plan) {
    storeLanes(lanes, values, element, table, matrixOf(*at),
               [&](int64_t number, unsigned dim) { return coordinateInTile(*at, number, dim); });
    return success();
  }
  const BlockShape &shape = plan->shape;
  auto stored = VectorType::get(
      {int64_t(plan->perLane) * memoryBits(at->tile.getElementType()) / shape.elemBits},
      b.getIntegerType(shape.elemBits));
  auto asElements = VectorType::get({int64_t(plan->perLane)}, element);
  xevm::StoreCacheControlAttr control =
      storeControl(op.getContext(), hintsOf(op, xegpu::CachePolicy::WRITE_BACK));
  for (auto [number, corner] : llvm::enumerate(plan->corners)) {
    Value value =
        collect(b, values, table.registers,
                ArrayRef(plan->source).slice(number * plan->perLane, plan->perLane), asElements);
    if (stored != asElements)
      value = vector::BitCastOp::create(b, stored, value);
    BlockOperands to = blockOperands(b, *at, shape, corner);
    xevm::BlockStore2dOp::create(b, to.pointer, to.width, to.height, to.pitch, to.x, to.y,
                                 int32_t(shape.elemBits), int32_t(shape.width),
                                 int32_t(shape.height), value, control);
  }
  return success();
}

static LogicalResult lower(xegpu::PrefetchNdOp op, LaneContext &lanes) {
  FailureOr<TilePlace> at = placeOf(lanes, op);
  if (failed(at))
    return failure();
  // A hint: what no message does is left out.
  std::optional<LaneMessages> plan = lanes.planner.planPrefetch(at->tile);
  if (!plan || !isBlockSurface(lanes.target, *at))
    return success();
  const BlockShape &shape = plan->shape;
  // Without any hint PVC would drop it.
  xevm::LoadCacheControlAttr control =
      loadControl(op.getContext(), hintsOf(op, xegpu::CachePolicy::CACHED));
  for (std::array<int64_t, 2> corner : plan->corners) {
    BlockOperands from = blockOperands(lanes.b, *at, shape, corner);
    xevm::BlockPrefetch2dOp::create(lanes.b, from.pointer, from.width, from.height, from.pitch,
                                    from.x, from.y, int32_t(shape.elemBits), int32_t(shape.width),
                                    int32_t(shape.height), int32_t(shape.blocks), control);
  }
  return success();
}

void xetile::addBlockLowerings(LaneLowerings &table) {
  table.add<xegpu::LoadNdOp>(lower);
  table.add<xegpu::StoreNdOp>(lower);
  table.add<xegpu::PrefetchNdOp>(lower);
}
