//===- Exchange.cpp - vectors that change their owners ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/Exchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace xetile {

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

bool Move::isPermuted() const { return !isIdentityPermutation(permutation); }

int64_t Move::getPeriod(unsigned dim) const {
  unsigned target = llvm::find(permutation, int64_t(dim)) - permutation.begin();
  return std::gcd(from.dims[dim].pieceSize, to.dims[target].pieceSize);
}

Type getStorageType(Type element) {
  MLIRContext *context = element.getContext();
  if (element.isInteger(1))
    return IntegerType::get(context, 8);
  if (element.isIndex())
    return IntegerType::get(context, 64);
  if (auto integer = dyn_cast<IntegerType>(element))
    return llvm::is_contained({8, 16, 32, 64}, integer.getWidth()) ? element : Type();
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return element;
  return {};
}

InFlightDiagnostic emitSlmOverflow(Operation *op, int64_t bytes, int64_t slmBytes) {
  return op->emitOpError("needs ")
         << bytes
         << " bytes of shared local memory to bring elements to other subgroups, expected at most "
         << slmBytes
         << " beside the kernel's own: make the vector or its element type smaller, or choose maps "
            "under which each subgroup has the elements it needs";
}

static SmallVector<int64_t> divide(ArrayRef<int64_t> shape, ArrayRef<int64_t> parts) {
  SmallVector<int64_t> result;
  for (auto [size, part] : llvm::zip_equal(shape, parts))
    result.push_back(size / part);
  return result;
}

/// Chooses the fewest parts of which each fits; the first dimensions are cut before the last, whose
/// elements are adjacent in memory.
static bool chooseParts(Move &move, Type storage, int64_t slmBytes) {
  SmallVector<SmallVector<int64_t>> divisors; // of each period, the last dimension first
  SmallVector<int64_t> counts;
  for (unsigned dim = move.from.rank(); dim-- > 0;) {
    SmallVector<int64_t> &own = divisors.emplace_back();
    for (int64_t part = 1; part <= move.getPeriod(dim); ++part)
      if (move.getPeriod(dim) % part == 0)
        own.push_back(part);
    counts.push_back(own.size());
  }
  int64_t best = 0;
  forEachIndex(counts, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> parts;
    for (auto [own, number] : llvm::zip_equal(divisors, at))
      parts.insert(parts.begin(), own[number]);
    int64_t product = computeProduct(parts);
    if ((best && product >= best) ||
        getBufferBytes(divide(move.type.getShape(), parts), storage) > slmBytes)
      return;
    best = product;
    move.parts = parts;
  });
  return best != 0;
}

/// Far more than the registers of any chip hold: only code that nobody wants has more.
constexpr int64_t kMostSlices = 16384;

/// Slices that a subgroup brings to and from shared local memory: each period of each of its
/// pieces, once for each part of the vector.
static int64_t countSlices(const Move &move) {
  int64_t parts = computeProduct(move.parts), periods = 0;
  for (const Ownership *own : {&move.from, &move.to}) {
    int64_t inPiece = 1;
    for (auto [dim, size] : llvm::enumerate(own->pieceShape()))
      inPiece *= size / move.getPeriod(own == &move.to ? move.permutation[dim] : dim);
    periods += own->numPieces() * (parts == 1 ? 1 : inPiece);
  }
  return parts * periods;
}

FailureOr<Move> planMove(Operation *op, VectorType type, const Ownership &from, const Ownership &to,
                         ArrayRef<int64_t> permutation, int64_t slmBytes) {
  Move move{
      type, from, to, SmallVector<int64_t>(permutation), findLocalPieces(from, to, permutation),
      {}};
  if (move.local)
    return move;
  Type storage = getStorageType(type.getElementType());
  if (!storage)
    return op->emitOpError("moves elements of type ")
           << type.getElementType()
           << " between subgroups, which shared local memory cannot hold; expected integers of 1, "
              "8, 16, 32 or 64 bits, index, f16, bf16, f32 or f64";
  if (!chooseParts(move, storage, slmBytes)) {
    SmallVector<int64_t> most;
    for (unsigned dim = 0; dim < from.rank(); ++dim)
      most.push_back(move.getPeriod(dim));
    return emitSlmOverflow(op, getBufferBytes(divide(type.getShape(), most), storage), slmBytes);
  }
  if (int64_t slices = countSlices(move); slices > kMostSlices)
    return op->emitOpError("brings ")
           << slices << " slices of its vector to and from " << slmBytes
           << " bytes of shared local memory in each subgroup, expected at most " << kMostSlices
           << ": make the vector smaller, or choose maps with larger pieces or under which each "
              "subgroup has the elements it needs";
  return move;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Value ExchangeBuilder::toStorage(Value vector) const {
  auto type = cast<VectorType>(vector.getType());
  auto stored = VectorType::get(type.getShape(), getStorageType(type.getElementType()));
  if (stored == type)
    return vector;
  if (type.getElementType().isIndex())
    return arith::IndexCastOp::create(builder, loc, stored, vector);
  return arith::ExtUIOp::create(builder, loc, stored, vector);
}

Value ExchangeBuilder::fromStorage(Value vector, Type element) const {
  auto stored = cast<VectorType>(vector.getType());
  auto type = VectorType::get(stored.getShape(), element);
  if (stored == type)
    return vector;
  if (element.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, vector);
  return arith::TruncIOp::create(builder, loc, type, vector);
}

/// Calls `visit` with the offset of each of a subgroup's pieces of a buffer in which they have the
/// given size.
void ExchangeBuilder::forEachOwnPiece(
    const Ownership &ownership, ArrayRef<int64_t> size,
    function_ref<void(unsigned, ArrayRef<OpFoldResult>)> visit) const {
  unsigned piece = 0;
  forEachIndex(ownership.rounds(), [&](ArrayRef<int64_t> round) {
    SmallVector<OpFoldResult> offsets;
    for (unsigned dim = 0; dim < ownership.rank(); ++dim)
      offsets.push_back(place.getOffset(builder, loc, ownership, dim, size[dim], round[dim]));
    visit(piece++, offsets);
  });
}

void ExchangeBuilder::store(Value buffer, const Ownership &ownership, ValueRange pieces) const {
  forEachOwnPiece(ownership, ownership.pieceShape(),
                  [&](unsigned piece, ArrayRef<OpFoldResult> offsets) {
                    storeTo(buffer, toStorage(pieces[piece]), offsets);
                  });
}

SmallVector<Value> ExchangeBuilder::load(Value buffer, const Ownership &ownership,
                                         Type element) const {
  SmallVector<Value> pieces;
  auto memref = cast<MemRefType>(buffer.getType());
  auto type = VectorType::get(ownership.pieceShape(), memref.getElementType());
  forEachOwnPiece(ownership, ownership.pieceShape(), [&](unsigned, ArrayRef<OpFoldResult> offsets) {
    pieces.push_back(fromStorage(loadFrom(buffer, type, offsets), element));
  });
  return pieces;
}

/// A part of a vector; the vector itself if that is all of it.
static Value extract(OpBuilder &builder, Location loc, Value vector, ArrayRef<int64_t> offsets,
                     ArrayRef<int64_t> sizes) {
  if (cast<VectorType>(vector.getType()).getShape() == sizes)
    return vector;
  return vector::ExtractStridedSliceOp::create(builder, loc, vector, offsets, sizes,
                                               SmallVector<int64_t>(sizes.size(), 1));
}

namespace {
/// A vector that is put together from parts.
class Assembly {
public:
  Assembly(OpBuilder &builder, Location loc, VectorType type)
      : builder(&builder), loc(loc), type(type) {}
  void insert(Value part, ArrayRef<int64_t> offsets) {
    if (part.getType() == type) {
      vector = part;
      return;
    }
    if (!vector)
      vector = arith::ConstantOp::create(*builder, loc, builder->getZeroAttr(type));
    vector = vector::InsertStridedSliceOp::create(*builder, loc, part, vector, offsets,
                                                  SmallVector<int64_t>(offsets.size(), 1));
  }
  Value get() const { return vector; }

private:
  OpBuilder *builder;
  Location loc;
  VectorType type;
  Value vector;
};
} // namespace

/// A subgroup's pieces from its own pieces.
SmallVector<Value> ExchangeBuilder::moveInRegisters(const Move &move, ValueRange pieces) const {
  const LocalPieces &local = *move.local;
  SmallVector<int64_t> shape =
      move.to.permuted(invertPermutationVector(move.permutation)).pieceShape();
  auto type = VectorType::get(shape, move.type.getElementType());
  SmallVector<int64_t> counts = divide(shape, local.cellShape);
  SmallVector<Value> results;
  for (ArrayRef<Cell> cells : local.pieces) {
    Assembly assembly(builder, loc, type);
    unsigned number = 0;
    forEachIndex(counts, [&](ArrayRef<int64_t> at) {
      const Cell &cell = cells[number++];
      SmallVector<int64_t> offsets;
      for (auto [place, size] : llvm::zip_equal(at, local.cellShape))
        offsets.push_back(place * size);
      assembly.insert(extract(builder, loc, pieces[cell.piece], cell.offsets, local.cellShape),
                      offsets);
    });
    results.push_back(move.isPermuted() ? permute(assembly.get(), move.permutation)
                                        : assembly.get());
  }
  return results;
}

namespace {
/// Of each period of a piece one part: how many periods there are, and their lengths in the piece
/// and in the part. Where nothing is cut the piece is one period.
struct PartOfPiece {
  PartOfPiece(int64_t size, int64_t parts, int64_t period)
      : period(parts == 1 ? size : period), count(size / this->period),
        length(this->period / parts) {}
  int64_t period, count, length;
};

/// The same in all dimensions of a piece.
struct PartsOfPiece {
  PartsOfPiece(const Move &move, ArrayRef<int64_t> piece, ArrayRef<int64_t> sourceDims) {
    for (auto [size, dim] : llvm::zip_equal(piece, sourceDims)) {
      dims.emplace_back(size, move.parts[dim], move.getPeriod(dim));
      counts.push_back(dims.back().count);
      lengths.push_back(dims.back().length);
      shape.push_back(size / move.parts[dim]);
    }
  }
  /// Calls `visit` with where each piece of part `part` is: in the part, and in the piece.
  void forEach(ArrayRef<int64_t> part,
               function_ref<void(ArrayRef<int64_t>, ArrayRef<int64_t>)> visit) const {
    forEachIndex(counts, [&](ArrayRef<int64_t> at) {
      SmallVector<int64_t> inPart, inPiece;
      for (auto [dim, number, own] : llvm::zip_equal(dims, at, part)) {
        inPart.push_back(number * dim.length);
        inPiece.push_back(number * dim.period + own * dim.length);
      }
      visit(inPart, inPiece);
    });
  }
  SmallVector<PartOfPiece> dims;
  SmallVector<int64_t> counts, lengths, shape;
};
} // namespace

/// Through shared local memory. Part (p, q, ..) of the vector has the p-th, q-th.. share of every
/// period: each subgroup has the same places of its pieces in it.
SmallVector<Value> ExchangeBuilder::move(const Move &move, ValueRange pieces) const {
  if (move.local)
    return moveInRegisters(move, pieces);
  Type element = move.type.getElementType(), storage = getStorageType(element);
  Value buffer = scratch.create(builder, loc, divide(move.type.getShape(), move.parts), storage),
        view = buffer;
  if (move.isPermuted())
    view = memref::TransposeOp::create(
        builder, loc, buffer,
        AffineMapAttr::get(AffineMap::getPermutationMap(move.permutation, builder.getContext())));
  PartsOfPiece stored(move, move.from.pieceShape(),
                      llvm::to_vector(llvm::seq<int64_t>(0, move.from.rank())));
  PartsOfPiece loaded(move, move.to.pieceShape(), move.permutation);
  SmallVector<Assembly> results(
      move.to.numPieces(), Assembly(builder, loc, VectorType::get(move.to.pieceShape(), element)));

  forEachIndex(move.parts, [&](ArrayRef<int64_t> part) {
    forEachOwnPiece(move.from, stored.shape, [&](unsigned piece, ArrayRef<OpFoldResult> offsets) {
      Assembly values(builder, loc, VectorType::get(stored.shape, element));
      stored.forEach(part, [&](ArrayRef<int64_t> to, ArrayRef<int64_t> from) {
        values.insert(extract(builder, loc, pieces[piece], from, stored.lengths), to);
      });
      storeTo(buffer, toStorage(values.get()), offsets);
    });
    SmallVector<int64_t> resultPart = applyPermutation(part, move.permutation);
    forEachOwnPiece(move.to, loaded.shape, [&](unsigned piece, ArrayRef<OpFoldResult> offsets) {
      Value values =
          fromStorage(loadFrom(view, VectorType::get(loaded.shape, storage), offsets), element);
      loaded.forEach(resultPart, [&](ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
        results[piece].insert(extract(builder, loc, values, from, loaded.lengths), to);
      });
    });
  });
  SmallVector<Value> vectors;
  for (const Assembly &result : results)
    vectors.push_back(result.get());
  return vectors;
}

} // namespace xetile
