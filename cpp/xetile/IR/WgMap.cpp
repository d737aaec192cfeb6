//===- WgMap.cpp - arithmetic of workgroup maps -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/IR/WgMap.h"
#include "mlir/IR/Diagnostics.h"
#include "xetile/IR/XeTileOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xetile {

static constexpr int64_t kCacheLineBytes = 64; // PVC and Xe2

/// The first dimension in which `map` does not distribute a tile of `shape`, and what is wrong
/// there.
static std::optional<std::string> whyMapMisfits(WgMapAttr map, ArrayRef<int64_t> shape) {
  for (unsigned dim = 0; dim < 2; ++dim) {
    int64_t layout = map.getSgLayout()[dim], data = map.getSgData()[dim], size = shape[dim];
    if (size % data != 0)
      return ("expected sg_data to divide the tile in each dimension, got sg_data = " +
              Twine(data) + " for " + Twine(size) + " elements in dimension " + Twine(dim))
          .str();
    int64_t product = layout * data; // wg_map_c3 and tile_c6 bound it
    if (size % product != 0 && product % size != 0)
      return ("expected sg_layout * sg_data to divide the tile or to be a multiple of it, got " +
              Twine(layout) + " * " + Twine(data) + " = " + Twine(product) + " for " + Twine(size) +
              " elements in dimension " + Twine(dim))
          .str();
  }
  return std::nullopt;
}

LogicalResult verifyWgMap(WgMapAttr map, ArrayRef<int64_t> shape,
                          function_ref<InFlightDiagnostic()> emitError) {
  if (std::optional<std::string> why = whyMapMisfits(map, shape))
    return emitError() << *why;
  return success();
}

bool fitsWgMap(WgMapAttr map, ArrayRef<int64_t> shape) { return !whyMapMisfits(map, shape); }

SmallVector<int64_t> getMatrixShape(ShapedType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.size() == 1)
    return {1, shape[0]};
  if (shape.size() == 4)
    return {shape[0] * shape[2], shape[1] * shape[3]};
  return SmallVector<int64_t>(shape);
}

DimDistribution getDimDistribution(WgMapAttr map, unsigned dim, int64_t size) {
  int64_t data = map.getSgData()[dim], layout = map.getSgLayout()[dim];
  int64_t pieces = size / data;
  return {data, pieces, layout, std::max<int64_t>(1, pieces / layout)};
}

void forEachPiece(WgMapAttr map, ArrayRef<int64_t> shape,
                  function_ref<void(int64_t, int64_t, ArrayRef<int64_t>)> visit) {
  DimDistribution rows = getDimDistribution(map, 0, shape[0]),
                  columns = getDimDistribution(map, 1, shape[1]);
  SmallVector<int64_t> owners;
  for (int64_t i = 0; i < rows.numPieces; ++i)
    for (int64_t j = 0; j < columns.numPieces; ++j) {
      owners.clear();
      for (int64_t r = i % rows.numOwners(); r < rows.numSubgroups; r += rows.numOwners())
        for (int64_t c = j % columns.numOwners(); c < columns.numSubgroups;
             c += columns.numOwners())
          owners.push_back(r * columns.numSubgroups + c);
      visit(i * rows.pieceSize, j * columns.pieceSize, owners);
    }
}

PieceCounts countPieces(WgMapAttr map, ArrayRef<int64_t> shape) {
  PieceCounts counts = {1, 1};
  for (unsigned dim = 0; dim < 2; ++dim) {
    DimDistribution along = getDimDistribution(map, dim, shape[dim]);
    counts.pieces = llvm::SaturatingMultiply<uint64_t>(counts.pieces, along.numPieces);
    counts.owners = llvm::SaturatingMultiply<uint64_t>(counts.owners, along.numPieces);
    counts.owners = llvm::SaturatingMultiply<uint64_t>(counts.owners, along.ownersPerPiece());
  }
  return counts;
}

/// Subgroups that are compared one by one; no device has more in a workgroup.
static constexpr int64_t kMaxCompared = 4096;

/// The first of a subgroup's pieces along `dim`.
static int64_t getFirstPiece(WgMapAttr map, unsigned dim, const DimDistribution &along,
                             int64_t id) {
  int64_t columns = map.getSgLayout()[1];
  return (dim == 0 ? id / columns : id % columns) % along.numOwners();
}

bool haveSamePieces(WgMapAttr a, WgMapAttr b, ArrayRef<int64_t> shape) {
  if (a == b)
    return true;
  if (!a || !b || a.getNumSubgroups() != b.getNumSubgroups() || a.getSgData() != b.getSgData() ||
      a.getNumSubgroups() > kMaxCompared)
    return false;
  for (unsigned dim = 0; dim < 2; ++dim) {
    DimDistribution alongA = getDimDistribution(a, dim, shape[dim]),
                    alongB = getDimDistribution(b, dim, shape[dim]);
    if (alongA.piecesPerSubgroup != alongB.piecesPerSubgroup ||
        (alongA.piecesPerSubgroup > 1 && alongA.roundStride() != alongB.roundStride()))
      return false;
    for (int64_t id = 0; id < a.getNumSubgroups(); ++id)
      if (getFirstPiece(a, dim, alongA, id) != getFirstPiece(b, dim, alongB, id))
        return false;
  }
  return true;
}

bool hasSharedPieces(WgMapAttr map, ArrayRef<int64_t> shape) {
  return getDimDistribution(map, 0, shape[0]).ownersPerPiece() > 1 ||
         getDimDistribution(map, 1, shape[1]).ownersPerPiece() > 1;
}

//===----------------------------------------------------------------------===//
// The rules of the operations
//===----------------------------------------------------------------------===//

WgMapAttr getResultWgMap(Operation *op) {
  return TypeSwitch<Operation *, WgMapAttr>(op)
      .Case<TileMmaOp, TileTransposeOp, TileReduceOp, TileBroadcastOp, TileConvLayoutOp>(
          [](auto typed) { return typed.getWgMapAttr(); })
      .Default(WgMapAttr());
}

WgMapAttr findWgMap(Operation *scope) {
  WgMapAttr found;
  scope->walk([&](Operation *op) {
    found = getResultWgMap(op);
    for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
      if (auto tile = dyn_cast<TileType>(value.getType()); tile && !found)
        found = tile.getWgMap();
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

bool setResultWgMap(Operation *op, WgMapAttr map) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<TileMmaOp, TileTransposeOp, TileReduceOp, TileBroadcastOp, TileConvLayoutOp>(
          [&](auto typed) {
            typed.setWgMapAttr(map);
            return true;
          })
      .Default(false);
}

WgMapAttr getStatedWgMap(Value value) {
  if (auto tile = dyn_cast<TileType>(value.getType()))
    return tile.getWgMap();
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  return TypeSwitch<Operation *, WgMapAttr>(op)
      .Case<LoadTileOp, LoadGatherOp, AtomicRMWTileOp>(
          [](auto access) { return access.getTile().getType().getWgMap(); })
      .Default([](Operation *other) { return getResultWgMap(other); });
}

/// The same map with other subgroups' shares: `change` edits sg_data.
static WgMapAttr withSgData(WgMapAttr map, function_ref<void(MutableArrayRef<int64_t>)> change) {
  SmallVector<int64_t> data(map.getSgData());
  change(data);
  return WgMapAttr::get(map.getContext(), map.getSgLayout(), data);
}

/// Both lists with their dimensions in the order `permutation`, which is its own inverse.
static WgMapAttr permute(WgMapAttr map, ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> layout = map.getSgLayout(), data = map.getSgData();
  return WgMapAttr::get(map.getContext(), {layout[permutation[0]], layout[permutation[1]]},
                        {data[permutation[0]], data[permutation[1]]});
}

/// The dimension along which a 1D vector, a row or a column extends; nothing for a matrix.
static std::optional<unsigned> getLongDim(VectorType type) {
  SmallVector<int64_t> shape = getMatrixShape(type);
  if (type.getRank() > 2 || (shape[0] != 1 && shape[1] != 1))
    return std::nullopt;
  return shape[0] == 1 ? 1 : 0;
}

/// The map of `to` under which each subgroup has the elements that `map` gives it of `from`, which
/// has the same elements in another shape. Null if there is none.
static WgMapAttr castMap(WgMapAttr map, VectorType from, VectorType to) {
  SmallVector<int64_t> fromShape = getMatrixShape(from), toShape = getMatrixShape(to);
  if (fromShape == toShape)
    return from.getRank() <= 2 && to.getRank() <= 2 ? map : WgMapAttr();
  std::optional<unsigned> fromDim = getLongDim(from), toDim = getLongDim(to);
  if (!fromDim || !toDim || map.getNumSubgroups() > kMaxCompared)
    return {};
  SmallVector<int64_t> layout = {1, 1}, data = {1, 1};
  layout[*toDim] = map.getNumSubgroups();
  data[*toDim] = map.getSgData()[*fromDim];
  WgMapAttr cast = WgMapAttr::get(map.getContext(), layout, data);
  if (!fitsWgMap(cast, toShape))
    return {};
  DimDistribution before = getDimDistribution(map, *fromDim, fromShape[*fromDim]),
                  after = getDimDistribution(cast, *toDim, toShape[*toDim]);
  if (before.piecesPerSubgroup != after.piecesPerSubgroup ||
      (before.piecesPerSubgroup > 1 && before.roundStride() != after.roundStride()))
    return {};
  for (int64_t id = 0; id < map.getNumSubgroups(); ++id)
    if (getFirstPiece(map, *fromDim, before, id) != getFirstPiece(cast, *toDim, after, id))
      return {};
  return cast;
}

static bool is2D(Value value) { return cast<VectorType>(value.getType()).getRank() == 2; }

SmallVector<SliceOfDim, 2> getSlicedDims(vector::ExtractStridedSliceOp slice) {
  ArrayRef<int64_t> whole = slice.getSourceVectorType().getShape();
  SmallVector<SliceOfDim, 2> dims;
  for (auto [dim, size] : llvm::enumerate(slice.getType().getShape())) {
    bool isCut = dim < slice.getOffsets().size();
    dims.push_back(
        {isCut ? cast<IntegerAttr>(slice.getOffsets()[dim]).getInt() : 0, size, whole[dim]});
  }
  return dims;
}

/// True if each subgroup has all of a dimension in one piece, so that it has all of each slice.
static bool hasWholeDim(const DimDistribution &along) { return along.numPieces == 1; }

/// The map of a slice of what `map` distributes: where subgroups share a dimension, a slice of it
/// is whole rounds of their pieces. Null if it cuts these.
static WgMapAttr sliceMap(WgMapAttr map, ArrayRef<SliceOfDim> slices) {
  SmallVector<int64_t> data(map.getSgData());
  for (auto [number, slice] : llvm::enumerate(slices)) {
    auto dim = static_cast<unsigned>(number);
    DimDistribution along = getDimDistribution(map, dim, slice.whole);
    if (slice.size == slice.whole)
      continue;
    if (hasWholeDim(along))
      data[dim] = slice.size;
    else if (slice.offset % along.roundStride() != 0 || slice.size % along.roundStride() != 0)
      return {};
  }
  WgMapAttr sliced = WgMapAttr::get(map.getContext(), map.getSgLayout(), data);
  return fitsWgMap(sliced, {slices[0].size, slices[1].size}) ? sliced : WgMapAttr();
}

/// The map of what a slice with the map `sliced` is cut of. Null if there is none.
static WgMapAttr unsliceMap(WgMapAttr sliced, ArrayRef<SliceOfDim> slices) {
  SmallVector<int64_t> data(sliced.getSgData());
  for (auto [number, slice] : llvm::enumerate(slices)) {
    auto dim = static_cast<unsigned>(number);
    if (slice.size != slice.whole && hasWholeDim(getDimDistribution(sliced, dim, slice.size)))
      data[dim] = slice.whole;
  }
  WgMapAttr map = WgMapAttr::get(sliced.getContext(), sliced.getSgLayout(), data);
  if (!fitsWgMap(map, {slices[0].whole, slices[1].whole}))
    return {};
  return sliceMap(map, slices) == sliced ? map : WgMapAttr();
}

WgMapAttr deriveOperandMap(OpOperand &operand, WgMapAttr result) {
  Operation *op = operand.getOwner();
  if (auto mma = dyn_cast<TileMmaOp>(op)) {
    if (!is2D(mma.getResult()))
      return {};
    int64_t k = mma.getA().getType().getDimSize(1);
    if (operand.getOperandNumber() > 1)
      return result;
    return withSgData(result, [&](MutableArrayRef<int64_t> data) {
      data[operand.getOperandNumber() == 0 ? 1 : 0] = k;
    });
  }
  if (auto transpose = dyn_cast<TileTransposeOp>(op))
    return permute(result, transpose.getPermutation());
  if (auto reduce = dyn_cast<TileReduceOp>(op); reduce && is2D(reduce.getVector()))
    return withSgData(result, [&](MutableArrayRef<int64_t> data) {
      for (int64_t dim : reduce.getReductionDims())
        data[dim] = reduce.getVector().getType().getDimSize(dim);
    });
  if (auto broadcast = dyn_cast<TileBroadcastOp>(op); broadcast && is2D(broadcast.getVector()))
    return withSgData(result, [&](MutableArrayRef<int64_t> data) {
      for (int64_t dim : broadcast.getBroadcastDims())
        data[dim] = 1;
    });
  if (auto convert = dyn_cast<TileConvLayoutOp>(op))
    return convert.getSourceWgMapAttr();
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op); slice && is2D(slice.getSource()))
    return unsliceMap(result, getSlicedDims(slice));
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
    return castMap(result, cast.getResultVectorType(), cast.getSourceVectorType());
  return {};
}

WgMapAttr deriveResultMap(OpOperand &operand, WgMapAttr map) {
  Operation *op = operand.getOwner();
  if (isa<TileMmaOp>(op)) // a and b do not tell n and m
    return operand.getOperandNumber() == 2 ? map : WgMapAttr();
  if (auto transpose = dyn_cast<TileTransposeOp>(op))
    return permute(map, transpose.getPermutation());
  if (auto reduce = dyn_cast<TileReduceOp>(op); reduce && is2D(reduce.getVector()))
    return withSgData(map, [&](MutableArrayRef<int64_t> data) {
      for (int64_t dim : reduce.getReductionDims())
        data[dim] = 1;
    });
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op); slice && is2D(slice.getSource()))
    return sliceMap(map, getSlicedDims(slice));
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
    return castMap(map, cast.getSourceVectorType(), cast.getResultVectorType());
  return {};
}

bool sharesOneMap(Operation *op) {
  return isa<InitTileOp, UpdateTileOffsetOp, LoadTileOp, StoreTileOp, PrefetchTileOp,
             AtomicRMWTileOp, LoadGatherOp, StoreScatterOp, AtomicRMWScatterOp>(op);
}

WgMapAttr getCooperativeMap(MLIRContext *context, ArrayRef<int64_t> shape, unsigned elementBits,
                            int64_t numSubgroups) {
  int64_t lineElements = kCacheLineBytes * 8 / elementBits;
  int64_t columns = std::min(shape[1], lineElements);
  if (shape[1] % columns != 0 || numSubgroups < 1)
    return {};
  int64_t gridColumns = std::min(shape[1] / columns, numSubgroups);
  if (numSubgroups % gridColumns != 0 || (shape[1] / columns) % gridColumns != 0)
    return {};
  int64_t gridRows = numSubgroups / gridColumns;
  if (shape[0] % gridRows != 0 && gridRows % shape[0] != 0)
    return {};
  int64_t rows = std::max<int64_t>(1, shape[0] / gridRows);
  return WgMapAttr::get(context, {gridRows, gridColumns}, {rows, columns});
}

} // namespace xetile
