//===- LaneScattered.cpp - offsets of each lane, matrices in shared memory ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: load and store with offsets, load_matrix and store_matrix. Out: loads and stores of each
// lane, whole chunks together. Refused: what lanes hold instead of what a subgroup does, elements
// that are no whole bytes, offsets that do not fit the mask or the matrix.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

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
  if (strides.size() != 2 * size_t(rank) || block.size() != rank)
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
