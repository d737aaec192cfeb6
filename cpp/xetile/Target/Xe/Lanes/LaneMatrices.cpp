//===- LaneMatrices.cpp - matrices in shared local memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: create_mem_desc, load_matrix and store_matrix. Out: loads and stores of each lane, in words
// where it has whole columns, blocks of the whole subgroup where rows in memory are its registers.
// Refused: what lanes hold instead of
// what a subgroup does, elements that are no whole bytes, offsets that do not fit the matrix.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "xetile/Target/Xe/Lanes/LaneRules.h"

using namespace mlir;
using namespace xetile;

static LogicalResult lower(xegpu::CreateMemDescOp op, LaneContext &lanes) {
  FailureOr<LaneMatrix> matrix = matrixOf(lanes, op, op.getSource());
  if (failed(matrix))
    return failure();
  lanes.held.define(op.getMemDesc(), {matrix->address});
  return success();
}

/// The matrix at the offsets of an access that moves `value`.
template <typename Op>
static FailureOr<LaneMatrix> accessOf(LaneContext &lanes, Op op, Value value) {
  xegpu::MemDescType type = op.getMemDesc().getType();
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return op.emitOpError("moves what a lane holds; expected a vector of the subgroup, or "
                          "xegpu-op-level=lane");
  if (unsigned bits = memoryBits(LaneFragments::storedType(vector.getElementType())); bits % 8)
    return op.emitOpError("moves elements of ") << bits << " bits, expected whole bytes";
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  size_t rank = type.getRank();
  if (size_t(vector.getRank()) != rank || offsets.size() != rank)
    return op.emitOpError("has a vector of ")
           << vector.getRank() << " dimensions and " << offsets.size() << " offsets, expected "
           << rank << " of each, as the mem_desc has";
  SmallVector<int64_t> strides = type.getStrideShape();
  if (strides.size() != rank && (strides.size() != 2 * rank || type.getBlockShape().size() != rank))
    return op.emitOpError("has a mem_desc of type ") << type << ", whose blocks have no strides";
  LaneMatrix matrix;
  matrix.address = lanes.held.piecesOf(op.getMemDesc())[0];
  matrix.space = sharedSpace;
  for (OpFoldResult offset : offsets)
    matrix.offsets.push_back(getValueOrCreateConstantIndexOp(lanes.b, lanes.b.getLoc(), offset));
  if (strides.size() == rank)
    for (int64_t stride : strides)
      matrix.strides.push_back(lanes.b.index(stride));
  return matrix;
}

/// Of a matrix in blocks one after the other: the pointer to what lanes hold in a register.
static Value pointerInBlocks(LaneContext &lanes, xegpu::MemDescType type, const LaneMatrix &matrix,
                             ArrayRef<int64_t> row, VectorType vector) {
  LaneBuilder &b = lanes.b;
  // Those of blocks, then those within one.
  SmallVector<int64_t> strides = type.getStrideShape(), block = type.getBlockShape();
  Value linear = b.index(0);
  for (unsigned dim = 0, rank = block.size(); dim < rank; ++dim) {
    SmallVector<int64_t> places;
    for (int64_t number : row)
      places.push_back(unravel(number, vector.getShape())[dim]);
    Value at = b.add(matrix.offsets[dim], lanes.numbers.index(places)), side = b.index(block[dim]);
    Value outer = b.createOrFold<arith::DivUIOp>(at, side),
          inner = b.createOrFold<arith::RemUIOp>(at, side);
    linear = b.add(linear, b.add(b.mul(outer, b.index(strides[dim])),
                                 b.mul(inner, b.index(strides[rank + dim]))));
  }
  unsigned bytes = memoryBits(LaneFragments::storedType(vector.getElementType())) / 8;
  return pointerTo(b, advance(b, matrix.address, linear, bytes), matrix.space);
}

namespace {
/// One block access moves a word of each lane for each row.
struct BlockWords {
  unsigned bits, perAccess;
};
} // namespace

/// The words of an access whose rows in memory are a word of each lane, in the lanes that
/// `mapOfBlockRows` says; nothing for others.
template <typename Op>
static std::optional<BlockWords> blockWordsOf(LaneContext &lanes, Op op, Value value) {
  xegpu::MemDescType memory = op.getMemDesc().getType();
  auto vector = cast<VectorType>(value.getType());
  std::optional<LaneMap> rows =
      op.getSubgroupBlockIo() ? mapOfBlockRows(memory, vector, lanes.count) : std::nullopt;
  if (!rows || !haveSameRegisters(*rows, LaneMap(lanes.held.layoutOf(value)), vector.getShape(),
                                  lanes.count))
    return std::nullopt;
  unsigned bits = vector.getDimSize(1) / lanes.count *
                  memoryBits(LaneFragments::storedType(vector.getElementType()));
  // Builtins take up to 8 words, of bytes 16.
  int64_t most = bits == 8 ? 16 : 8, words = vector.getDimSize(0);
  return BlockWords{bits, unsigned(std::min(words & -words, most))};
}

/// The part of a sum that is no constant, null for none, and the constant.
static std::pair<Value, int64_t> splitConstant(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {Value(), *constant};
  auto sum = value.getDefiningOp<arith::AddIOp>();
  if (std::optional<int64_t> constant =
          sum ? getConstantIntValue(sum.getRhs()) : std::optional<int64_t>())
    return {sum.getLhs(), *constant};
  return {value, 0};
}

/// Calls `visit` with the pointer to each block access, and its first register of all pieces.
static void forEachBlock(LaneContext &lanes, const LaneMatrix &matrix, VectorType vector,
                         const BlockWords &words,
                         function_ref<void(Value pointer, unsigned flat)> visit) {
  LaneBuilder &b = lanes.b;
  int64_t columns = vector.getDimSize(1), perLane = columns / lanes.count;
  unsigned bytes = memoryBits(LaneFragments::storedType(vector.getElementType())) / 8;
  auto [first, fixed] = splitConstant(matrix.offsets[0]);
  Value start = matrix.address;
  if (first)
    start = advance(b, start, b.mul(first, b.index(columns)), bytes);
  auto type = LLVM::LLVMPointerType::get(b.getContext(), matrix.space);
  Value base = LLVM::IntToPtrOp::create(b, type, start);
  for (int64_t row = 0; row < vector.getDimSize(0); row += words.perAccess) {
    Value pointer = base;
    if (fixed + row)
      pointer =
          LLVM::GEPOp::create(b, type, b.getI8Type(), base,
                              ArrayRef<LLVM::GEPArg>{int32_t((fixed + row) * columns * bytes)});
    visit(pointer, row * perLane);
  }
}

static Type typeOfWords(LaneBuilder &b, const BlockWords &words) {
  Type word = b.getIntegerType(words.bits);
  return words.perAccess == 1 ? word : VectorType::get({int64_t(words.perAccess)}, word);
}

static void loadBlocks(xegpu::LoadMatrixOp op, LaneContext &lanes, const LaneMatrix &matrix,
                       const BlockWords &words) {
  LaneBuilder &b = lanes.b;
  auto vector = cast<VectorType>(op.getRes().getType());
  VectorType piece = lanes.held.pieceType(op.getRes());
  int64_t perAccess = words.perAccess * vector.getDimSize(1) / lanes.count;
  auto asElements = VectorType::get({perAccess}, piece.getElementType());
  Values parts, elements;
  forEachBlock(lanes, matrix, vector, words, [&](Value pointer, unsigned) {
    Value loaded =
        xevm::BlockLoadOp::create(b, typeOfWords(b, words), pointer, xevm::LoadCacheControlAttr());
    if (words.perAccess == 1)
      loaded = b.build(VectorType::get({1}, loaded.getType()), {loaded});
    parts.push_back(b.createOrFold<vector::BitCastOp>(asElements, loaded));
  });
  if (asElements == piece)
    return lanes.held.define(op.getRes(), parts);
  for (Value part : parts)
    appendRegisters(b, part, elements);
  lanes.held.define(op.getRes(), b.buildAll(piece, elements));
}

static void storeBlocks(xegpu::StoreMatrixOp op, LaneContext &lanes, const LaneMatrix &matrix,
                        const BlockWords &words) {
  LaneBuilder &b = lanes.b;
  auto vector = cast<VectorType>(op.getData().getType());
  VectorType piece = lanes.held.pieceType(op.getData());
  SmallVector<Value> pieces(lanes.held.piecesOf(op.getData()));
  unsigned registers = piece.getNumElements();
  unsigned perAccess = words.perAccess * vector.getDimSize(1) / lanes.count;
  forEachBlock(lanes, matrix, vector, words, [&](Value pointer, unsigned flat) {
    Value part;
    if (perAccess <= registers) {
      part = registersOf(b, pieces[flat / registers], flat % registers, perAccess);
      if (!isa<VectorType>(part.getType()))
        part = b.build(VectorType::get({1}, part.getType()), {part});
    } else {
      Values elements;
      for (unsigned at = flat; at < flat + perAccess; at += registers)
        appendRegisters(b, pieces[at / registers], elements);
      part = b.build(VectorType::get({int64_t(perAccess)}, piece.getElementType()), elements);
    }
    auto asWords = VectorType::get({int64_t(words.perAccess)}, b.getIntegerType(words.bits));
    Value stored = b.createOrFold<vector::BitCastOp>(asWords, part);
    if (words.perAccess == 1)
      stored = b.element(stored, 0);
    xevm::BlockStoreOp::create(b, pointer, stored, xevm::StoreCacheControlAttr());
  });
}

/// True for an access of whole columns, in the lanes that `mapOfBlockColumns` says.
template <typename Op> static bool movesColumns(LaneContext &lanes, Op op, Value value) {
  auto vector = cast<VectorType>(value.getType());
  std::optional<LaneMap> columns = op.getSubgroupBlockIo()
                                       ? std::nullopt
                                       : mapOfBlockColumns(op.getMemDesc(), vector, lanes.count);
  return columns && haveSameRegisters(*columns, LaneMap(lanes.held.layoutOf(value)),
                                      vector.getShape(), lanes.count);
}

/// Calls `visit` with the pointer to the column of each piece. What is the same for all of them
/// comes first, so that messages carry the rest.
static void forEachColumn(LaneContext &lanes, const LaneMatrix &matrix, VectorType vector,
                          function_ref<void(Value pointer, unsigned piece)> visit) {
  LaneBuilder &b = lanes.b;
  int64_t rows = vector.getDimSize(0);
  unsigned bytes = memoryBits(LaneFragments::storedType(vector.getElementType())) / 8;
  SmallVector<int64_t> places;
  for (int64_t lane = 0; lane < int64_t(lanes.count); ++lane)
    places.push_back(lane * rows);
  auto [column, fixed] = splitConstant(matrix.offsets[1]);
  Value start = advance(b, matrix.address, lanes.numbers.index(places), bytes);
  if (column)
    start = advance(b, start, b.mul(column, b.index(rows)), bytes);
  auto type = LLVM::LLVMPointerType::get(b.getContext(), matrix.space);
  Value base = LLVM::IntToPtrOp::create(b, type, start);
  for (unsigned piece = 0, pieces = vector.getDimSize(1) / lanes.count; piece < pieces; ++piece) {
    int64_t behind = (fixed + int64_t(piece) * int64_t(lanes.count)) * rows * bytes;
    visit(
        LLVM::GEPOp::create(b, type, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(behind)}),
        piece);
    ++b.moves.messages;
  }
}

/// A column as 32-bit words.
static VectorType typeOfColumn(LaneBuilder &b, VectorType piece) {
  int64_t bits = piece.getNumElements() * memoryBits(piece.getElementType());
  return VectorType::get({bits / 32}, b.getI32Type());
}

static void loadColumns(xegpu::LoadMatrixOp op, LaneContext &lanes, const LaneMatrix &matrix) {
  LaneBuilder &b = lanes.b;
  VectorType piece = lanes.held.pieceType(op.getRes());
  Values pieces;
  forEachColumn(lanes, matrix, cast<VectorType>(op.getRes().getType()),
                [&](Value pointer, unsigned) {
                  Value words = LLVM::LoadOp::create(b, typeOfColumn(b, piece), pointer, 4);
                  pieces.push_back(b.createOrFold<vector::BitCastOp>(piece, words));
                });
  lanes.held.define(op.getRes(), pieces);
}

static void storeColumns(xegpu::StoreMatrixOp op, LaneContext &lanes, const LaneMatrix &matrix) {
  LaneBuilder &b = lanes.b;
  VectorType type = typeOfColumn(b, lanes.held.pieceType(op.getData()));
  SmallVector<Value> pieces(lanes.held.piecesOf(op.getData()));
  forEachColumn(lanes, matrix, cast<VectorType>(op.getData().getType()),
                [&](Value pointer, unsigned piece) {
                  Value words = b.createOrFold<vector::BitCastOp>(type, pieces[piece]);
                  LLVM::StoreOp::create(b, words, pointer, 4);
                });
}

static LogicalResult lower(xegpu::LoadMatrixOp op, LaneContext &lanes) {
  FailureOr<LaneMatrix> matrix = accessOf(lanes, op, op.getRes());
  if (failed(matrix))
    return failure();
  if (movesColumns(lanes, op, op.getRes())) {
    loadColumns(op, lanes, *matrix);
    return success();
  }
  if (std::optional<BlockWords> words = blockWordsOf(lanes, op, op.getRes())) {
    loadBlocks(op, lanes, *matrix, *words);
    return success();
  }
  const LaneTable &table = lanes.held.tableOf(op.getRes());
  VectorType piece = lanes.held.pieceType(op.getRes());
  auto vector = cast<VectorType>(op.getRes().getType());
  ArrayRef<int64_t> shape = vector.getShape();
  if (!matrix->strides.empty()) {
    lanes.held.define(op.getRes(),
                      loadLanes(lanes, piece, table, *matrix, [&](int64_t number, unsigned dim) {
                        return unravel(number, shape)[dim];
                      }));
    return success();
  }
  Type element = piece.getElementType();
  Values pieces;
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (unsigned r = 0; r < table.registers; ++r) {
      Value pointer = pointerInBlocks(lanes, op.getMemDesc().getType(), *matrix,
                                      table.row(p * table.registers + r), vector);
      elements.push_back(loadElement(lanes.b, element, pointer, memoryBits(element) / 8));
    }
    pieces.push_back(lanes.b.build(piece, elements));
  }
  lanes.held.define(op.getRes(), pieces);
  return success();
}

static LogicalResult lower(xegpu::StoreMatrixOp op, LaneContext &lanes) {
  FailureOr<LaneMatrix> matrix = accessOf(lanes, op, op.getData());
  if (failed(matrix))
    return failure();
  if (movesColumns(lanes, op, op.getData())) {
    storeColumns(op, lanes, *matrix);
    return success();
  }
  if (std::optional<BlockWords> words = blockWordsOf(lanes, op, op.getData())) {
    storeBlocks(op, lanes, *matrix, *words);
    return success();
  }
  const LaneTable &table = lanes.held.tableOf(op.getData());
  ArrayRef<Value> pieces = lanes.held.piecesOf(op.getData());
  auto vector = cast<VectorType>(op.getData().getType());
  ArrayRef<int64_t> shape = vector.getShape();
  Type element = LaneFragments::storedType(vector.getElementType());
  if (!matrix->strides.empty()) {
    storeLanes(lanes, pieces, element, table, *matrix,
               [&](int64_t number, unsigned dim) { return unravel(number, shape)[dim]; });
    return success();
  }
  for (unsigned flat = 0; flat < table.flatRegisters(); ++flat) {
    Value pointer =
        pointerInBlocks(lanes, op.getMemDesc().getType(), *matrix, table.row(flat), vector);
    storeElement(lanes.b, lanes.b.element(pieces[flat / table.registers], flat % table.registers),
                 pointer, memoryBits(element) / 8);
  }
  return success();
}

void xetile::addMatrixLowerings(LaneLowerings &table) {
  table.add<xegpu::CreateMemDescOp>(lower);
  table.add<xegpu::LoadMatrixOp>(lower);
  table.add<xegpu::StoreMatrixOp>(lower);
}
