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

LogicalResult LaneLowering::lowerTransferRead(vector::TransferReadOp op) {
  FailureOr<Matrix> matrix =
      isa<MemRefType>(op.getBase().getType())
          ? matrixOf(op, op.getBase())
          : FailureOr<Matrix>(op.emitOpError("reads a tensor, expected memory"));
  if (failed(matrix))
    return failure();
  ArrayRef<int64_t> shape = op.getVectorType().getShape();
  SmallVector<int> dims = dimensionsOf(op.getPermutationMap());
  matrix->offsets = Values(op.getIndices());
  SmallVector<bool> inBounds = op.getInBoundsValues();
  for (auto [size, dim] : llvm::zip_equal(matrix->sizes, dims))
    if (dim < 0 || inBounds[dim])
      size = {};
  if (llvm::none_of(matrix->sizes, [](Value size) { return bool(size); }))
    matrix->sizes.clear();
  const LaneTable &table = tableOf(op.getResult());
  Values masks;
  if (Value mask = op.getMask()) {
    // The mask has the shape of what is read, without what is broadcast, in memory's order.
    AffineMap compressed = inverseAndBroadcastProjectedPermutation(op.getPermutationMap());
    ArrayRef<int64_t> maskShape = cast<VectorType>(mask.getType()).getShape();
    SmallVector<int> order;
    for (int dim : dims)
      if (dim >= 0)
        order.push_back(dim);
    (void)compressed;
    if (order.size() != maskShape.size())
      return op.emitOpError("has a mask of ")
             << maskShape.size() << " dimensions, expected " << order.size();
    masks = gather(VectorType::get({int64_t(table.registers)}, b.getI1Type()), table,
                   {sourceOf(mask)}, [&](int64_t element) {
                     LaneMap::Shape at = unravel(element, shape), place;
                     for (int dim : order)
                       place.push_back(at[dim]);
                     return std::pair(0u, ravel(place, maskShape));
                   });
  }
  auto maskOf = [&](unsigned flat) -> Value {
    return element(masks[flat / table.registers], flat % table.registers);
  };
  auto padding = [&](unsigned) -> Value { return op.getPadding(); };
  define(op.getResult(), loadLanes(
                             pieceType(op.getResult()), table, *matrix,
                             [&](int64_t element, unsigned dim) -> int64_t {
                               return dims[dim] < 0 ? 0 : unravel(element, shape)[dims[dim]];
                             },
                             masks.empty() ? function_ref<Value(unsigned)>() : maskOf, padding));
  return success();
}

LogicalResult LaneLowering::lowerTransferWrite(vector::TransferWriteOp op) {
  FailureOr<Matrix> matrix =
      isa<MemRefType>(op.getBase().getType())
          ? matrixOf(op, op.getBase())
          : FailureOr<Matrix>(op.emitOpError("writes a tensor, expected memory"));
  if (failed(matrix))
    return failure();
  auto vector = cast<VectorType>(op.getVector().getType());
  ArrayRef<int64_t> shape = vector.getShape();
  SmallVector<int> dims = dimensionsOf(op.getPermutationMap());
  matrix->offsets = Values(op.getIndices());
  SmallVector<bool> inBounds = op.getInBoundsValues();
  for (auto [size, dim] : llvm::zip_equal(matrix->sizes, dims))
    if (dim < 0 || inBounds[dim])
      size = {};
  if (llvm::none_of(matrix->sizes, [](Value size) { return bool(size); }))
    matrix->sizes.clear();
  const LaneTable &table = tableOf(op.getVector());
  Values masks;
  if (Value mask = op.getMask()) {
    ArrayRef<int64_t> maskShape = cast<VectorType>(mask.getType()).getShape();
    SmallVector<int> order;
    for (int dim : dims)
      if (dim >= 0)
        order.push_back(dim);
    masks = gather(VectorType::get({int64_t(table.registers)}, b.getI1Type()), table,
                   {sourceOf(mask)}, [&](int64_t element) {
                     LaneMap::Shape at = unravel(element, shape), place;
                     for (int dim : order)
                       place.push_back(at[dim]);
                     return std::pair(0u, ravel(place, maskShape));
                   });
  }
  auto maskOf = [&](unsigned flat) -> Value {
    return element(masks[flat / table.registers], flat % table.registers);
  };
  storeLanes(
      piecesOf(op.getVector()), storedType(vector.getElementType()), table, *matrix,
      [&](int64_t element, unsigned dim) -> int64_t {
        return dims[dim] < 0 ? 0 : unravel(element, shape)[dims[dim]];
      },
      masks.empty() ? function_ref<Value(unsigned)>() : maskOf);
  return success();
}

//===----------------------------------------------------------------------===//
// Offsets of each lane
//===----------------------------------------------------------------------===//

LogicalResult LaneLowering::lowerScattered(Operation *op) {
  Value source, offsets, mask, value;
  bool isLoad = false;
  if (auto load = dyn_cast<xegpu::LoadGatherOp>(op)) {
    source = load.getSource(), offsets = load.getOffsets(), mask = load.getMask();
    value = load.getValue();
    isLoad = true;
  } else {
    auto store = cast<xegpu::StoreScatterOp>(op);
    source = store.getDest(), offsets = store.getOffsets(), mask = store.getMask();
    value = store.getValue();
  }
  auto vector = dyn_cast<VectorType>(value.getType());
  auto maskType = dyn_cast<VectorType>(mask.getType());
  if (!vector || !maskType || (offsets && !isa<VectorType>(offsets.getType())))
    return op->emitOpError("has what a lane holds for offsets, mask or value; expected vectors of "
                           "the subgroup, or xegpu-op-level=lane");
  if (vector.getNumElements() % maskType.getNumElements() ||
      !llvm::equal(maskType.getShape(), vector.getShape().take_front(maskType.getRank())))
    return op->emitOpError("moves ") << vector << " under a mask of " << maskType
                                     << ", expected the mask's shape, and behind it the chunk";
  int64_t chunk = vector.getNumElements() / maskType.getNumElements();
  Type element = storedType(vector.getElementType());
  unsigned bits = memoryBits(element);
  if (bits % 8)
    return op->emitOpError("moves elements of ") << bits << " bits, expected whole bytes";
  Matrix matrix;
  const LaneTable &table = tableOf(value);
  auto spread = [&](Source from, Type type) {
    return gather(VectorType::get({int64_t(table.registers)}, type), table, {from},
                  [&](int64_t number) { return std::pair(0u, number / chunk); });
  };
  Values places;
  if (isa<xegpu::TensorDescType>(source.getType())) {
    auto tile = cast<xegpu::TensorDescType>(source.getType());
    ArrayRef<Value> all = piecesOf(source);
    matrix.address = all[0];
    matrix.space = tile.getMemorySpace() == xegpu::MemorySpace::SLM ? 3 : 1;
    const LaneTable &from = tableFor(
        LaneMap::natural(maskType.getShape(), lanes).attr(b.getContext()), maskType.getShape());
    if (all.size() - 1 != from.pieces)
      return op->emitOpError("has a descriptor of other offsets than its mask");
    places = spread({all.drop_front(), from}, b.getIndexType());
  } else {
    FailureOr<Matrix> made = matrixOf(op, source);
    if (failed(made))
      return failure();
    matrix = *made;
    places = spread(sourceOf(offsets), b.getIndexType());
  }
  bool always = matchPattern(mask, m_One());
  Values masks;
  if (!always)
    masks = spread(sourceOf(mask), b.getI1Type());
  unsigned bytes = bits / 8;
  Values pieces, stored = isLoad ? Values() : piecesOf(value);
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (unsigned r = 0; r < table.registers;) {
      unsigned flat = p * table.registers + r;
      // Neighbours of a chunk go together.
      unsigned run = 1;
      auto follows = [&](unsigned distance) {
        for (unsigned lane = 0; lane < lanes; ++lane) {
          int64_t from = table.row(flat)[lane], to = table.row(flat + distance)[lane];
          if (to != from + int64_t(distance) || to / chunk != from / chunk)
            return false;
        }
        return true;
      };
      auto allFollow = [&](unsigned from, unsigned end) {
        for (unsigned distance = from; distance < end; ++distance)
          if (!follows(distance))
            return false;
        return true;
      };
      while (!element.isIndex() && run < 16 && r % (run * 2) == 0 &&
             r + run * 2 <= table.registers && allFollow(run, run * 2))
        run *= 2;
      Type type = run == 1 ? element : Type(VectorType::get({int64_t(run)}, element));
      SmallVector<int64_t> within;
      for (int64_t number : table.row(flat))
        within.push_back(number % chunk);
      Value place = add(this->element(places[p], r), laneIndex(within));
      Value address = add(matrix.address, arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                                                     mul(place, index(bytes))));
      Value pointer = pointerTo(address, matrix.space);
      Value here = always ? Value() : this->element(masks[p], r);
      if (isLoad) {
        Value loaded;
        if (here) {
          auto branch = scf::IfOp::create(b, loc, TypeRange(type), here, /*withElse=*/true);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          scf::YieldOp::create(b, loc, loadElement(type, pointer, bytes));
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(b, loc,
                               arith::ConstantOp::create(b, loc, b.getZeroAttr(type)).getResult());
          loaded = branch.getResult(0);
        } else {
          loaded = loadElement(type, pointer, bytes);
        }
        if (run == 1)
          elements.push_back(loaded);
        for (unsigned i = 0; run > 1 && i < run; ++i)
          elements.push_back(this->element(loaded, i));
      } else {
        Value part;
        if (run == 1) {
          part = this->element(stored[p], r);
        } else {
          SmallVector<int64_t> take;
          for (unsigned i = 0; i < run; ++i)
            take.push_back(r + i);
          part = run == table.registers
                     ? stored[p]
                     : vector::ShuffleOp::create(b, loc, stored[p], stored[p], take).getResult();
        }
        OpBuilder::InsertionGuard guard(b);
        if (here) {
          auto branch = scf::IfOp::create(b, loc, here, /*withElseRegion=*/false);
          b.setInsertionPointToStart(branch.thenBlock());
        }
        storeElement(part, pointer, bytes);
      }
      r += run;
    }
    if (isLoad)
      pieces.push_back(build(pieceType(value), elements));
  }
  if (isLoad)
    define(value, pieces);
  return success();
}

LogicalResult LaneLowering::lowerMatrix(Operation *op) {
  if (auto create = dyn_cast<xegpu::CreateMemDescOp>(op)) {
    FailureOr<Matrix> matrix = matrixOf(op, create.getSource());
    if (failed(matrix))
      return failure();
    define(create.getMemDesc(), {matrix->address});
    return success();
  }
  Value descriptor, value;
  SmallVector<OpFoldResult> offsets;
  bool isLoad = isa<xegpu::LoadMatrixOp>(op);
  if (auto load = dyn_cast<xegpu::LoadMatrixOp>(op)) {
    descriptor = load.getMemDesc(), value = load.getRes();
    offsets = load.getMixedOffsets();
  } else {
    auto store = cast<xegpu::StoreMatrixOp>(op);
    descriptor = store.getMemDesc(), value = store.getData();
    offsets = store.getMixedOffsets();
  }
  auto vector = dyn_cast<VectorType>(value.getType());
  auto type = cast<xegpu::MemDescType>(descriptor.getType());
  if (!vector)
    return op->emitOpError("moves what a lane holds; expected a vector of the subgroup, or "
                           "xegpu-op-level=lane");
  Type element = storedType(vector.getElementType());
  if (memoryBits(element) % 8)
    return op->emitOpError("moves elements of ")
           << memoryBits(element) << " bits, expected whole bytes";
  ArrayRef<int64_t> shape = vector.getShape();
  unsigned rank = type.getRank();
  if (shape.size() != rank || offsets.size() != rank)
    return op->emitOpError("has a vector of ")
           << shape.size() << " dimensions and " << offsets.size() << " offsets, expected " << rank
           << " of each, as the mem_desc has";
  Matrix matrix;
  matrix.address = piecesOf(descriptor)[0];
  matrix.space = 3;
  Values starts;
  for (OpFoldResult offset : offsets)
    starts.push_back(getValueOrCreateConstantIndexOp(b, loc, offset));
  const LaneTable &table = tableOf(value);
  SmallVector<int64_t> strides = type.getStrideShape();
  if (strides.size() == rank) {
    for (int64_t stride : strides)
      matrix.strides.push_back(index(stride));
    matrix.offsets = starts;
    auto coordinate = [&](int64_t number, unsigned dim) { return unravel(number, shape)[dim]; };
    if (isLoad)
      define(value, loadLanes(pieceType(value), table, matrix, coordinate, nullptr, nullptr));
    else
      storeLanes(piecesOf(value), element, table, matrix, coordinate, nullptr);
    return success();
  }
  // Blocks one after the other: strides of blocks, then within one.
  SmallVector<int64_t> block = type.getBlockShape();
  if (strides.size() != 2 * rank || block.size() != rank)
    return op->emitOpError("has a mem_desc of type ") << type << ", whose blocks have no strides";
  unsigned bytes = memoryBits(element) / 8;
  Values pieces, stored = isLoad ? Values() : piecesOf(value);
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (unsigned r = 0; r < table.registers; ++r) {
      Value linear = index(0);
      for (unsigned dim = 0; dim < rank; ++dim) {
        SmallVector<int64_t> places;
        for (int64_t number : table.row(p * table.registers + r))
          places.push_back(unravel(number, shape)[dim]);
        Value at = add(starts[dim], laneIndex(places)), side = index(block[dim]);
        Value outer = b.createOrFold<arith::DivUIOp>(loc, at, side),
              inner = b.createOrFold<arith::RemUIOp>(loc, at, side);
        linear = add(linear,
                     add(mul(outer, index(strides[dim])), mul(inner, index(strides[rank + dim]))));
      }
      Value address =
          add(matrix.address,
              b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), mul(linear, index(bytes))));
      Value pointer = pointerTo(address, matrix.space);
      if (isLoad)
        elements.push_back(loadElement(element, pointer, bytes));
      else
        storeElement(this->element(stored[p], r), pointer, bytes);
    }
    if (isLoad)
      pieces.push_back(build(pieceType(value), elements));
  }
  if (isLoad)
    define(value, pieces);
  return success();
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static std::optional<LLVM::AtomicBinOp> nativeAtomic(arith::AtomicRMWKind kind) {
  using Kind = arith::AtomicRMWKind;
  switch (kind) {
  case Kind::addi:
    return LLVM::AtomicBinOp::add;
  case Kind::andi:
    return LLVM::AtomicBinOp::_and;
  case Kind::ori:
    return LLVM::AtomicBinOp::_or;
  case Kind::xori:
    return LLVM::AtomicBinOp::_xor;
  case Kind::maxs:
    return LLVM::AtomicBinOp::max;
  case Kind::maxu:
    return LLVM::AtomicBinOp::umax;
  case Kind::mins:
    return LLVM::AtomicBinOp::min;
  case Kind::minu:
    return LLVM::AtomicBinOp::umin;
  default:
    return std::nullopt;
  }
}

LogicalResult LaneLowering::lowerAtomic(xegpu::AtomicRMWOp op) {
  auto tile = op.getTensorDesc().getType();
  auto vector = cast<VectorType>(op.getValue().getType());
  Type element = storedType(vector.getElementType());
  unsigned bits = memoryBits(element);
  if (bits < 8 || bits > 64 || vector.getShape() != op.getMask().getType().getShape())
    return op.emitOpError("changes ") << vector << " under a mask of " << op.getMask().getType()
                                      << ", expected one element of 8 to 64 bits for each offset";
  arith::AtomicRMWKind kind = op.getKind();
  bool floatKind =
      llvm::is_contained({arith::AtomicRMWKind::addf, arith::AtomicRMWKind::mulf,
                          arith::AtomicRMWKind::maximumf, arith::AtomicRMWKind::minimumf,
                          arith::AtomicRMWKind::maxnumf, arith::AtomicRMWKind::minnumf},
                         kind);
  if (kind != arith::AtomicRMWKind::assign && floatKind != isa<FloatType>(element))
    return op.emitOpError("has the kind ")
           << stringifyAtomicRMWKind(kind) << " on elements of type " << element
           << ", expected one for " << (floatKind ? "integers" : "floats");
  const LaneTable &table = tableOf(op.getResult());
  ArrayRef<Value> all = piecesOf(op.getTensorDesc());
  LaneLayoutAttr natural = LaneMap::natural(vector.getShape(), lanes).attr(b.getContext());
  const LaneTable &offsetTable = tableFor(natural, vector.getShape());
  auto same = [](int64_t number) { return std::pair(0u, number); };
  int64_t registers = table.registers;
  Values places = gather(VectorType::get({registers}, b.getIndexType()), table,
                         {Source{all.drop_front(), offsetTable}}, same);
  unsigned space = tile.getMemorySpace() == xegpu::MemorySpace::SLM ? 3 : 1;
  Values masks = piecesOf(op.getMask()), values = piecesOf(op.getValue()), pieces;
  Type i64 = b.getI64Type(), word = b.getIntegerType(std::max(bits, 32u)),
       narrow = b.getIntegerType(bits);
  auto order = LLVM::AtomicOrdering::monotonic;
  // Lanes that hold the same do it once.
  LaneMap map(layoutOf(op.getResult()));
  uint64_t leaders = (uint64_t(1) << lanes) - 1;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (auto [bit, step] : llvm::enumerate(map.lanes))
      if ((lane >> bit & 1) && llvm::all_of(step, [](int64_t at) { return at == 0; }))
        leaders &= ~(uint64_t(1) << lane);
  bool shared = leaders != (uint64_t(1) << lanes) - 1;
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (int64_t r = 0; r < registers; ++r) {
      Value address =
          add(all[0], arith::IndexCastOp::create(
                          b, loc, i64, mul(this->element(places[p], r), index(bits / 8))));
      Value mask = this->element(masks[p], r), value = this->element(values[p], r);
      if (shared)
        mask = arith::AndIOp::create(b, loc, mask, laneIn(leaders));
      auto branch = scf::IfOp::create(b, loc, TypeRange(element), mask, /*withElse=*/true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.elseBlock());
        scf::YieldOp::create(b, loc,
                             arith::ConstantOp::create(b, loc, b.getZeroAttr(element)).getResult());
        b.setInsertionPointToStart(branch.thenBlock());
        Value old;
        std::optional<LLVM::AtomicBinOp> native = nativeAtomic(kind);
        if (native && bits >= 32 && !element.isIndex()) {
          old = LLVM::AtomicRMWOp::create(b, loc, *native, pointerTo(address, space), value, order,
                                          "device");
        } else {
          // Compare and exchange until nobody was faster; parts of words within their word.
          Value pointer, shift;
          if (bits < 32) {
            Value low = arith::AndIOp::create(b, loc, address, constant(i64, 3));
            pointer = pointerTo(arith::SubIOp::create(b, loc, address, low), space);
            shift = arith::MulIOp::create(b, loc, arith::TruncIOp::create(b, loc, word, low),
                                          constant(word, 8));
          } else {
            pointer = pointerTo(address, space);
          }
          auto unpack = [&](Value whole) -> Value {
            Value part = whole;
            if (bits < 32)
              part = arith::TruncIOp::create(b, loc, narrow,
                                             arith::ShRUIOp::create(b, loc, whole, shift));
            if (element.isIndex())
              return arith::IndexCastOp::create(b, loc, element, part);
            return isa<FloatType>(element)
                       ? arith::BitcastOp::create(b, loc, element, part).getResult()
                       : part;
          };
          auto pack = [&](Value part, Value whole) -> Value {
            if (element.isIndex())
              part = arith::IndexCastOp::create(b, loc, i64, part);
            else if (isa<FloatType>(element))
              part = arith::BitcastOp::create(b, loc, narrow, part);
            if (bits >= 32)
              return part;
            Value ones = constant(word, (int64_t(1) << bits) - 1);
            Value hole = arith::ShLIOp::create(b, loc, ones, shift);
            Value keep = arith::XOrIOp::create(b, loc, hole, constant(word, -1));
            Value others = arith::AndIOp::create(b, loc, whole, keep);
            Value moved =
                arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, word, part), shift);
            return arith::OrIOp::create(b, loc, others, moved);
          };
          Value first = LLVM::LoadOp::create(b, loc, word, pointer, bits < 32 ? 4 : bits / 8);
          auto loop = scf::WhileOp::create(b, loc, TypeRange(word), ValueRange(first));
          OpBuilder::InsertionGuard inner(b);
          Block *before = b.createBlock(&loop.getBefore(), {}, TypeRange(word), {loc});
          Value seen = before->getArgument(0), current = unpack(seen), next;
          if (kind == arith::AtomicRMWKind::assign)
            next = value;
          else
            next = arith::getReductionOp(kind, b, loc, current, value);
          auto swap = LLVM::AtomicCmpXchgOp::create(b, loc, pointer, seen, pack(next, seen), order,
                                                    order, "device");
          Value found = LLVM::ExtractValueOp::create(b, loc, swap, ArrayRef<int64_t>{0});
          Value done = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, found, seen);
          Value again = arith::XOrIOp::create(b, loc, done, constant(b.getI1Type(), 1));
          scf::ConditionOp::create(b, loc, again, ValueRange(found));
          Block *after = b.createBlock(&loop.getAfter(), {}, TypeRange(word), {loc});
          scf::YieldOp::create(b, loc, ValueRange(after->getArgument(0)));
          b.setInsertionPointAfter(loop);
          old = unpack(loop.getResult(0));
          scf::YieldOp::create(b, loc, old);
          old = {};
        }
        if (old)
          scf::YieldOp::create(b, loc, old);
      }
      Value result = branch.getResult(0);
      if (shared && !op.getResult().use_empty()) {
        SmallVector<int64_t> table;
        for (unsigned lane = 0; lane < lanes; ++lane) {
          unsigned leader = lane;
          for (auto [bit, step] : llvm::enumerate(map.lanes))
            if (llvm::all_of(step, [](int64_t at) { return at == 0; }))
              leader &= ~(1u << bit);
          table.push_back(leader);
        }
        result = shuffle(result, table);
      }
      elements.push_back(result);
    }
    pieces.push_back(build(pieceType(op.getResult()), elements));
  }
  define(op.getResult(), pieces);
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
      .Case([&](vector::TransferReadOp read) { return lowerTransferRead(read); })
      .Case([&](vector::TransferWriteOp write) { return lowerTransferWrite(write); })
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
