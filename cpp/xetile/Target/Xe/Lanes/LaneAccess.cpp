//===- LaneAccess.cpp - memory that each lane accesses itself ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vectors to load from and store to global and shared memory. Out: loads and stores of the
// elements that a lane holds, neighbours together. Refused: elements that are no whole bytes,
// memory without strides or in other spaces.
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/SpaceNumber.h"

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Where an integer or a memref says that its memory is.
static FailureOr<unsigned> memorySpaceOf(Operation *op, MemRefType type) {
  std::optional<int64_t> space = spaceNumber(type);
  if (auto named = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace()))
    space = named.getValue() == gpu::AddressSpace::Workgroup ? sharedSpace
            : named.getValue() == gpu::AddressSpace::Private ? 0
                                                             : globalSpace;
  else if (space == 0)
    space = globalSpace;
  if (space != globalSpace && space != sharedSpace)
    return op->emitOpError("has memory in space ")
           << type.getMemorySpace() << ", expected global or shared memory";
  return static_cast<unsigned>(*space);
}

static LaneMatrix matrixAt(LaneBuilder &b, Value address) {
  LaneMatrix matrix;
  auto type = cast<IntegerType>(address.getType());
  Value number = address;
  if (!type.isSignless())
    number = UnrealizedConversionCastOp::create(b, Type(b.getIntegerType(type.getWidth())), address)
                 .getResult(0);
  matrix.address = type.getWidth() == 64
                       ? number
                       : arith::ExtUIOp::create(b, b.getI64Type(), number).getResult();
  return matrix;
}

FailureOr<LaneMatrix> xetile::matrixOf(LaneContext &lanes, Operation *op, Value memory) {
  LaneBuilder &b = lanes.b;
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (!type)
    return matrixAt(b, memory);
  LaneMatrix matrix;
  FailureOr<unsigned> space = memorySpaceOf(op, type);
  if (failed(space))
    return failure();
  matrix.space = *space;
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
  Type i64 = b.getI64Type();
  Value pointer = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  matrix.address = arith::IndexCastOp::create(b, i64, pointer);
  Value start;
  if (isStatic) {
    for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
      matrix.sizes.push_back(b.index(size));
      matrix.strides.push_back(b.index(stride));
    }
    if (offset)
      start = b.index(offset);
  } else {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, memory);
    for (auto [size, number] : llvm::zip_equal(metadata.getSizes(), type.getShape()))
      matrix.sizes.push_back(ShapedType::isDynamic(number) ? size : b.index(number));
    for (auto [stride, number] : llvm::zip_equal(metadata.getStrides(), strides))
      matrix.strides.push_back(ShapedType::isDynamic(number) ? stride : b.index(number));
    if (offset)
      start = ShapedType::isDynamic(offset) ? metadata.getOffset() : b.index(offset);
  }
  if (start) {
    Value bytes = bits == 4 ? b.createOrFold<arith::DivSIOp>(start, b.index(2))
                            : b.mul(start, b.index(bits / 8));
    matrix.address = b.add(matrix.address, b.createOrFold<arith::IndexCastOp>(i64, bytes));
  }
  return matrix;
}

LaneSource xetile::offsetsOf(LaneContext &lanes, Value descriptor, VectorType vector) {
  LaneMap natural = LaneMap::natural(vector.getShape(), lanes.count);
  return {lanes.held.piecesOf(descriptor).drop_front(),
          lanes.held.tableFor(natural.attr(vector.getContext()), vector.getShape())};
}

//===----------------------------------------------------------------------===//
// One access
//===----------------------------------------------------------------------===//

Value xetile::pointerTo(LaneBuilder &b, Value address, unsigned space) {
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), space), address);
}

Value xetile::advance(LaneBuilder &b, Value address, Value linear, unsigned bytes) {
  return b.add(address,
               b.createOrFold<arith::IndexCastOp>(b.getI64Type(), b.mul(linear, b.index(bytes))));
}

Value xetile::loadElement(LaneBuilder &b, Type type, Value pointer, unsigned align) {
  if (getElementTypeOrSelf(type).isIndex()) {
    Value loaded = LLVM::LoadOp::create(b, b.getI64Type(), pointer, align);
    return arith::IndexCastOp::create(b, type, loaded);
  }
  return LLVM::LoadOp::create(b, type, pointer, align);
}

void xetile::storeElement(LaneBuilder &b, Value value, Value pointer, unsigned align) {
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, b.getI64Type(), value);
  LLVM::StoreOp::create(b, value, pointer, align);
}

Value xetile::loadWhere(LaneBuilder &b, Value mask, Type type, Value pointer, unsigned align,
                        Value otherwise) {
  if (!mask)
    return loadElement(b, type, pointer, align);
  auto branch = scf::IfOp::create(b, TypeRange(type), mask, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loadElement(b, type, pointer, align));
  b.setInsertionPointToStart(branch.elseBlock());
  if (!otherwise)
    otherwise = arith::ConstantOp::create(b, b.getZeroAttr(type));
  scf::YieldOp::create(b, otherwise);
  return branch.getResult(0);
}

void xetile::storeWhere(LaneBuilder &b, Value mask, Value value, Value pointer, unsigned align) {
  OpBuilder::InsertionGuard guard(b);
  if (mask) {
    auto branch = scf::IfOp::create(b, mask, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  storeElement(b, value, pointer, align);
}

Value xetile::registersOf(LaneBuilder &b, Value piece, unsigned reg, unsigned run) {
  if (run == 1)
    return b.element(piece, reg);
  if (run == cast<VectorType>(piece.getType()).getNumElements())
    return piece;
  return vector::ShuffleOp::create(b, piece, piece,
                                   llvm::to_vector(llvm::seq<int64_t>(reg, reg + run)));
}

void xetile::appendRegisters(LaneBuilder &b, Value value, Values &elements) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return elements.push_back(value);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(b.element(value, i));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Coordinates of a register's elements along a dimension.
static SmallVector<int64_t> along(const LaneTable &table, unsigned flat, unsigned dim,
                                  Coordinate coordinate) {
  SmallVector<int64_t> places;
  for (int64_t element : table.row(flat))
    places.push_back(coordinate(element, dim));
  return places;
}

unsigned xetile::runOf(const LaneTable &table, unsigned flat, function_ref<bool(unsigned)> follows,
                       bool acrossPieces) {
  constexpr unsigned most = 16;
  unsigned end = acrossPieces ? table.flatRegisters() : table.registers;
  unsigned length = 1, reg = acrossPieces ? flat : flat % table.registers;
  while (length < most && reg % (length * 2) == 0 && reg + length * 2 <= end) {
    if (!llvm::all_of(llvm::seq(length, length * 2), follows))
      return length;
    length *= 2;
  }
  return length;
}

unsigned xetile::runLength(const LaneTable &table, unsigned flat, const LaneMatrix &matrix,
                           Coordinate coordinate, bool acrossPieces) {
  unsigned rank = matrix.strides.size();
  if (!matrix.sizes.empty() || rank == 0)
    return 1;
  SmallVector<std::optional<int64_t>> strides = llvm::map_to_vector(
      matrix.strides, [](Value stride) { return getConstantIntValue(OpFoldResult(stride)); });
  // Elements of a column of numbers are neighbours, too.
  return runOf(
      table, flat,
      [&](unsigned distance) {
        for (auto [from, to] : llvm::zip_equal(table.row(flat), table.row(flat + distance))) {
          int64_t apart = 0;
          for (unsigned dim = 0; dim < rank; ++dim)
            if (int64_t steps = coordinate(to, dim) - coordinate(from, dim)) {
              if (!strides[dim])
                return false;
              apart += steps * *strides[dim];
            }
          if (apart != int64_t(distance))
            return false;
        }
        return true;
      },
      acrossPieces);
}

namespace {
struct LaneAddress {
  Value pointer, mask;
};
} // namespace

static LaneAddress addressOf(LaneContext &lanes, const LaneTable &table, unsigned flat,
                             unsigned bytes, const LaneMatrix &matrix, Coordinate coordinate,
                             RegisterValue maskOf) {
  LaneBuilder &b = lanes.b;
  Value linear, inside = maskOf ? maskOf(flat) : Value(), constantPart;
  for (auto [dim, stride] : llvm::enumerate(matrix.strides)) {
    // The common part of all registers comes first, so that it is computed once.
    SmallVector<int64_t> places = along(table, flat, dim, coordinate);
    int64_t start = places[0];
    for (int64_t &place : places)
      place -= start;
    Value here = lanes.numbers.index(places);
    if (dim < matrix.offsets.size() && matrix.offsets[dim])
      here = b.add(matrix.offsets[dim], here);
    if (dim < matrix.sizes.size() && matrix.sizes[dim]) {
      Value place = b.add(here, b.index(start));
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place, matrix.sizes[dim]);
      inside = inside ? arith::AndIOp::create(b, inside, fits).getResult() : fits;
    }
    Value part = b.mul(here, stride), fixed = b.mul(b.index(start), stride);
    linear = linear ? b.add(linear, part) : part;
    constantPart = constantPart ? b.add(constantPart, fixed) : fixed;
  }
  Value address = matrix.address;
  for (Value count : {linear, constantPart})
    if (count)
      address = advance(b, address, count, bytes);
  return {pointerTo(b, address, matrix.space), inside};
}

Values xetile::loadLanes(LaneContext &lanes, VectorType piece, const LaneTable &table,
                         const LaneMatrix &matrix, Coordinate coordinate, RegisterValue maskOf,
                         RegisterValue otherwise) {
  LaneBuilder &b = lanes.b;
  Type element = piece.getElementType();
  unsigned bytes = memoryBits(element) / 8;
  Values pieces, elements;
  for (unsigned flat = 0; flat < table.flatRegisters();) {
    unsigned run = maskOf || element.isIndex()
                       ? 1
                       : runLength(table, flat, matrix, coordinate, /*acrossPieces=*/true);
    LaneAddress at = addressOf(lanes, table, flat, bytes, matrix, coordinate, maskOf);
    ++b.moves.messages;
    Value other;
    if (at.mask)
      other = otherwise ? otherwise(flat)
                        : arith::ConstantOp::create(b, b.getZeroAttr(element)).getResult();
    Type type = run == 1 ? element : Type(VectorType::get({int64_t(run)}, element));
    Value loaded = loadWhere(b, at.mask, type, at.pointer, bytes, other);
    flat += run;
    appendRegisters(b, loaded, elements);
    for (; elements.size() >= table.registers;
         elements.erase(elements.begin(), elements.begin() + table.registers))
      pieces.push_back(b.build(piece, ArrayRef(elements).take_front(table.registers)));
  }
  return pieces;
}

void xetile::storeLanes(LaneContext &lanes, ArrayRef<Value> pieces, Type element,
                        const LaneTable &table, const LaneMatrix &matrix, Coordinate coordinate,
                        RegisterValue maskOf) {
  LaneBuilder &b = lanes.b;
  unsigned bytes = memoryBits(element) / 8;
  for (unsigned flat = 0; flat < table.flatRegisters();) {
    unsigned run = maskOf || element.isIndex() ? 1 : runLength(table, flat, matrix, coordinate);
    LaneAddress at = addressOf(lanes, table, flat, bytes, matrix, coordinate, maskOf);
    ++b.moves.messages;
    Value value = registersOf(b, pieces[flat / table.registers], flat % table.registers, run);
    storeWhere(b, at.mask, value, at.pointer, bytes);
    flat += run;
  }
}
