//===- TileMemory.cpp - tiles that are read and written -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensors in memory, places. Out: load_tile and store_tile where places step by
// one along at most two dimensions, load_gather and store_scatter elsewhere. Refused: element types
// that tiles cannot have.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Tiles/AtDepth.h"
#include "xetile/Schedule/Tiles/TileWriter.h"

using namespace mlir;

namespace xetile::transform_ops {

/// Folds arithmetic of constants; null if it is none.
static TypedAttr foldScalar(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      !value.getType().isIntOrFloat())
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    TypedAttr constant = operand.getType().isIntOrFloat() ? getSplat(operand) : TypedAttr();
    if (!constant)
      return {};
    operands.push_back(constant);
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1)
    return {};
  return dyn_cast_or_null<TypedAttr>(dyn_cast<Attribute>(folded.front()));
}

TypedAttr getSplat(Value value) {
  TypedAttr constant;
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return splat.getDynamicSizes().empty() ? getSplat(splat.getInput()) : TypedAttr();
  if (!matchPattern(value, m_Constant(&constant)))
    return foldScalar(value);
  if (auto elements = dyn_cast<DenseElementsAttr>(constant))
    return elements.isSplat() ? elements.getSplatValue<TypedAttr>() : TypedAttr();
  return isa<FloatAttr, IntegerAttr>(constant) ? constant : TypedAttr();
}

bool isTileElement(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  return type.isSignlessInteger() &&
         llvm::is_contained({8u, 16u, 32u, 64u}, type.getIntOrFloatBitWidth());
}

bool isOwnMemory(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return !isa<scf::ForOp>(tensor.getParentBlock()->getParentOp());
  return isa<bufferization::ToTensorOp>(op) || (isa<arith::ConstantOp>(op) && !getSplat(tensor));
}

bool isInMemory(Value tensor) {
  if (isOwnMemory(tensor))
    return true;
  // The same memory in another shape.
  Operation *op = tensor.getDefiningOp();
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
         isInMemory(op->getOperand(0));
}

Value TileWriter::memoryOf(Value tensor) {
  if (auto found = memories.find(tensor.getAsOpaquePointer()); found != memories.end())
    return found->second;
  Value memory;
  if (!isOwnMemory(tensor)) {
    Operation *op = tensor.getDefiningOp();
    Value source = memoryOf(op->getOperand(0));
    AtDepth outermost(*this, 0);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      memory = memref::CollapseShapeOp::create(b, loc, source, collapse.getReassociationIndices());
    else
      memory = memref::ExpandShapeOp::create(
          b, loc, cast<RankedTensorType>(tensor.getType()).getShape(), source,
          cast<tensor::ExpandShapeOp>(op).getReassociationIndices(),
          llvm::map_to_vector(extents.of(tensor),
                              [&](const Extent &each) { return each.fold(b); }));
  } else {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(workgroups);
    auto type = cast<RankedTensorType>(tensor.getType());
    memory = bufferization::ToBufferOp::create(
        b, loc, MemRefType::get(type.getShape(), type.getElementType()), tensor,
        /*read_only=*/true);
  }
  memories[tensor.getAsOpaquePointer()] = memory;
  return memory;
}

TileWriter::Memory TileWriter::describe(Value tensor, Value buffer) {
  Memory memory{buffer, extents.of(tensor), {}};
  Extent stride = 1;
  for (const Extent &extent : llvm::reverse(memory.extents)) {
    memory.strides.push_back(stride);
    stride = product(stride, extent);
  }
  std::reverse(memory.strides.begin(), memory.strides.end());
  return memory;
}

/// Dimension `folded` as one of rows of as many elements as a tile has columns.
std::optional<TileWriter::View> TileWriter::unfold(const Memory &memory, ArrayRef<Place> places,
                                                   unsigned folded) {
  if (!memory.extents[folded].isKnown())
    return std::nullopt;
  int64_t width = size(kColumns), extent = memory.extents[folded].number;
  const Place &place = places[folded];
  bool others = llvm::any_of(llvm::enumerate(places), [&](const auto &each) {
    return each.index() != folded && !each.value().isNumber();
  });
  if (others || place.steps[kColumns] != 1 || place.steps[kRows] != width || extent % width != 0 ||
      place.shift % width != 0)
    return std::nullopt;
  Memory expanded;
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  SmallVector<Place> unfolded;
  auto add = [&](Extent extent, Extent stride) {
    shape.push_back(extent.number);
    expanded.extents.push_back(extent);
    expanded.strides.push_back(stride);
  };
  for (unsigned dim = 0; dim < memory.extents.size(); ++dim) {
    groups.push_back({static_cast<int64_t>(shape.size())});
    if (dim != folded) {
      add(memory.extents[dim], memory.strides[dim]);
      unfolded.push_back(places[dim]);
      continue;
    }
    groups.back().push_back(shape.size() + 1);
    add(extent / width, product(memory.strides[dim], width));
    add(width, memory.strides[dim]);
    // The plan lets folded tiles start at whole rows only.
    Place rows = Place::along(kRows, place.base ? divideIndex(place.base, width, false) : Value());
    rows.shift = place.shift / width;
    llvm::append_values(unfolded, rows, Place::along(kColumns));
  }
  expanded.buffer = memref::ExpandShapeOp::create(
      b, loc, shape, memory.buffer, groups,
      llvm::map_to_vector(expanded.extents, [&](const Extent &each) { return each.fold(b); }));
  return viewOf(expanded, unfolded);
}

std::optional<TileWriter::View> TileWriter::view(const Memory &memory, ArrayRef<Place> places) {
  for (auto [dim, place] : llvm::enumerate(places))
    if (place.isFolded())
      return unfold(memory, places, dim);
  return viewOf(memory, SmallVector<Place>(places));
}

/// Dimensions of rows and columns for a tile of these places, -1 for none; false for a gather. Only
/// neighbours in memory are one step apart: other dimensions may be passed in steps.
static bool findSides(ArrayRef<Place> places, ArrayRef<Extent> strides,
                      std::array<int64_t, 2> &side) {
  side = {-1, -1};
  for (auto [dim, place] : llvm::enumerate(places)) {
    if (place.isNumber())
      continue;
    Role role = place.steps[kRows] != 0 ? kRows : kColumns;
    int64_t step = place.steps[role];
    if (step < 1 || (step > 1 && strides[dim].is(1)) || side[role] >= 0)
      return false;
    side[role] = static_cast<int64_t>(dim);
  }
  if (side[kRows] < 0 && side[kColumns] < 0)
    return false;
  return llvm::any_of(side, [&](int64_t dim) { return dim >= 0 && strides[dim].is(1); });
}

/// A row or a column of a matrix of `rank` dimensions: one of its other dimension's.
static void completeSides(std::array<int64_t, 2> &side, int64_t rank) {
  for (unsigned role : {kRows, kColumns})
    if (side[role] < 0)
      side[role] = side[1 - role] == rank - 1 ? rank - 2 : rank - 1;
}

/// The type of a view of the dimensions `side` alone. By its shape upstream would infer others
/// where a side has one element, as those that go have.
static MemRefType seenOf(MemRefType type, std::array<int64_t, 2> side,
                         ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sides,
                         ArrayRef<OpFoldResult> steps) {
  MemRefType whole = memref::SubViewOp::inferResultType(type, offsets, sides, steps);
  auto [strides, offset] = whole.getStridesAndOffset();
  llvm::sort(side);
  SmallVector<int64_t> shape, kept;
  for (int64_t dim : side) {
    shape.push_back(whole.getDimSize(dim));
    kept.push_back(strides[dim]);
  }
  return MemRefType::get(shape, type.getElementType(),
                         StridedLayoutAttr::get(type.getContext(), offset, kept),
                         type.getMemorySpace());
}

/// A tensor of one dimension as a matrix of one row or column.
TileWriter::View TileWriter::viewLine(const Memory &memory, const Place &place, bool isRow,
                                      View result) {
  Extent extent = memory.extents[0];
  SmallVector<int64_t> shape{isRow ? 1 : extent.number, isRow ? extent.number : 1};
  SmallVector<OpFoldResult> sides{b.getIndexAttr(1), extent.fold(b)};
  if (!isRow)
    std::swap(sides[0], sides[1]);
  result.memory = memref::ExpandShapeOp::create(b, loc, shape, memory.buffer,
                                                ArrayRef<ReassociationIndices>({{0, 1}}), sides);
  result.offsets[isRow ? kColumns : kRows] = start(place);
  result.offsets[isRow ? kRows : kColumns] = b.getIndexAttr(0);
  result.sides[isRow ? kColumns : kRows] = extent;
  result.strides[isRow ? kRows : kColumns] = extent;
  return result;
}

std::optional<TileWriter::View> TileWriter::viewOf(const Memory &memory,
                                                   SmallVector<Place> places) {
  auto type = cast<MemRefType>(memory.buffer.getType());
  std::array<int64_t, 2> side;
  if (!findSides(places, memory.strides, side))
    return std::nullopt;
  View result;
  for (unsigned role : {kRows, kColumns})
    result.shape[role] = side[role] < 0 ? 1 : size(static_cast<Role>(role));
  if (type.getRank() == 1)
    return viewLine(memory, places[0], /*isRow=*/side[kRows] < 0, result);
  completeSides(side, type.getRank());
  SmallVector<OpFoldResult> offsets, sides, steps;
  // Of what is seen in steps, these are others than the memory's.
  SmallVector<Extent> extents(memory.extents), strides(memory.strides);
  bool isWhole = type.getRank() == 2;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool keep = llvm::is_contained(side, dim);
    int64_t step = std::max<int64_t>(1, places[dim].steps[kRows] + places[dim].steps[kColumns]);
    steps.push_back(b.getIndexAttr(keep ? step : 1));
    int64_t first = 0;
    Extent extent = memory.extents[dim];
    if (keep && step > 1) {
      if (!extent.isKnown())
        return std::nullopt;
      first = llvm::mod(places[dim].shift, step);
      extent = static_cast<int64_t>(llvm::divideCeil(extent.number - first, step));
      places[dim].shift = llvm::divideFloorSigned(places[dim].shift, step);
      if (extent.number < 1 || !divideExactly(places[dim].base, step, places[dim].base))
        return std::nullopt;
      isWhole = false;
      extents[dim] = extent;
      strides[dim] = product(strides[dim], step);
    }
    offsets.push_back(keep ? b.getIndexAttr(first) : start(places[dim]));
    sides.push_back(keep ? extent.fold(b) : b.getIndexAttr(1));
    if (!keep)
      result.mayBeEmpty |= !extent.isKnown() && !isInside(places[dim], extent);
  }
  result.memory = memory.buffer;
  if (!isWhole) {
    MemRefType reduced = seenOf(type, side, offsets, sides, steps);
    result.memory =
        memref::SubViewOp::create(b, loc, reduced, memory.buffer, offsets, sides, steps);
  }
  if (side[kRows] > side[kColumns]) {
    AffineMap swap = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext());
    result.memory = memref::TransposeOp::create(b, loc, result.memory, AffineMapAttr::get(swap));
  }
  result.columnMajor = !memory.strides[side[kColumns]].is(1);
  for (unsigned role : {kRows, kColumns}) {
    result.offsets[role] = start(places[side[role]]);
    result.sides[role] = extents[side[role]];
    result.strides[role] = strides[side[role]];
  }
  return result;
}

TileType TileWriter::tileType(const View &view, Type element, bool mapped) const {
  WgMapAttr map = mapped ? mapOf(view.shape) : WgMapAttr();
  TileAttr attr;
  SmallVector<int64_t> order;
  if (view.columnMajor)
    order = {0, 1};
  if (map || view.columnMajor)
    attr = TileAttr::get(b.getContext(), map, order, {}, MemorySpace::Global, /*scatter=*/false);
  return TileType::get(view.shape, element, attr);
}

/// A tile of a matrix; of one whose sizes a run knows, these are told.
Value TileWriter::tileOf(const View &view, Type element, bool mapped) {
  TileType type = tileType(view, element, mapped);
  SmallVector<OpFoldResult> sides, strides;
  if (!cast<MemRefType>(view.memory.getType()).hasStaticShape())
    for (unsigned role : {kRows, kColumns}) {
      sides.push_back(view.sides[role].fold(b));
      strides.push_back(view.strides[role].fold(b));
    }
  return InitTileOp::create(b, loc, type, view.memory, view.offsets, sides, strides);
}

/// The `padding` attribute of a load: none for zeros.
static TypedAttr paddingOf(TypedAttr padding) {
  if (!padding || matchPattern(padding, m_Zero()))
    return {};
  if (auto number = dyn_cast<FloatAttr>(padding); number && number.getValue().isZero())
    return {};
  return padding;
}

FailureOr<Value> TileWriter::load(Value tensor, ArrayRef<Place> places, TypedAttr padding) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (!isTileElement(element)) {
    std::string text;
    llvm::raw_string_ostream(text) << kTileElements << ", got " << element;
    Operation *op = tensor.getDefiningOp();
    return refuse(op ? op : tensor.getParentBlock()->getParentOp(), text);
  }
  Memory memory = describe(tensor, memoryOf(tensor));
  std::optional<View> found = view(memory, places);
  if (!found || found->mayBeEmpty) {
    Value mask;
    Value tile = scatteredAt(memory, places, mask);
    return loadFrom(tile, mask, padding);
  }
  bool whole = shares && found->shape[0] == size(kRows) && found->shape[1] == size(kColumns);
  Value tile = tileOf(*found, element, whole);
  return Value(
      LoadTileOp::create(b, loc, VectorType::get(found->shape, element), tile, paddingOf(padding)));
}

/// A tile of the elements at `indices`, one vector a dimension, and the mask of those that exist.
Value TileWriter::scattered(const Memory &memory, ArrayRef<Value> indices, Value &mask) {
  Value places = indexSplat(0, {1, 1});
  mask = splat(b.getBoolAttr(true));
  for (auto [dim, vector] : llvm::enumerate(indices)) {
    std::array<Value, 2> masks = {mask, isBelow(vector, memory.extents[dim])};
    meet(masks);
    mask = arith::AndIOp::create(b, loc, masks[0], masks[1]);
    Value part = vector;
    if (const Extent &stride = memory.strides[dim]; !stride.is(1))
      part = arith::MulIOp::create(
          b, loc, vector, extentSplat(stride, cast<VectorType>(vector.getType()).getShape()));
    places = addVectors(places, part);
  }
  std::array<Value, 2> both = {places, mask};
  SmallVector<int64_t> shape = meet(both);
  mask = both[1];
  return tileAt(memory.buffer, Value(), both[0]);
}

/// Elements of `memory` at `indices`, counted from `start`, which may be null.
Value TileWriter::tileAt(Value memory, Value start, Value indices) {
  auto type = cast<MemRefType>(memory.getType());
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
  if (start)
    address = arith::AddIOp::create(
        b, loc, address, scaleIndex(start, type.getElementType().getIntOrFloatBitWidth() / 8));
  address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  auto attr =
      TileAttr::get(b.getContext(), WgMapAttr(), {}, {}, MemorySpace::Global, /*scatter=*/true);
  ArrayRef<int64_t> shape = cast<VectorType>(indices.getType()).getShape();
  return InitTileOp::create(b, loc, TileType::get(shape, type.getElementType(), attr), address,
                            indices);
}

Value TileWriter::scatteredAt(const Memory &memory, ArrayRef<Place> places, Value &mask) {
  // Along dimensions that lie apart by what a run knows, elements of a tile have no steps.
  for (auto [place, stride] : llvm::zip_equal(places, memory.strides))
    if (!stride.isKnown() && !place.isNumber())
      return scattered(memory,
                       llvm::map_to_vector(places,
                                           [&](const Place &each) {
                                             Value vector = indices(each);
                                             return vector ? vector : indexSplat(0, {1, 1});
                                           }),
                       mask);
  Place all;
  mask = splat(b.getBoolAttr(true));
  for (auto [place, stride, extent] : llvm::zip_equal(places, memory.strides, memory.extents)) {
    all = add(all, *scale(place, stride));
    if (!isInside(place, extent)) {
      Value vector = indices(place);
      mask = both(mask, isBelow(vector ? vector : indexSplat(0, {1, 1}), extent));
    }
  }
  Value from =
      all.base || all.shift ? getValueOrCreateConstantIndexOp(b, loc, start(all)) : Value();
  all.base = {};
  all.shift = 0;
  Value vector = indices(all);
  std::array<Value, 2> together = {vector ? vector : indexSplat(0, {1, 1}), mask};
  meet(together);
  mask = together[1];
  return tileAt(memory.buffer, from, together[0]);
}

Value TileWriter::loadFrom(Value tile, Value mask, TypedAttr padding) {
  auto type = cast<TileType>(tile.getType());
  return LoadGatherOp::create(b, loc, VectorType::get(type.getShape(), type.getElementType()), tile,
                              mask, paddingOf(padding));
}

Value TileWriter::gather(Value tensor, ArrayRef<Value> indices, TypedAttr padding) {
  Value mask;
  Value tile = scattered(describe(tensor, memoryOf(tensor)), indices, mask);
  return loadFrom(tile, mask, padding);
}

/// True if all rows of pairs of elements of 16 bits begin with a word.
static bool haveWords(MemRefType type) {
  return type.getElementTypeBitWidth() == 16 && type.hasStaticShape() &&
         type.getLayout().isIdentity() && type.getRank() > 0 && type.getShape().back() % 2 == 0;
}

void TileWriter::store(Value vector, Value tensor, Value buffer, ArrayRef<Place> places) {
  Memory memory = describe(tensor, buffer);
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  bool hasWords = element.getIntOrFloatBitWidth() == 32 ||
                  (plan.scattersPairs && haveWords(cast<MemRefType>(buffer.getType())));
  bool scatters = plan.scatters && hasWords &&
                  llvm::all_of(llvm::zip_equal(places, memory.extents), [&](const auto &each) {
                    return isInside(std::get<0>(each), std::get<1>(each));
                  });
  std::optional<View> found = scatters ? std::nullopt : view(memory, places);
  if (found) {
    Value tile = tileOf(*found, element, /*mapped=*/true);
    StoreTileOp::create(b, loc, repeat(vector, found->shape), tile);
    return;
  }
  Value mask;
  Value tile = scatteredAt(memory, places, mask);
  StoreScatterOp::create(b, loc, repeat(vector, cast<TileType>(tile.getType()).getShape()), mask,
                         tile);
}

} // namespace xetile::transform_ops
