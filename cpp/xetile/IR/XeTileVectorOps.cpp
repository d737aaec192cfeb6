//===- XeTileVectorOps.cpp - verifiers of the operations on vectors ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/IR/Builders.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;
using namespace xetile;

/// Checks an operation's `wg_map`, which may be absent: only 2D vectors are distributed.
static LogicalResult verifyMapOfResult(Operation *op, WgMapAttr map, VectorType result,
                                       StringRef name = "wg_map") {
  if (!map)
    return success();
  if (result.getRank() != 2)
    return op->emitOpError() << name << ": expected a 2D result, got " << result
                             << "; blocked vectors belong to one subgroup";
  return verifyWgMap(map, result.getShape(), [&] { return op->emitOpError() << name << ": "; });
}

/// Checks that `dims` name dimensions of a vector of `rank`, in increasing order.
static LogicalResult verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims,
                                unsigned rank) {
  bool increasing = llvm::is_sorted(dims, std::less_equal<int64_t>());
  if (dims.empty() || dims.front() < 0 || dims.back() >= rank || !increasing)
    return op->emitOpError("expected ") << name << " to be dimensions of a " << rank
                                        << "D vector in increasing order, got [" << dims << "]";
  return success();
}

/// The type of tile_reduce's result; `dims` must be dimensions of the vector.
static VectorType getReducedType(VectorType vector, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(vector.getShape());
  for (int64_t dim : dims)
    shape[dim] = 1;
  return VectorType::get(shape, vector.getElementType());
}

static LogicalResult verifyResultType(Operation *op, VectorType expected) {
  Type result = op->getResult(0).getType();
  if (result != expected)
    return op->emitOpError("expected a result of type ") << expected << ", got " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// tile_mma
//===----------------------------------------------------------------------===//

bool xetile::isMmaTypeCombination(Type a, Type b, Type result) {
  if (isa<Float16Type>(a) || isa<BFloat16Type>(a))
    return a == b && (result.isF32() || result == a);
  if (isa<Float32Type, FloatTF32Type>(a))
    return a == b && result.isF32();
  return a.isSignlessInteger(8) && b.isSignlessInteger(8) && result.isSignlessInteger(32);
}

LogicalResult TileMmaOp::verify() {
  VectorType a = getA().getType(), b = getB().getType(), result = getResult().getType();
  unsigned rank = result.getRank();
  if (a.getRank() != rank || b.getRank() != rank) // tile_mma_c6
    return emitOpError("expected a, b and the result to be all 2D or all 4D, got ")
           << a << ", " << b << " and " << result;
  if (a.getDimSize(1) != b.getDimSize(0)) // tile_mma_c1
    return emitOpError("expected as many columns of a as rows of b, got ")
           << a.getDimSize(1) << " and " << b.getDimSize(0);
  if (rank == 4 && a.getDimSize(3) != b.getDimSize(2)) // tile_mma_c6
    return emitOpError("expected blocks of a with as many columns as blocks of b have rows, got ")
           << a.getDimSize(3) << " and " << b.getDimSize(2);
  SmallVector<int64_t> shape{a.getDimSize(0), b.getDimSize(1)};
  if (rank == 4)
    shape.append({a.getDimSize(2), b.getDimSize(3)});
  if (result.getShape() != ArrayRef(shape)) { // tile_mma_c2
    InFlightDiagnostic error = emitOpError("expected a result of shape ");
    llvm::interleave(shape, error, "x");
    error << " (rows of a, columns of b), got ";
    llvm::interleave(result.getShape(), error, "x");
    return error;
  }
  if (getC() && getC().getType() != result) // tile_mma_c3
    return emitOpError("expected c to have the result's type ")
           << result << ", got " << getC().getType();
  if (!isMmaTypeCombination(a.getElementType(), b.getElementType(),
                            result.getElementType())) // tile_mma_c4
    return emitOpError("expected ")
           << kMmaTypeCombinations << ", got (" << a.getElementType() << ", " << b.getElementType()
           << ") -> " << result.getElementType();
  for (auto [name, isUnsigned, type] :
       {std::tuple("unsigned_a", getUnsignedA(), a), std::tuple("unsigned_b", getUnsignedB(), b)})
    if (isUnsigned && !type.getElementType().isInteger()) // tile_mma_c7
      return emitOpError("has ") << name << ", which is for bytes, on " << type;
  return verifyMapOfResult(*this, getWgMapAttr(), result); // tile_mma_c5
}

//===----------------------------------------------------------------------===//
// tile_transpose
//===----------------------------------------------------------------------===//

static bool isPermutation(ArrayRef<int64_t> dims) {
  return dims == ArrayRef<int64_t>{1, 0} || dims == ArrayRef<int64_t>{0, 1};
}

static VectorType getTransposedType(VectorType vector, ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> shape = vector.getShape();
  return VectorType::get({shape[permutation[0]], shape[permutation[1]]}, vector.getElementType());
}

LogicalResult TileTransposeOp::verify() {
  if (!isPermutation(getPermutation())) // tile_transpose_c1
    return emitOpError("expected permutation to be [1, 0] or [0, 1], got [")
           << getPermutation() << "]";
  auto type = getTransposedType(getVector().getType(), getPermutation());
  if (failed(verifyResultType(*this, type))) // tile_transpose_c2
    return failure();
  return verifyMapOfResult(*this, getWgMapAttr(), type); // tile_transpose_c3
}

LogicalResult TileTransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                ValueRange operands, DictionaryAttr,
                                                OpaqueProperties properties, RegionRange,
                                                SmallVectorImpl<Type> &types) {
  DenseI64ArrayAttr permutation = properties.as<Properties *>()->permutation;
  auto vector = dyn_cast<VectorType>(operands.front().getType());
  if (!vector || vector.getRank() != 2 || !permutation || !isPermutation(permutation))
    return failure();
  types.push_back(getTransposedType(vector, permutation));
  return success();
}

//===----------------------------------------------------------------------===//
// tile_reduce, tile_broadcast
//===----------------------------------------------------------------------===//

/// True for the kinds of constraint tile_reduce_c3.
static bool isReductionFor(vector::CombiningKind kind, Type element) {
  using Kind = vector::CombiningKind;
  switch (kind) {
  case Kind::ADD:
  case Kind::MUL:
    return isa<IntegerType, FloatType>(element);
  case Kind::MINNUMF:
  case Kind::MAXNUMF:
  case Kind::MINIMUMF:
  case Kind::MAXIMUMF:
    return isa<FloatType>(element);
  default:
    return isa<IntegerType>(element);
  }
}

LogicalResult TileReduceOp::verify() {
  VectorType vector = getVector().getType();
  if (failed(verifyDims(*this, "reduction_dims", getReductionDims(),
                        vector.getRank()))) // tile_reduce_c1
    return failure();
  VectorType type = getReducedType(vector, getReductionDims());
  if (failed(verifyResultType(*this, type))) // tile_reduce_c2
    return failure();
  if (!isReductionFor(getKind(), vector.getElementType())) // tile_reduce_c3
    return emitOpError("expected a kind for elements of type ")
           << vector.getElementType() << ", got " << vector::stringifyCombiningKind(getKind());
  return verifyMapOfResult(*this, getWgMapAttr(), type); // tile_reduce_c4
}

LogicalResult TileReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                             ValueRange operands, DictionaryAttr,
                                             OpaqueProperties properties, RegionRange,
                                             SmallVectorImpl<Type> &types) {
  DenseI64ArrayAttr dims = properties.as<Properties *>()->reduction_dims;
  auto vector = dyn_cast<VectorType>(operands.front().getType());
  auto inRange = [&](int64_t dim) { return dim >= 0 && dim < vector.getRank(); };
  if (!vector || !dims || !llvm::all_of(dims.asArrayRef(), inRange))
    return failure();
  types.push_back(getReducedType(vector, dims));
  return success();
}

LogicalResult TileBroadcastOp::verify() {
  VectorType vector = getVector().getType(), result = getResult().getType();
  if (failed(verifyDims(*this, "broadcast_dims", getBroadcastDims(),
                        vector.getRank()))) // tile_broadcast_c1
    return failure();
  for (int64_t dim : getBroadcastDims())
    if (vector.getDimSize(dim) != 1) // tile_broadcast_c2
      return emitOpError("expected a vector of size 1 in the broadcast dimension ")
             << dim << ", got " << vector;
  bool sameElements =
      vector.getRank() == result.getRank() && vector.getElementType() == result.getElementType();
  if (!sameElements || getReducedType(result, getBroadcastDims()) != vector) // tile_broadcast_c3
    return emitOpError("expected a result with the vector's rank, element type and sizes in the "
                       "dimensions that are not broadcast, got ")
           << vector << " -> " << result;
  return verifyMapOfResult(*this, getWgMapAttr(), result); // tile_broadcast_c4
}

//===----------------------------------------------------------------------===//
// tile_conv_layout
//===----------------------------------------------------------------------===//

LogicalResult TileConvLayoutOp::verify() {
  VectorType vector = getVector().getType();
  WgMapAttr map = getWgMap(), source = getSourceWgMapAttr();
  if (failed(verifyMapOfResult(*this, map, vector)) || // tile_conv_layout_c1
      failed(verifyMapOfResult(*this, source, vector, "source_wg_map")))
    return failure();
  if (source && source.getNumSubgroups() != map.getNumSubgroups()) // tile_conv_layout_c2
    return emitOpError("expected wg_map and source_wg_map for the same number of subgroups, got ")
           << map.getNumSubgroups() << " and " << source.getNumSubgroups();
  return success();
}

//===----------------------------------------------------------------------===//
// tile_pack, tile_unpack
//===----------------------------------------------------------------------===//

/// True for two positive numbers that divide the rows and columns of `vector`.
static bool areBlocksOf(VectorType vector, ArrayRef<int64_t> blocks) {
  return blocks.size() == 2 && blocks[0] > 0 && blocks[1] > 0 &&
         vector.getDimSize(0) % blocks[0] == 0 && vector.getDimSize(1) % blocks[1] == 0;
}

static VectorType getPackedType(VectorType vector, ArrayRef<int64_t> blocks) {
  return VectorType::get(
      {vector.getDimSize(0) / blocks[0], vector.getDimSize(1) / blocks[1], blocks[0], blocks[1]},
      vector.getElementType());
}

static VectorType getUnpackedType(VectorType vector) {
  ArrayRef<int64_t> shape = vector.getShape();
  return VectorType::get({shape[0] * shape[2], shape[1] * shape[3]}, vector.getElementType());
}

LogicalResult TilePackOp::verify() {
  VectorType vector = getVector().getType();
  if (!areBlocksOf(vector, getInnerBlocks())) // tile_pack_c1
    return emitOpError("expected inner_blocks to be two positive numbers that divide the rows and "
                       "columns of ")
           << vector << ", got [" << getInnerBlocks() << "]";
  return verifyResultType(*this, getPackedType(vector, getInnerBlocks())); // tile_pack_c2
}

LogicalResult TilePackOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                           ValueRange operands, DictionaryAttr,
                                           OpaqueProperties properties, RegionRange,
                                           SmallVectorImpl<Type> &types) {
  DenseI64ArrayAttr blocks = properties.as<Properties *>()->inner_blocks;
  auto vector = dyn_cast<VectorType>(operands.front().getType());
  if (!vector || vector.getRank() != 2 || !blocks || !areBlocksOf(vector, blocks))
    return failure();
  types.push_back(getPackedType(vector, blocks));
  return success();
}

LogicalResult TileUnpackOp::verify() {
  VectorType vector = getVector().getType();
  if (getInnerBlocks() != vector.getShape().take_back(2)) // tile_unpack_c1
    return emitOpError("expected inner_blocks to be the last two dimensions of ")
           << vector << ", got [" << getInnerBlocks() << "]";
  return verifyResultType(*this, getUnpackedType(vector)); // tile_unpack_c2
}

LogicalResult TileUnpackOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                             ValueRange operands, DictionaryAttr, OpaqueProperties,
                                             RegionRange, SmallVectorImpl<Type> &types) {
  auto vector = dyn_cast<VectorType>(operands.front().getType());
  if (!vector || vector.getRank() != 4)
    return failure();
  types.push_back(getUnpackedType(vector));
  return success();
}
