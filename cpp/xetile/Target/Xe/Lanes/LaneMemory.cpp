//===- LaneMemory.cpp - memory that each lane accesses itself ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vectors loaded from and stored to global and shared memory, by offsets, from matrices in
// shared memory, by vector.transfer_read and the like. Out: loads and stores of the elements that a
// lane holds, neighbours together. Refused: elements that are no whole bytes, memory without
// strides.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

static bool isOne(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && number.isOne();
}

Value LaneLowering::pointerTo(Value address, unsigned space) {
  return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), space),
                                  address);
}

Value LaneLowering::loadElement(Type type, Value pointer, unsigned align) {
  Type element = getElementTypeOrSelf(type);
  if (element.isIndex()) {
    Value loaded = LLVM::LoadOp::create(b, loc, b.getI64Type(), pointer, align);
    return arith::IndexCastOp::create(b, loc, type, loaded);
  }
  return LLVM::LoadOp::create(b, loc, type, pointer, align);
}

void LaneLowering::storeElement(Value value, Value pointer, unsigned align) {
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  LLVM::StoreOp::create(b, loc, value, pointer, align);
}

/// Coordinates of the row's elements along a dimension.
static SmallVector<int64_t> along(const LaneTable &table, unsigned flat, unsigned dim,
                                  function_ref<int64_t(int64_t, unsigned)> coordinate) {
  SmallVector<int64_t> places;
  for (int64_t element : table.row(flat))
    places.push_back(coordinate(element, dim));
  return places;
}

unsigned LaneLowering::runLength(const LaneTable &table, unsigned flat, const Matrix &matrix,
                                 Coordinate coordinate) {
  unsigned rank = matrix.strides.size(), reg = flat % table.registers;
  if (!matrix.sizes.empty() || rank == 0 || !isOne(matrix.strides.back()))
    return 1;
  auto follows = [&](unsigned distance) {
    for (unsigned dim = 0; dim < rank; ++dim)
      for (unsigned lane = 0; lane < lanes; ++lane) {
        int64_t from = coordinate(table.row(flat)[lane], dim),
                to = coordinate(table.row(flat + distance)[lane], dim);
        if (to != from + (dim + 1 == rank ? int64_t(distance) : 0))
          return false;
      }
    return true;
  };
  unsigned length = 1;
  while (length < 16 && reg % (length * 2) == 0 && reg + length * 2 <= table.registers) {
    for (unsigned distance = length; distance < length * 2; ++distance)
      if (!follows(distance))
        return length;
    length *= 2;
  }
  return length;
}

LaneLowering::LaneAddress LaneLowering::addressOf(const LaneTable &table, unsigned flat,
                                                  unsigned bytes, const Matrix &matrix,
                                                  Coordinate coordinate,
                                                  function_ref<Value(unsigned)> maskOf) {
  Value linear, inside = maskOf ? maskOf(flat) : Value(), constantPart;
  for (auto [dim, stride] : llvm::enumerate(matrix.strides)) {
    // What all registers have alike comes first, so that it is computed once.
    SmallVector<int64_t> places = along(table, flat, dim, coordinate);
    int64_t start = places[0];
    for (int64_t &place : places)
      place -= start;
    Value here = laneIndex(places);
    if (dim < matrix.offsets.size() && matrix.offsets[dim])
      here = add(matrix.offsets[dim], here);
    if (dim < matrix.sizes.size() && matrix.sizes[dim]) {
      Value place = add(here, index(start));
      Value fits =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, matrix.sizes[dim]);
      inside = inside ? arith::AndIOp::create(b, loc, inside, fits).getResult() : fits;
    }
    Value part = mul(here, stride), fixed = mul(index(start), stride);
    linear = linear ? add(linear, part) : part;
    constantPart = constantPart ? add(constantPart, fixed) : fixed;
  }
  Type i64 = b.getI64Type();
  Value address = matrix.address;
  auto advance = [&](Value count) {
    if (count)
      address =
          add(address, b.createOrFold<arith::IndexCastOp>(loc, i64, mul(count, index(bytes))));
  };
  advance(linear);
  advance(constantPart);
  return {pointerTo(address, matrix.space), inside};
}

LaneLowering::Values LaneLowering::loadLanes(VectorType piece, const LaneTable &table,
                                             const Matrix &matrix, Coordinate coordinate,
                                             function_ref<Value(unsigned)> maskOf,
                                             function_ref<Value(unsigned)> otherwise) {
  Type element = piece.getElementType();
  unsigned bytes = memoryBits(element) / 8;
  Values pieces;
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (unsigned r = 0; r < table.registers;) {
      unsigned flat = p * table.registers + r;
      unsigned run = maskOf || element.isIndex() ? 1 : runLength(table, flat, matrix, coordinate);
      LaneAddress at = addressOf(table, flat, bytes, matrix, coordinate, maskOf);
      ++numMessages;
      if (run > 1) {
        Value loaded = loadElement(VectorType::get({int64_t(run)}, element), at.pointer, bytes);
        for (unsigned i = 0; i < run; ++i)
          elements.push_back(this->element(loaded, i));
      } else if (!at.mask) {
        elements.push_back(loadElement(element, at.pointer, bytes));
      } else {
        Value other = otherwise
                          ? otherwise(flat)
                          : arith::ConstantOp::create(b, loc, b.getZeroAttr(element)).getResult();
        auto branch = scf::IfOp::create(b, loc, TypeRange(element), at.mask, /*withElse=*/true);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        scf::YieldOp::create(b, loc, loadElement(element, at.pointer, bytes));
        b.setInsertionPointToStart(branch.elseBlock());
        scf::YieldOp::create(b, loc, other);
        elements.push_back(branch.getResult(0));
      }
      r += run;
    }
    pieces.push_back(build(piece, elements));
  }
  return pieces;
}

void LaneLowering::storeLanes(ArrayRef<Value> pieces, Type element, const LaneTable &table,
                              const Matrix &matrix, Coordinate coordinate,
                              function_ref<Value(unsigned)> maskOf) {
  unsigned bytes = memoryBits(element) / 8;
  for (unsigned p = 0; p < table.pieces; ++p)
    for (unsigned r = 0; r < table.registers;) {
      unsigned flat = p * table.registers + r;
      unsigned run = maskOf || element.isIndex() ? 1 : runLength(table, flat, matrix, coordinate);
      LaneAddress at = addressOf(table, flat, bytes, matrix, coordinate, maskOf);
      ++numMessages;
      if (run > 1) {
        Value value = pieces[p];
        if (run != table.registers) {
          SmallVector<int64_t> mask;
          for (unsigned i = 0; i < run; ++i)
            mask.push_back(r + i);
          value = vector::ShuffleOp::create(b, loc, value, value, mask);
        }
        LLVM::StoreOp::create(b, loc, value, at.pointer, bytes);
      } else {
        OpBuilder::InsertionGuard guard(b);
        Value value = this->element(pieces[p], r);
        if (at.mask) {
          auto branch = scf::IfOp::create(b, loc, at.mask, /*withElseRegion=*/false);
          b.setInsertionPointToStart(branch.thenBlock());
        }
        storeElement(value, at.pointer, bytes);
      }
      r += run;
    }
}

//===----------------------------------------------------------------------===//
// vector.transfer_read and its like
//===----------------------------------------------------------------------===//

/// The vector dimension that runs along each dimension of memory, or -1.
static SmallVector<int> dimensionsOf(AffineMap map) {
  SmallVector<int> result(map.getNumDims(), -1);
  for (auto [number, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      result[dim.getPosition()] = int(number);
  return result;
}

template <typename Op>
FailureOr<LaneLowering::Transfer> LaneLowering::transferOf(Op op, Value vector) {
  if (!isa<MemRefType>(op.getBase().getType()))
    return op.emitOpError("accesses a tensor, expected memory");
  FailureOr<Matrix> matrix = matrixOf(op, op.getBase());
  if (failed(matrix))
    return failure();
  Transfer transfer{*matrix, dimensionsOf(op.getPermutationMap()), {}};
  Values &sizes = transfer.matrix.sizes;
  transfer.matrix.offsets = Values(op.getIndices());
  SmallVector<bool> inBounds = op.getInBoundsValues();
  for (auto [size, dim] : llvm::zip_equal(sizes, transfer.dims))
    if (dim < 0 || inBounds[dim])
      size = {};
  if (llvm::none_of(sizes, [](Value size) { return bool(size); }))
    sizes.clear();
  Value mask = op.getMask();
  if (!mask)
    return transfer;
  // The mask has the shape of what is accessed, without what is broadcast, in memory's order.
  ArrayRef<int64_t> maskShape = cast<VectorType>(mask.getType()).getShape();
  SmallVector<int> order;
  for (int dim : transfer.dims)
    if (dim >= 0)
      order.push_back(dim);
  if (order.size() != maskShape.size())
    return op.emitOpError("has a mask of ")
           << maskShape.size() << " dimensions, expected " << order.size();
  const LaneTable &table = tableOf(vector);
  ArrayRef<int64_t> shape = cast<VectorType>(vector.getType()).getShape();
  transfer.masks = gather(VectorType::get({int64_t(table.registers)}, b.getI1Type()), table,
                          {sourceOf(mask)}, [&](int64_t element) {
                            LaneMap::Shape at = unravel(element, shape), place;
                            for (int dim : order)
                              place.push_back(at[dim]);
                            return std::pair(0u, ravel(place, maskShape));
                          });
  return transfer;
}

LogicalResult LaneLowering::lowerTransfer(Operation *op) {
  auto read = dyn_cast<vector::TransferReadOp>(op);
  auto write = dyn_cast<vector::TransferWriteOp>(op);
  Value vector = read ? read.getResult() : write.getVector();
  FailureOr<Transfer> transfer = read ? transferOf(read, vector) : transferOf(write, vector);
  if (failed(transfer))
    return failure();
  auto type = cast<VectorType>(vector.getType());
  const LaneTable &table = tableOf(vector);
  auto coordinate = [&](int64_t element, unsigned dim) -> int64_t {
    int at = transfer->dims[dim];
    return at < 0 ? 0 : unravel(element, type.getShape())[at];
  };
  auto maskAt = [&](unsigned flat) -> Value {
    return element(transfer->masks[flat / table.registers], flat % table.registers);
  };
  auto padding = [&](unsigned) -> Value { return read.getPadding(); };
  function_ref<Value(unsigned)> maskOf;
  if (!transfer->masks.empty())
    maskOf = maskAt;
  if (read)
    define(vector,
           loadLanes(pieceType(vector), table, transfer->matrix, coordinate, maskOf, padding));
  else
    storeLanes(piecesOf(vector), storedType(type.getElementType()), table, transfer->matrix,
               coordinate, maskOf);
  return success();
}

LogicalResult LaneLowering::lowerMemory(Operation *op) {
  auto vectorAccess = [&](Value base, ValueRange indices, Value value, bool isLoad) {
    FailureOr<Matrix> matrix = matrixOf(op, base);
    if (failed(matrix))
      return failure();
    auto vector = cast<VectorType>(value.getType());
    ArrayRef<int64_t> shape = vector.getShape();
    matrix->offsets = Values(indices);
    matrix->sizes.clear();
    unsigned rank = matrix->strides.size(), skip = rank - shape.size();
    const LaneTable &table = tableOf(value);
    auto coordinate = [&](int64_t number, unsigned dim) -> int64_t {
      return dim < skip ? 0 : unravel(number, shape)[dim - skip];
    };
    if (isLoad)
      define(value, loadLanes(pieceType(value), table, *matrix, coordinate, nullptr, nullptr));
    else
      storeLanes(piecesOf(value), storedType(vector.getElementType()), table, *matrix, coordinate,
                 nullptr);
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<vector::TransferReadOp, vector::TransferWriteOp>(
          [&](auto transfer) { return lowerTransfer(transfer); })
      .Case([&](vector::LoadOp load) {
        return vectorAccess(load.getBase(), load.getIndices(), load.getResult(), true);
      })
      .Case([&](vector::StoreOp store) {
        return vectorAccess(store.getBase(), store.getIndices(), store.getValueToStore(), false);
      })
      .Case([&](xegpu::CreateDescOp create) {
        FailureOr<Matrix> matrix = matrixOf(create, create.getSource());
        if (failed(matrix))
          return failure();
        auto type = cast<VectorType>(create.getOffsets().getType());
        LaneMap natural = LaneMap::natural(type.getShape(), lanes);
        Values all{matrix->address};
        llvm::append_range(all, gather(VectorType::get({natural.numRegisters()}, b.getIndexType()),
                                       tableFor(natural.attr(b.getContext()), type.getShape()),
                                       {sourceOf(create.getOffsets())},
                                       [](int64_t number) { return std::pair(0u, number); }));
        define(create.getResult(), all);
        return success();
      })
      .Case([&](xegpu::UpdateOffsetOp update) {
        auto type = cast<VectorType>(update.getOffsets().getType());
        LaneMap natural = LaneMap::natural(type.getShape(), lanes);
        Values deltas = gather(VectorType::get({natural.numRegisters()}, b.getIndexType()),
                               tableFor(natural.attr(b.getContext()), type.getShape()),
                               {sourceOf(update.getOffsets())},
                               [](int64_t number) { return std::pair(0u, number); });
        Values all = piecesOf(update.getTensorDesc());
        if (all.size() != deltas.size() + 1)
          return LogicalResult(update.emitOpError("has other offsets than its descriptor"));
        for (auto [place, delta] : llvm::zip_equal(MutableArrayRef(all).drop_front(), deltas))
          place = arith::AddIOp::create(b, loc, place, delta);
        define(update.getResult(), all);
        return success();
      })
      .Case<xegpu::LoadGatherOp, xegpu::StoreScatterOp>([&](auto) { return lowerScattered(op); })
      .Case([&](xegpu::PrefetchOp) { return success(); }) // a hint
      .Case([&](xegpu::AtomicRMWOp atomic) { return lowerAtomic(atomic); })
      .Case<xegpu::CreateMemDescOp, xegpu::LoadMatrixOp, xegpu::StoreMatrixOp>(
          [&](auto) { return lowerMatrix(op); })
      .Default([](Operation *other) {
        return LogicalResult(other->emitOpError(
            "has no lowering to lanes: expected XeGPU, elementwise operations, vector operations "
            "that move or reduce elements, vector.transfer_read and transfer_write"));
      });
}
