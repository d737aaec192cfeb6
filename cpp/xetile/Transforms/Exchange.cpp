//===- Exchange.cpp - vectors that change their owners ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/Exchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/IR/XeTileOps.h"
#include <numeric>

using namespace mlir;

namespace xetile {

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

VectorType Move::getResultType() const {
  SmallVector<int64_t> shape(type.getShape());
  if (transposed)
    std::swap(shape[0], shape[1]);
  return VectorType::get(shape, type.getElementType());
}

int64_t Move::getPeriod(unsigned dim) const {
  return std::gcd(from.getSgData()[dim], to.getSgData()[transposed ? 1 - dim : dim]);
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

/// Chooses the fewest parts of which each fits; rows are cut before columns, whose elements are
/// adjacent in memory.
static bool chooseParts(Move &move, Type storage, int64_t slmBytes) {
  ArrayRef<int64_t> shape = move.type.getShape();
  int64_t best = 0;
  for (int64_t columns = 1; columns <= move.getPeriod(1); ++columns) {
    if (move.getPeriod(1) % columns != 0)
      continue;
    for (int64_t rows = 1; rows <= move.getPeriod(0); ++rows) {
      if (move.getPeriod(0) % rows != 0 || (best && rows * columns >= best) ||
          getBufferBytes({shape[0] / rows, shape[1] / columns}, storage) > slmBytes)
        continue;
      best = rows * columns;
      move.parts[0] = rows;
      move.parts[1] = columns;
      break;
    }
  }
  return best != 0;
}

FailureOr<Move> planMove(Operation *op, VectorType type, WgMapAttr from, WgMapAttr to,
                         bool transposed, int64_t slmBytes) {
  Move move{type, from, to, transposed, findLocalPieces(type.getShape(), from, to, transposed)};
  if (move.local)
    return move;
  Type storage = getStorageType(type.getElementType());
  if (!storage)
    return op->emitOpError("moves elements of type ")
           << type.getElementType()
           << " between subgroups, which shared local memory cannot hold; expected integers of 1, "
              "8, 16, 32 or 64 bits, index, f16, bf16, f32 or f64";
  if (!chooseParts(move, storage, slmBytes)) {
    ArrayRef<int64_t> shape = type.getShape();
    return emitSlmOverflow(
        op, getBufferBytes({shape[0] / move.getPeriod(0), shape[1] / move.getPeriod(1)}, storage),
        slmBytes);
  }
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

OpFoldResult ExchangeBuilder::getOffset(WgMapAttr map, unsigned dim, int64_t owners, int64_t size,
                                        int64_t constant) const {
  Value first = place.getFirstElement(builder, map, dim, owners, size);
  if (!first)
    return builder.getIndexAttr(constant);
  if (constant == 0)
    return first;
  Value number = arith::ConstantIndexOp::create(builder, loc, constant);
  return arith::AddIOp::create(builder, loc, first, number).getResult();
}

Value ExchangeBuilder::createTile(Value buffer, ArrayRef<int64_t> shape,
                                  ArrayRef<OpFoldResult> offsets) const {
  auto memref = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> order;
  if (!memref.getLayout().isIdentity())
    order = {0, 1};
  auto encoding = TileAttr::get(builder.getContext(), WgMapAttr(), order, ArrayRef<int64_t>(),
                                MemorySpace::SLM, /*scatter=*/false);
  auto type = TileType::get(shape, memref.getElementType(), encoding);
  return InitTileOp::create(builder, loc, type, buffer, offsets);
}

/// Calls `visit` with the offset of each of a subgroup's pieces of a buffer that `map` shares out
/// in pieces of `size`.
static void
forEachOwnPiece(const ExchangeBuilder &exchange, WgMapAttr map, ArrayRef<int64_t> shape,
                ArrayRef<int64_t> size,
                function_ref<void(unsigned piece, ArrayRef<OpFoldResult> offsets)> visit) {
  DimDistribution along[2];
  for (unsigned dim : {0, 1})
    along[dim] = getDimDistribution(map, dim, shape[dim]);
  unsigned piece = 0;
  for (int64_t i = 0; i < along[0].piecesPerSubgroup; ++i)
    for (int64_t j = 0; j < along[1].piecesPerSubgroup; ++j) {
      int64_t rounds[2] = {i, j};
      SmallVector<OpFoldResult> offsets;
      for (unsigned dim : {0, 1})
        offsets.push_back(exchange.getOffset(map, dim, along[dim].numOwners(), size[dim],
                                             rounds[dim] * along[dim].numOwners() * size[dim]));
      visit(piece++, offsets);
    }
}

void ExchangeBuilder::store(Value buffer, WgMapAttr map, ValueRange pieces) const {
  forEachOwnPiece(*this, map, cast<MemRefType>(buffer.getType()).getShape(), map.getSgData(),
                  [&](unsigned piece, ArrayRef<OpFoldResult> offsets) {
                    StoreTileOp::create(builder, loc, toStorage(pieces[piece]),
                                        createTile(buffer, map.getSgData(), offsets));
                  });
}

SmallVector<Value> ExchangeBuilder::load(Value buffer, WgMapAttr map, Type element) const {
  SmallVector<Value> pieces;
  auto memref = cast<MemRefType>(buffer.getType());
  auto type = VectorType::get(map.getSgData(), memref.getElementType());
  forEachOwnPiece(*this, map, memref.getShape(), map.getSgData(),
                  [&](unsigned, ArrayRef<OpFoldResult> offsets) {
                    Value tile = createTile(buffer, map.getSgData(), offsets);
                    Value vector = LoadTileOp::create(builder, loc, type, tile, TypedAttr());
                    pieces.push_back(fromStorage(vector, element));
                  });
  return pieces;
}

/// A part of a vector; the vector itself if that is all of it.
static Value extract(OpBuilder &builder, Location loc, Value vector, ArrayRef<int64_t> offsets,
                     ArrayRef<int64_t> sizes) {
  if (cast<VectorType>(vector.getType()).getShape() == sizes)
    return vector;
  return vector::ExtractStridedSliceOp::create(builder, loc, vector, offsets, sizes,
                                               ArrayRef<int64_t>{1, 1});
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
                                                  ArrayRef<int64_t>{1, 1});
  }
  Value get() const { return vector; }

private:
  OpBuilder *builder;
  Location loc;
  VectorType type;
  Value vector;
};
} // namespace

static Value transpose(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  auto transposed =
      VectorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
  return TileTransposeOp::create(builder, loc, transposed, vector, ArrayRef<int64_t>{1, 0},
                                 WgMapAttr());
}

/// A subgroup's pieces from its own pieces.
static SmallVector<Value> moveInRegisters(OpBuilder &builder, Location loc, const Move &move,
                                          ValueRange pieces) {
  const LocalPieces &local = *move.local;
  ArrayRef<int64_t> data = move.to.getSgData();
  SmallVector<int64_t> shape = {data[move.transposed], data[!move.transposed]};
  auto type = VectorType::get(shape, move.type.getElementType());
  SmallVector<Value> results;
  for (ArrayRef<Cell> cells : local.pieces) {
    Assembly assembly(builder, loc, type);
    for (auto [number, cell] : llvm::enumerate(cells)) {
      int64_t columns = shape[1] / local.cellColumns;
      assembly.insert(extract(builder, loc, pieces[cell.piece], {cell.row, cell.column},
                              {local.cellRows, local.cellColumns}),
                      {int64_t(number) / columns * local.cellRows,
                       int64_t(number) % columns * local.cellColumns});
    }
    results.push_back(move.transposed ? transpose(builder, loc, assembly.get()) : assembly.get());
  }
  return results;
}

/// Of each period of a piece of `size` one part: how many periods there are, and their length in
/// the piece and in the part. Where nothing is cut the piece is one period.
struct PartOfPiece {
  PartOfPiece(const Move &move, unsigned dim, int64_t size)
      : parts(move.parts[dim]), period(parts == 1 ? size : move.getPeriod(dim)),
        count(size / period), length(period / parts) {}
  int64_t parts, period, count, length;
};

/// Calls `visit` with where each piece of a part is: in the part, and in a subgroup's piece.
static void forEachPeriod(const PartOfPiece &rows, const PartOfPiece &columns, int64_t row,
                          int64_t column,
                          function_ref<void(ArrayRef<int64_t>, ArrayRef<int64_t>)> visit) {
  for (int64_t i = 0; i < rows.count; ++i)
    for (int64_t j = 0; j < columns.count; ++j)
      visit({i * rows.length, j * columns.length},
            {i * rows.period + row * rows.length, j * columns.period + column * columns.length});
}

/// Through shared local memory. Part (p, q) of the vector has the p-th and q-th share of the rows
/// and columns of every period: each subgroup has the same places of its pieces in it.
SmallVector<Value> ExchangeBuilder::move(const Move &move, ValueRange pieces) const {
  if (move.local)
    return moveInRegisters(builder, loc, move, pieces);
  ArrayRef<int64_t> whole = move.type.getShape(), data = move.from.getSgData();
  Type element = move.type.getElementType(), storage = getStorageType(element);
  SmallVector<int64_t> shape = {whole[0] / move.parts[0], whole[1] / move.parts[1]};
  Value buffer = scratch.create(builder, loc, shape, storage), view = buffer;
  SmallVector<int64_t> target(move.to.getSgData());
  if (move.transposed) {
    AffineMap swap = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, builder.getContext());
    view = memref::TransposeOp::create(builder, loc, buffer, AffineMapAttr::get(swap));
  }
  // Rows and columns of the source, in the order of the result's dimensions.
  unsigned rowDim = move.transposed ? 1 : 0, columnDim = 1 - rowDim;
  PartOfPiece rows(move, 0, data[0]), columns(move, 1, data[1]),
      resultRows(move, rowDim, target[0]), resultColumns(move, columnDim, target[1]);
  SmallVector<int64_t> stored = {data[0] / move.parts[0], data[1] / move.parts[1]},
                       loaded = {target[0] / move.parts[rowDim], target[1] / move.parts[columnDim]};
  SmallVector<Assembly> results(
      getDimDistribution(move.to, 0, whole[rowDim]).piecesPerSubgroup *
          getDimDistribution(move.to, 1, whole[columnDim]).piecesPerSubgroup,
      Assembly(builder, loc, VectorType::get(target, element)));

  for (int64_t p = 0; p < move.parts[0]; ++p)
    for (int64_t q = 0; q < move.parts[1]; ++q) {
      forEachOwnPiece(
          *this, move.from, whole, stored, [&](unsigned piece, ArrayRef<OpFoldResult> offsets) {
            Assembly part(builder, loc, VectorType::get(stored, element));
            forEachPeriod(rows, columns, p, q, [&](ArrayRef<int64_t> to, ArrayRef<int64_t> from) {
              part.insert(extract(builder, loc, pieces[piece], from, {rows.length, columns.length}),
                          to);
            });
            StoreTileOp::create(builder, loc, toStorage(part.get()),
                                createTile(buffer, stored, offsets));
          });
      forEachOwnPiece(
          *this, move.to, {whole[rowDim], whole[columnDim]}, loaded,
          [&](unsigned piece, ArrayRef<OpFoldResult> offsets) {
            Value tile = createTile(view, loaded, offsets);
            Value part =
                fromStorage(LoadTileOp::create(builder, loc, VectorType::get(loaded, storage), tile,
                                               TypedAttr()),
                            element);
            forEachPeriod(
                resultRows, resultColumns, rowDim == 0 ? p : q, rowDim == 0 ? q : p,
                [&](ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
                  results[piece].insert(
                      extract(builder, loc, part, from, {resultRows.length, resultColumns.length}),
                      to);
                });
          });
    }
  SmallVector<Value> vectors;
  for (const Assembly &result : results)
    vectors.push_back(result.get());
  return vectors;
}

} // namespace xetile
