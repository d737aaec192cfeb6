//===- WorkgroupLayout.cpp - what layouts of XeGPU say about subgroups ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: layouts with sg_layout, operations on a workgroup's vectors. Out: who owns which pieces, and
// how that follows from operands to results and back. Refused: layouts that do not cover a value.
#include "xetile/Target/Xe/Workgroup/WorkgroupLayout.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "xetile/IR/XeTileTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// More than any device has in a workgroup.
static constexpr int64_t kMaxSubgroups = 4096;

bool xetile::isWorkgroupLayout(xegpu::DistributeLayoutAttr layout) {
  return layout && layout.isForWorkgroup();
}

xegpu::DistributeLayoutAttr xetile::layoutOfDescriptor(Type type) {
  auto tile = dyn_cast<xegpu::TensorDescType>(type);
  return tile ? dyn_cast_if_present<xegpu::DistributeLayoutAttr>(tile.getLayout())
              : xegpu::DistributeLayoutAttr();
}

xegpu::DistributeLayoutAttr xetile::dropSubgroups(xegpu::DistributeLayoutAttr layout) {
  return isWorkgroupLayout(layout) ? layout.dropSgLayoutAndData() : layout;
}

Result<Ownership> xetile::ownershipOfLayout(xegpu::DistributeLayoutAttr layout,
                                            ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dropped;
  auto whole = dyn_cast<xegpu::LayoutAttr>(layout);
  if (auto slice = dyn_cast<xegpu::SliceAttr>(layout)) {
    xegpu::SliceAttr flat = slice.flatten();
    whole = dyn_cast<xegpu::LayoutAttr>(flat.getParent());
    llvm::append_range(dropped, flat.getDims().asArrayRef());
  }
  if (!whole || !whole.isForWorkgroup())
    return Error("has a layout without sg_layout");
  SmallVector<int64_t> grid = whole.getEffectiveSgLayoutAsInt(),
                       data = whole.getEffectiveSgDataAsInt(), order, kept;
  int64_t rank = grid.size();
  if (DenseI32ArrayAttr given = whole.getOrder())
    llvm::append_range(order, given.asArrayRef());
  else
    order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  if (int64_t(order.size()) != rank || !isPermutationVector(order))
    return Error("has a layout whose order does not list each of its " + llvm::Twine(rank) +
                 " dimensions once");
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dropped, dim))
      kept.push_back(dim);
  if (kept.size() != shape.size())
    return Error("has a layout for " + llvm::Twine(kept.size()) + " dimensions, expected the " +
                 llvm::Twine(shape.size()) + " of its value");
  SmallVector<int64_t> strides(rank);
  Ownership result{{}, 1};
  for (int64_t dim : order) {
    strides[dim] = result.numSubgroups;
    if (grid[dim] < 1 || llvm::MulOverflow(result.numSubgroups, grid[dim], result.numSubgroups) ||
        result.numSubgroups > kMaxSubgroups)
      return Error("has an sg_layout that is not of 1 to " + llvm::Twine(kMaxSubgroups) +
                   " subgroups");
  }
  for (auto [number, dim] : llvm::enumerate(kept)) {
    int64_t size = shape[number];
    if (data.empty() && size % grid[dim])
      return Error("has " + llvm::Twine(size) + " elements in dimension " + llvm::Twine(number) +
                   ", which its sg_layout of " + llvm::Twine(grid[dim]) +
                   " does not divide; give sg_data");
    int64_t piece = data.empty() ? size / grid[dim] : data[dim];
    if (piece < 1 || size % piece)
      return Error("has sg_data of " + llvm::Twine(piece) + ", which does not divide the " +
                   llvm::Twine(size) + " elements of dimension " + llvm::Twine(number));
    int64_t pieces = size / piece;
    if (pieces % grid[dim] && grid[dim] % pieces)
      return Error("shares " + llvm::Twine(pieces) + " pieces of " + llvm::Twine(piece) +
                   " elements out over " + llvm::Twine(grid[dim]) + " subgroups in dimension " +
                   llvm::Twine(number) + ", expected a multiple or a fraction of them");
    result.dims.push_back(OwnedDim::get(size, piece, grid[dim], strides[dim]));
  }
  return result;
}

std::optional<ArrayRef<int64_t>> xetile::getSharedShape(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.isScalable() ? std::nullopt : std::optional(vector.getShape());
  if (auto tile = dyn_cast<xegpu::TensorDescType>(type); tile && tile.isScattered())
    return tile.getShape();
  return std::nullopt;
}

Type xetile::getPieceType(const Ownership &ownership, Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(ownership.pieceShape(), vector.getElementType());
  auto tile = cast<xegpu::TensorDescType>(type);
  auto layout = dyn_cast_if_present<xegpu::DistributeLayoutAttr>(tile.getLayout());
  return xegpu::TensorDescType::get(type.getContext(), ownership.pieceShape(),
                                    tile.getElementType(), tile.getEncoding(),
                                    layout ? dropSubgroups(layout) : layout);
}

//===----------------------------------------------------------------------===//
// Other shapes
//===----------------------------------------------------------------------===//

/// One dimension of two; `outer` counts runs of `inner`.
static std::optional<OwnedDim> join(const OwnedDim &outer, const OwnedDim &inner) {
  int64_t size = outer.size * inner.size;
  if (inner.isWhole())
    return OwnedDim{size, outer.pieceSize * inner.size, outer.owners, outer.idStride};
  if (outer.pieceSize != 1)
    return std::nullopt;
  if (outer.owners == 1)
    return OwnedDim{size, inner.pieceSize, inner.owners, inner.idStride};
  if (inner.owners == 1 || inner.rounds() != 1 || outer.idStride != inner.idStride * inner.owners)
    return std::nullopt;
  return OwnedDim{size, inner.pieceSize, outer.owners * inner.owners, inner.idStride};
}

/// Two dimensions of one.
static std::optional<std::pair<OwnedDim, OwnedDim>> split(const OwnedDim &dim, int64_t outer,
                                                          int64_t inner) {
  if (dim.pieceSize % inner == 0)
    return std::pair(OwnedDim{outer, dim.pieceSize / inner, dim.owners, dim.idStride},
                     OwnedDim::whole(inner));
  if (inner % dim.pieceSize)
    return std::nullopt;
  int64_t pieces = inner / dim.pieceSize;
  if (pieces % dim.owners == 0)
    return std::pair(OwnedDim{outer, 1, 1, 1},
                     OwnedDim{inner, dim.pieceSize, dim.owners, dim.idStride});
  if (dim.owners % pieces)
    return std::nullopt;
  return std::pair(OwnedDim{outer, 1, dim.owners / pieces, dim.idStride * pieces},
                   OwnedDim{inner, dim.pieceSize, pieces, pieces == 1 ? 1 : dim.idStride});
}

std::optional<Ownership> xetile::castOwnership(const Ownership &from, ArrayRef<int64_t> to) {
  Ownership result{{}, from.numSubgroups};
  unsigned at = 0;
  auto skipUnits = [&] {
    while (at < from.rank() && from.dims[at].size == 1)
      ++at;
  };
  std::optional<OwnedDim> rest; // of the source's dimension that is being split
  for (auto [number, size] : llvm::enumerate(to)) {
    if (size == 1) {
      result.dims.push_back(OwnedDim::whole(1));
      continue;
    }
    if (!rest) {
      skipUnits();
      if (at == from.rank())
        return std::nullopt;
      rest = from.dims[at++];
    }
    while (rest->size < size) {
      skipUnits();
      if (at == from.rank())
        return std::nullopt;
      rest = join(*rest, from.dims[at++]);
      if (!rest)
        return std::nullopt;
    }
    if (rest->size == size) {
      result.dims.push_back(*rest);
      rest.reset();
      continue;
    }
    if (rest->size % size)
      return std::nullopt;
    auto parts = split(*rest, size, rest->size / size);
    if (!parts)
      return std::nullopt;
    result.dims.push_back(parts->first);
    rest = parts->second;
  }
  skipUnits();
  return rest || at != from.rank() ? std::nullopt : std::optional(result);
}

//===----------------------------------------------------------------------===//
// The rules of the operations
//===----------------------------------------------------------------------===//

/// The last dimension with elements `factor` times as many, or as few if negative.
static std::optional<Ownership> rescaled(Ownership ownership, int64_t from, int64_t to) {
  if (ownership.rank() == 0)
    return std::nullopt;
  OwnedDim &last = ownership.dims.back();
  if (last.pieceSize * to % from || last.size * to % from)
    return std::nullopt;
  last.pieceSize = last.pieceSize * to / from;
  last.size = last.size * to / from;
  return ownership;
}

static ArrayRef<int64_t> shapeOf(Value value) { return *getSharedShape(value.getType()); }

/// Of slices and insertions: the dimensions of the result that are a part of one, or hold one.
static SmallVector<bool> getCutDims(Operation *op) {
  ArrayRef<int64_t> result = shapeOf(op->getResult(0));
  SmallVector<bool> cut(result.size(), false);
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    for (auto [isCut, size, from] : llvm::zip_equal(cut, result, shapeOf(slice.getSource())))
      isCut = size != from;
  } else if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    ArrayRef<int64_t> value = shapeOf(insert.getValueToStore());
    unsigned added = result.size() - value.size();
    for (unsigned dim = 0; dim < result.size(); ++dim)
      cut[dim] = dim < added || value[dim - added] != result[dim];
  } else if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    std::fill_n(cut.begin(), insert.getNumIndices(), true);
  }
  return cut;
}

Ownership xetile::ownershipMade(Operation *op, const Ownership &result) {
  if (!isa<vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp, vector::InsertOp>(op))
    return result;
  Ownership made = result;
  for (auto [dim, isCut] : llvm::zip_equal(made.dims, getCutDims(op)))
    if (isCut)
      dim = OwnedDim::whole(dim.size);
  return made;
}

/// `count` dimensions of `shape` whole in front of those of `rest`.
static Ownership prepended(ArrayRef<int64_t> shape, unsigned count, const Ownership &rest) {
  Ownership result{{}, rest.numSubgroups};
  for (int64_t size : shape.take_front(count))
    result.dims.push_back(OwnedDim::whole(size));
  llvm::append_range(result.dims, rest.dims);
  return result;
}

static Ownership dropped(const Ownership &ownership, unsigned count) {
  Ownership result = ownership;
  result.dims.erase(result.dims.begin(), result.dims.begin() + count);
  return result;
}

/// Dimensions that are cut whole, in the size that `shape` has; it may lack the first ones.
static Ownership withSizes(Operation *op, const Ownership &result, ArrayRef<int64_t> shape) {
  SmallVector<bool> cut = getCutDims(op);
  unsigned added = result.rank() - shape.size();
  Ownership sized = dropped(result, added);
  for (auto [dim, size, isCut] :
       llvm::zip_equal(sized.dims, shape, ArrayRef(cut).drop_front(added)))
    if (isCut)
      dim = OwnedDim::whole(size);
  return sized;
}

/// Of the operands of dpas a and b have the pieces of m and n that the result has, and k whole.
static std::optional<Ownership> ownershipOfDpasOperand(xegpu::DpasOp op, unsigned number,
                                                       const Ownership &result) {
  if (result.rank() != 2 || number > 1)
    return result;
  Ownership operand{{}, result.numSubgroups};
  for (int64_t size : shapeOf(op->getOperand(number)))
    operand.dims.push_back(OwnedDim::whole(size));
  if (operand.rank() < 2)
    return std::nullopt;
  operand.dims[number] = result.dims[number];
  return operand;
}

std::optional<Ownership> xetile::ownershipOfOperand(OpOperand &operand, const Ownership &result) {
  using Maybe = std::optional<Ownership>;
  Operation *op = operand.getOwner();
  if (isElementwiseOnVectors(op))
    return result;
  ArrayRef<int64_t> shape = shapeOf(operand.get());
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case([&](xegpu::DpasOp dpas) {
        return ownershipOfDpasOperand(dpas, operand.getOperandNumber(), result);
      })
      .Case([&](vector::TransposeOp transpose) {
        return Maybe(result.permuted(invertPermutationVector(transpose.getPermutation())));
      })
      .Case([&](vector::BroadcastOp) {
        Ownership source{{}, result.numSubgroups};
        for (auto [size, dim] :
             llvm::zip_equal(shape, ArrayRef(result.dims).take_back(shape.size())))
          source.dims.push_back(size == dim.size ? dim : OwnedDim::whole(size));
        return Maybe(source);
      })
      .Case([&](vector::ShapeCastOp) { return castOwnership(result, shape); })
      .Case([&](vector::BitCastOp cast) {
        return rescaled(result, memoryBits(cast.getSourceVectorType().getElementType()),
                        memoryBits(cast.getResultVectorType().getElementType()));
      })
      .Case([&](vector::MultiDimReductionOp) {
        return operand.getOperandNumber() == 1 ? Maybe(result) : Maybe();
      })
      .Case([&](vector::ExtractOp extract) {
        return Maybe(prepended(shape, extract.getNumIndices(), result));
      })
      .Case([&](vector::InsertOp insert) {
        return Maybe(operand.getOperandNumber() == 0 ? dropped(result, insert.getNumIndices())
                                                     : ownershipMade(op, result));
      })
      .Case<vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp>(
          [&](auto) { return Maybe(withSizes(op, result, shape)); })
      .Case([&](vector::TransferReadOp) { return Maybe(result); }) // its mask
      .Default([](Operation *) { return Maybe(); });
}

std::optional<Ownership> xetile::ownershipOfResult(OpOperand &operand, const Ownership &ownership) {
  using Maybe = std::optional<Ownership>;
  Operation *op = operand.getOwner();
  if (isElementwiseOnVectors(op))
    return ownership;
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case([&](xegpu::DpasOp) {
        return operand.getOperandNumber() == 2 ? Maybe(ownership) : Maybe();
      })
      .Case([&](vector::TransposeOp transpose) {
        return Maybe(ownership.permuted(transpose.getPermutation()));
      })
      .Case([&](vector::ShapeCastOp cast) {
        return castOwnership(ownership, cast.getResultVectorType().getShape());
      })
      .Case([&](vector::BitCastOp cast) {
        return rescaled(ownership, memoryBits(cast.getResultVectorType().getElementType()),
                        memoryBits(cast.getSourceVectorType().getElementType()));
      })
      .Case([&](vector::MultiDimReductionOp reduction) {
        if (operand.getOperandNumber() == 1)
          return Maybe(ownership);
        Ownership result{{}, ownership.numSubgroups};
        for (auto [dim, along] : llvm::enumerate(ownership.dims))
          if (!reduction.isReducedDim(dim))
            result.dims.push_back(along);
        return Maybe(result);
      })
      .Case([&](vector::ExtractOp extract) {
        return Maybe(dropped(ownership, extract.getNumIndices()));
      })
      .Case<vector::InsertOp, vector::InsertStridedSliceOp>([&](auto) {
        return operand.get().getType() == op->getResult(0).getType() ? Maybe(ownership) : Maybe();
      })
      .Case([&](vector::ExtractStridedSliceOp slice) {
        return Maybe(withSizes(op, ownership, slice.getType().getShape()));
      })
      .Default([](Operation *) { return Maybe(); });
}

Ownership xetile::tileOfLoad(xegpu::LoadNdOp op, const Ownership &vector) {
  if (op.getPacked().value_or(false) && vector.rank() == 3) {
    OwnedDim rows = vector.dims[0];
    int64_t factor = vector.dims[2].size;
    rows.size *= factor;
    rows.pieceSize *= factor;
    return {{rows, vector.dims[1]}, vector.numSubgroups};
  }
  if (auto permutation = op.getTranspose())
    return vector.permuted(invertPermutationVector(*permutation));
  return vector;
}

std::optional<Ownership> xetile::vectorOfLoad(xegpu::LoadNdOp op, const Ownership &tile) {
  if (op.getPacked().value_or(false) && op.getType().getRank() == 3) {
    OwnedDim rows = tile.dims[0];
    int64_t factor = op.getType().getDimSize(2);
    if (rows.pieceSize % factor)
      return std::nullopt;
    rows.size /= factor;
    rows.pieceSize /= factor;
    return Ownership{{rows, tile.dims[1], OwnedDim::whole(factor)}, tile.numSubgroups};
  }
  if (auto permutation = op.getTranspose())
    return tile.permuted(*permutation);
  return tile;
}
