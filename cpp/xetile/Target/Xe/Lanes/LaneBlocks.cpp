//===- LaneBlocks.cpp - descriptors of blocks, and accesses to them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: create_nd_tdesc, update_nd_offset, load_nd, store_nd, prefetch_nd. Out: 2D block messages of
// XeVM; where no message does what is asked for, each lane accesses its elements.
// Refused: offsets that do not fit the memory's dimensions, strides that are no rows.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

LaneLowering::Surface LaneLowering::surfaceOf(Value descriptor) {
  ArrayRef<Value> all = piecesOf(descriptor);
  unsigned rank = rankOf.lookup(descriptor);
  return {all[0], all.slice(1, rank), all.slice(1 + rank, rank), all.slice(1 + 2 * rank, rank)};
}

FailureOr<LaneLowering::Matrix> LaneLowering::matrixOf(Operation *op, Value memory) {
  Matrix matrix;
  matrix.space = 1;
  Type i64 = b.getI64Type();
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (!type) {
    auto integer = cast<IntegerType>(memory.getType());
    Value number = memory;
    if (!integer.isSignless())
      number = UnrealizedConversionCastOp::create(
                   b, loc, Type(b.getIntegerType(integer.getWidth())), memory)
                   .getResult(0);
    matrix.address =
        integer.getWidth() == 64 ? number : arith::ExtUIOp::create(b, loc, i64, number).getResult();
    return matrix;
  }
  if (auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace()))
    matrix.space = space.getValue() == gpu::AddressSpace::Workgroup ? 3
                   : space.getValue() == gpu::AddressSpace::Private ? 0
                                                                    : 1;
  else if (unsigned number = type.getMemorySpaceAsInt())
    matrix.space = number;
  if (matrix.space != 1 && matrix.space != 3)
    return op->emitOpError("has memory in space ")
           << type.getMemorySpace() << ", expected global or shared memory";
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return op->emitOpError("has memory of type ")
           << type << ", whose layout has no strides; expected a strided one";
  unsigned bits = memoryBits(type.getElementType());
  if (bits % 8 && bits != 4)
    return op->emitOpError("has memory with elements of ") << bits << " bits, expected whole bytes";
  bool isStatic = type.hasStaticShape() && !ShapedType::isDynamic(offset) &&
                  llvm::none_of(strides, ShapedType::isDynamic);
  Value pointer = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  matrix.address = arith::IndexCastOp::create(b, loc, i64, pointer);
  Value start;
  if (isStatic) {
    for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
      matrix.sizes.push_back(index(size));
      matrix.strides.push_back(index(stride));
    }
    if (offset)
      start = index(offset);
  } else {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memory);
    for (auto [size, number] : llvm::zip_equal(metadata.getSizes(), type.getShape()))
      matrix.sizes.push_back(ShapedType::isDynamic(number) ? size : index(number));
    for (auto [stride, number] : llvm::zip_equal(metadata.getStrides(), strides))
      matrix.strides.push_back(ShapedType::isDynamic(number) ? stride : index(number));
    if (offset)
      start = ShapedType::isDynamic(offset) ? metadata.getOffset() : index(offset);
  }
  if (start) {
    Value bytes = bits == 4 ? b.createOrFold<arith::DivSIOp>(loc, start, index(2))
                            : mul(start, index(bits / 8));
    matrix.address = add(matrix.address, b.createOrFold<arith::IndexCastOp>(loc, i64, bytes));
  }
  return matrix;
}

LogicalResult LaneLowering::lowerCreateNd(xegpu::CreateNdDescOp op) {
  auto memref = dyn_cast<MemRefType>(op.getSource().getType());
  FailureOr<Matrix> matrix = matrixOf(op, op.getSource());
  if (failed(matrix))
    return failure();
  bool given = !op.getShape().empty() || op.getConstShapeAttr();
  auto toValues = [&](ArrayRef<OpFoldResult> mixed) {
    Values values;
    for (OpFoldResult value : mixed) {
      Value number = getValueOrCreateConstantIndexOp(b, loc, value);
      if (!number.getType().isIndex())
        number = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
      values.push_back(number);
    }
    return values;
  };
  Values sizes = matrix->sizes, strides = matrix->strides;
  int64_t tileRank = op.getType().getRank();
  if (given) {
    sizes = toValues(op.getMixedSizes());
    strides = toValues(op.getMixedStrides());
  } else if (!memref) {
    // An address alone: a row without an end.
    if (tileRank != 1)
      return op.emitOpError("describes a tile of ")
             << tileRank << " dimensions at an address, expected its matrix's shape and strides";
    sizes = {index(std::numeric_limits<int32_t>::max())};
    strides = {index(1)};
  }
  if (sizes.size() != strides.size() || int64_t(sizes.size()) < tileRank)
    return op.emitOpError("has a shape of ")
           << sizes.size() << " and strides of " << strides.size()
           << " dimensions, expected as many of each, and the tile's " << tileRank << " at least";
  if (std::optional<int64_t> last = constantOf(strides.back()); last && *last != 1)
    return op.emitOpError("has memory with a last stride of ")
           << *last << ", expected 1: rows of neighbours";
  Values offsets = toValues(op.getMixedOffsets());
  if (offsets.size() > sizes.size())
    return op.emitOpError("has ") << offsets.size() << " offsets, expected at most one for each of "
                                  << sizes.size() << " dimensions";
  // Fewer are those of the last dimensions.
  offsets.insert(offsets.begin(), sizes.size() - offsets.size(), Value());
  for (Value &offset : offsets)
    if (!offset)
      offset = index(0);
  Values all{matrix->address};
  for (const Values &part : {sizes, strides, offsets})
    llvm::append_range(all, part);
  rankOf[op.getResult()] = sizes.size();
  define(op.getResult(), all);
  return success();
}

LogicalResult LaneLowering::lowerUpdateNd(xegpu::UpdateNdOffsetOp op) {
  Values all = piecesOf(op.getTensorDesc());
  unsigned rank = rankOf.lookup(op.getTensorDesc());
  SmallVector<OpFoldResult> deltas = op.getMixedOffsets();
  if (deltas.size() > rank)
    return op.emitOpError("has ") << deltas.size() << " offsets, expected at most " << rank;
  for (auto [place, delta] : llvm::zip_equal(MutableArrayRef(all).take_back(deltas.size()), deltas))
    place = add(place, getValueOrCreateConstantIndexOp(b, loc, delta));
  rankOf[op.getResult()] = rank;
  define(op.getResult(), all);
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

template <typename Op>
FailureOr<LaneLowering::Values> LaneLowering::placeOf(Op op, const Surface &surface) {
  Values place(surface.offsets);
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  if (offsets.size() > place.size())
    return op.emitOpError("has ") << offsets.size() << " offsets, expected at most one for each of "
                                  << place.size() << " dimensions of memory";
  for (auto [at, offset] :
       llvm::zip_equal(MutableArrayRef(place).take_back(offsets.size()), offsets))
    at = add(at, getValueOrCreateConstantIndexOp(b, loc, offset));
  return place;
}

bool LaneLowering::isBlockSurface(const Surface &surface, ArrayRef<Value> place,
                                  xegpu::TensorDescType tile) {
  unsigned rank = surface.sizes.size();
  if (rank < 2 || tile.getRank() != 2 || tile.getMemorySpace() != xegpu::MemorySpace::Global)
    return false;
  unsigned bits = memoryBits(tile.getElementType());
  std::optional<int64_t> width = constantOf(surface.sizes[rank - 1]),
                         height = constantOf(surface.sizes[rank - 2]),
                         pitch = constantOf(surface.strides[rank - 2]);
  // What a constant tells of where rows start; others are trusted.
  if (std::optional<int64_t> x = constantOf(place[rank - 1]))
    if (bits >= 8 && target.checkXOffset(bits, std::abs(*x)).has_value())
      return false;
  uint64_t widthBytes = width ? *width * bits / 8 : target.surface.minWidthBytes;
  return !target
              .checkSurface(widthBytes, height.value_or(1),
                            pitch ? *pitch * bits / 8 : target.surface.maxExtent,
                            std::max(bits, 8u))
              .has_value();
}

LaneLowering::BlockOperands LaneLowering::blockOperands(const Surface &surface,
                                                        ArrayRef<Value> place,
                                                        xegpu::TensorDescType tile,
                                                        const BlockShape &shape) {
  unsigned rank = surface.sizes.size(), bits = memoryBits(tile.getElementType());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto toBytes = [&](Value count) {
    return bits == 4 ? b.createOrFold<arith::DivSIOp>(loc, count, index(2))
                     : mul(count, index(bits / 8));
  };
  auto toI32 = [&](Value number) { return b.createOrFold<arith::IndexCastOp>(loc, i32, number); };
  // Dimensions before the last two choose the matrix.
  Value address = surface.address;
  for (unsigned dim = 0; dim + 2 < rank; ++dim) {
    Value bytes = toBytes(mul(place[dim], surface.strides[dim]));
    if (constantOf(bytes) != 0)
      address = add(address, b.createOrFold<arith::IndexCastOp>(loc, i64, bytes));
  }
  int64_t perElement = shape.elemBits / bits;
  Value x = place[rank - 1];
  if (perElement > 1)
    x = b.createOrFold<arith::DivSIOp>(loc, x, index(perElement));
  return {pointerTo(address, 1),
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

/// The place of a message of a plan.
static SmallVector<Value> atCorner(OpBuilder &b, Location loc, ArrayRef<Value> place,
                                   std::array<int64_t, 2> corner) {
  SmallVector<Value> result(place);
  for (unsigned i : {0, 1})
    if (corner[i]) {
      Value &at = result[result.size() - 2 + i];
      at =
          b.createOrFold<arith::AddIOp>(loc, at, arith::ConstantIndexOp::create(b, loc, corner[i]));
    }
  return result;
}

LaneLowering::Matrix LaneLowering::matrixOf(const Surface &surface, ArrayRef<Value> place,
                                            xegpu::TensorDescType tile) {
  Matrix matrix;
  matrix.address = surface.address;
  matrix.space = tile.getMemorySpace() == xegpu::MemorySpace::SLM ? 3 : 1;
  matrix.strides = Values(surface.strides);
  matrix.offsets = Values(place);
  if (tile.getBoundaryCheck() && tile.getRank() >= 2)
    matrix.sizes = Values(surface.sizes);
  return matrix;
}

LogicalResult LaneLowering::lowerLoadNd(xegpu::LoadNdOp op) {
  xegpu::TensorDescType tile = op.getTensorDescType();
  auto vector = dyn_cast<VectorType>(op.getType());
  Surface surface = surfaceOf(op.getTensorDesc());
  FailureOr<Values> place = placeOf(op, surface);
  if (failed(place))
    return failure();
  bool transpose = op.getTranspose().has_value(), packed = op.getPacked().value_or(false);
  if (tile.getNumElements() * (tile.isScattered() ? 1 : tile.getArrayLength()) !=
      vector.getNumElements())
    return op.emitOpError("loads ") << vector << " from a tile of " << tile
                                    << ", expected all of its elements: those of a subgroup, or "
                                       "xegpu-op-level=lane";
  VectorType piece = pieceType(op.getValue());
  const LaneTable &table = tableOf(op.getValue());
  MessageRequest request;
  request.vector = vector;
  request.tile = tile;
  request.lanes = layoutOf(op.getValue());
  request.transpose = transpose;
  request.packed = packed;
  request.inDwords = feedsDpasB(op.getValue());
  const LaneMessages *plan =
      isBlockSurface(surface, *place, tile) ? planner.plan(request) : nullptr;
  unsigned bits = memoryBits(tile.getElementType());
  if (!plan) {
    Matrix matrix = matrixOf(surface, *place, tile);
    unsigned rank = matrix.strides.size(), tileRank = tile.getRank();
    define(op.getValue(), loadLanes(
                              piece, table, matrix,
                              [&](int64_t element, unsigned dim) -> int64_t {
                                if (tileRank <= 2) {
                                  auto cell = cellInTile(vector, tile, transpose, packed, element);
                                  return dim == rank - 1 ? cell[1] : dim + 2 == rank ? cell[0] : 0;
                                }
                                LaneMap::Shape at = unravel(element, tile.getShape());
                                return dim + tileRank < rank ? 0 : at[dim + tileRank - rank];
                              },
                              nullptr, nullptr));
    return success();
  }
  const BlockShape &shape = plan->shape;
  Type word = b.getIntegerType(shape.transform ? 32 : shape.elemBits);
  unsigned wordBits = word.getIntOrFloatBitWidth();
  auto loaded = VectorType::get({int64_t(plan->perLane) * bits / wordBits}, word);
  auto asElements = VectorType::get({int64_t(plan->perLane)}, piece.getElementType());
  xevm::LoadCacheControlAttr control =
      loadControl(op.getContext(), hintsOf(op, xegpu::CachePolicy::CACHED));
  Values messages;
  for (std::array<int64_t, 2> corner : plan->corners) {
    BlockOperands at = blockOperands(surface, atCorner(b, loc, *place, corner), tile, shape);
    Value value = xevm::BlockLoad2dOp::create(
        b, loc, loaded, at.pointer, at.width, at.height, at.pitch, at.x, at.y,
        int32_t(shape.elemBits), int32_t(shape.width), int32_t(shape.height), int32_t(shape.blocks),
        shape.transpose, shape.transform, control);
    if (loaded != asElements)
      value = vector::BitCastOp::create(b, loc, asElements, value);
    messages.push_back(value);
  }
  // Each piece: a slice of a message, else element by element.
  Values pieces;
  for (unsigned p = 0; p < table.pieces; ++p) {
    ArrayRef<unsigned> places =
        ArrayRef(plan->source).slice(size_t(p) * table.registers, table.registers);
    bool run =
        llvm::all_of(llvm::enumerate(places),
                     [&](auto entry) { return entry.value() == places[0] + entry.index(); }) &&
        places.front() / plan->perLane == places.back() / plan->perLane;
    if (run && table.registers == plan->perLane) {
      pieces.push_back(messages[places[0] / plan->perLane]);
    } else if (run && table.registers > 1) {
      SmallVector<int64_t> mask;
      for (unsigned at : places)
        mask.push_back(at % plan->perLane);
      Value message = messages[places[0] / plan->perLane];
      pieces.push_back(vector::ShuffleOp::create(b, loc, message, message, mask));
    } else {
      Values elements;
      for (unsigned at : places)
        elements.push_back(element(messages[at / plan->perLane], at % plan->perLane));
      pieces.push_back(build(piece, elements));
    }
  }
  define(op.getValue(), pieces);
  return success();
}

LogicalResult LaneLowering::lowerStoreNd(xegpu::StoreNdOp op) {
  xegpu::TensorDescType tile = op.getTensorDescType();
  auto vector = dyn_cast<VectorType>(op.getValue().getType());
  Surface surface = surfaceOf(op.getTensorDesc());
  FailureOr<Values> place = placeOf(op, surface);
  if (failed(place))
    return failure();
  if (tile.getNumElements() != vector.getNumElements())
    return op.emitOpError("stores ") << vector << " to a tile of " << tile
                                     << ", expected all of its elements: those of a subgroup, or "
                                        "xegpu-op-level=lane";
  const Values values = piecesOf(op.getValue());
  const LaneTable *table = &tableOf(op.getValue());
  MessageRequest request;
  request.vector = vector;
  request.tile = tile;
  request.access = BlockAccess::Store;
  request.lanes = layoutOf(op.getValue());
  const LaneMessages *plan =
      isBlockSurface(surface, *place, tile) ? planner.plan(request) : nullptr;
  unsigned bits = memoryBits(tile.getElementType());
  if (!plan) {
    Matrix matrix = matrixOf(surface, *place, tile);
    unsigned rank = matrix.strides.size(), tileRank = tile.getRank();
    LaneMap::Shape shape(tile.getShape());
    storeLanes(
        values, storedType(vector.getElementType()), *table, matrix,
        [&](int64_t element, unsigned dim) -> int64_t {
          LaneMap::Shape at = unravel(element, shape);
          return dim + tileRank < rank ? 0 : at[dim + tileRank - rank];
        },
        nullptr);
    return success();
  }
  const BlockShape &shape = plan->shape;
  Type word = b.getIntegerType(shape.elemBits), element = storedType(vector.getElementType());
  auto stored = VectorType::get({int64_t(plan->perLane) * bits / shape.elemBits}, word);
  auto asElements = VectorType::get({int64_t(plan->perLane)}, element);
  xevm::StoreCacheControlAttr control =
      storeControl(op.getContext(), hintsOf(op, xegpu::CachePolicy::WRITE_BACK));
  for (auto [number, corner] : llvm::enumerate(plan->corners)) {
    ArrayRef<unsigned> places = ArrayRef(plan->source).slice(number * plan->perLane, plan->perLane);
    unsigned first = places[0] / table->registers;
    bool run =
        llvm::all_of(llvm::enumerate(places),
                     [&](auto entry) { return entry.value() == places[0] + entry.index(); }) &&
        first == places.back() / table->registers;
    Value value;
    if (run && table->registers == plan->perLane) {
      value = values[first];
    } else if (run && plan->perLane > 1) {
      SmallVector<int64_t> mask;
      for (unsigned at : places)
        mask.push_back(at % table->registers);
      value = vector::ShuffleOp::create(b, loc, values[first], values[first], mask);
    } else {
      Values elements;
      for (unsigned at : places)
        elements.push_back(this->element(values[at / table->registers], at % table->registers));
      value = build(asElements, elements);
    }
    if (stored != asElements)
      value = vector::BitCastOp::create(b, loc, stored, value);
    BlockOperands at = blockOperands(surface, atCorner(b, loc, *place, corner), tile, shape);
    xevm::BlockStore2dOp::create(b, loc, at.pointer, at.width, at.height, at.pitch, at.x, at.y,
                                 int32_t(shape.elemBits), int32_t(shape.width),
                                 int32_t(shape.height), value, control);
  }
  return success();
}

LogicalResult LaneLowering::lowerPrefetchNd(xegpu::PrefetchNdOp op) {
  xegpu::TensorDescType tile = op.getTensorDescType();
  Surface surface = surfaceOf(op.getTensorDesc());
  FailureOr<Values> place = placeOf(op, surface);
  if (failed(place))
    return failure();
  // A hint: what no message does is left out.
  std::optional<LaneMessages> plan = planner.planPrefetch(tile);
  if (!plan || !isBlockSurface(surface, *place, tile))
    return success();
  const BlockShape &shape = plan->shape;
  // Without any hint PVC would drop it.
  xevm::LoadCacheControlAttr control =
      loadControl(op.getContext(), hintsOf(op, xegpu::CachePolicy::CACHED));
  for (std::array<int64_t, 2> corner : plan->corners) {
    BlockOperands at = blockOperands(surface, atCorner(b, loc, *place, corner), tile, shape);
    xevm::BlockPrefetch2dOp::create(b, loc, at.pointer, at.width, at.height, at.pitch, at.x, at.y,
                                    int32_t(shape.elemBits), int32_t(shape.width),
                                    int32_t(shape.height), int32_t(shape.blocks), control);
  }
  return success();
}
