//===- LaneRules.cpp - how operations tie the lanes of their vectors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: operations on vectors of a subgroup, maps of some of these. Out: maps of the others that cost
// no instruction. Refused: layouts that do not fit.
#include "xetile/Target/Xe/Lanes/LaneRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/IR/XeTileTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

static SmallVector<bool> marked(unsigned rank, ArrayRef<int64_t> dims) {
  SmallVector<bool> marks(rank, false);
  for (int64_t dim : dims)
    marks[dim] = true;
  return marks;
}

static SmallVector<bool> leading(unsigned rank, unsigned count) {
  SmallVector<bool> marks(rank, false);
  std::fill_n(marks.begin(), count, true);
  return marks;
}

bool xetile::isElementwise(Operation *op) {
  return (OpTrait::hasElementwiseMappableTraits(op) || isa<vector::FMAOp>(op)) &&
         op->getNumResults() == 1;
}

bool xetile::isFreeOfLanes(Operation *op) {
  if (isa<arith::ConstantOp, ub::PoisonOp, vector::StepOp, vector::ConstantMaskOp,
          vector::CreateMaskOp, vector::FromElementsOp>(op))
    return true;
  auto broadcast = dyn_cast<vector::BroadcastOp>(op);
  return broadcast && !isa<VectorType>(broadcast.getSourceType());
}

/// Source elements over result elements along the last dimension: above 1, below -1.
static int bitcastRatio(vector::BitCastOp op) {
  int64_t from = memoryBits(op.getSourceVectorType().getElementType());
  int64_t to = memoryBits(op.getResultVectorType().getElementType());
  return from >= to ? int(from / to) : -int(to / from);
}

std::optional<LaneMap> xetile::mapOfResult(Operation *op, unsigned operand, const LaneMap &map) {
  using Maybe = std::optional<LaneMap>;
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case([&](vector::TransposeOp transpose) -> Maybe {
        return map.transposed(transpose.getPermutation());
      })
      .Case([&](vector::BroadcastOp broadcast) -> Maybe {
        return map.broadcast(shapeOf(broadcast.getSource()), shapeOf(broadcast.getResult()));
      })
      .Case([&](vector::ShapeCastOp cast) -> Maybe {
        return map.reshaped(shapeOf(cast.getSource()), shapeOf(cast.getResult()));
      })
      .Case([&](vector::BitCastOp cast) -> Maybe {
        int ratio = bitcastRatio(cast);
        return ratio > 0 ? Maybe(map.split(ratio)) : map.joined(-ratio);
      })
      .Case([&](vector::MultiDimReductionOp reduction) -> Maybe {
        if (operand != 0)
          return map;
        return map.dropped(marked(map.rank(), reduction.getReductionDims()));
      })
      .Case([&](vector::ExtractOp extract) -> Maybe {
        return map.dropped(leading(map.rank(), extract.getNumIndices()));
      })
      .Case([&](vector::InsertOp insert) -> Maybe {
        if (operand == insert.getDestMutable().getOperandNumber())
          return map;
        return isa<VectorType>(insert.getValueToStoreType())
                   ? Maybe(map.prepended(insert.getNumIndices()))
                   : std::nullopt;
      })
      .Case([&](vector::ExtractStridedSliceOp slice) -> Maybe {
        return map.trimmed(shapeOf(slice.getResult()));
      })
      .Case([&](vector::InsertStridedSliceOp insert) -> Maybe {
        ArrayRef<int64_t> shape = shapeOf(insert.getResult());
        return operand == 1 ? map : map.prepended(shape.size() - map.rank()).trimmed(shape);
      })
      .Case([&](vector::InterleaveOp) -> Maybe { return map.split(2); })
      .Case([&](vector::DeinterleaveOp) -> Maybe { return map.joined(2); })
      .Case([&](vector::ShuffleOp shuffle) -> Maybe {
        return map.trimmed(shapeOf(shuffle.getResult()));
      })
      .Default([](Operation *) -> Maybe { return std::nullopt; });
}

std::optional<LaneMap> xetile::mapOfOperand(Operation *op, unsigned operand, const LaneMap &map) {
  using Maybe = std::optional<LaneMap>;
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case([&](vector::TransposeOp transpose) -> Maybe {
        return map.transposed(invertPermutationVector(transpose.getPermutation()));
      })
      .Case([&](vector::BroadcastOp broadcast) -> Maybe {
        auto source = dyn_cast<VectorType>(broadcast.getSourceType());
        if (!source)
          return std::nullopt;
        LaneMap kept = map.dropped(leading(map.rank(), map.rank() - source.getRank()));
        SmallVector<bool> flat;
        for (int64_t size : source.getShape())
          flat.push_back(size == 1);
        return kept.flattened(flat);
      })
      .Case([&](vector::ShapeCastOp cast) -> Maybe {
        return map.reshaped(shapeOf(cast.getResult()), shapeOf(cast.getSource()));
      })
      .Case([&](vector::BitCastOp cast) -> Maybe {
        int ratio = bitcastRatio(cast);
        return ratio > 0 ? map.joined(ratio) : Maybe(map.split(-ratio));
      })
      .Case([&](vector::MultiDimReductionOp) -> Maybe {
        return operand == 1 ? Maybe(map) : std::nullopt;
      })
      .Case([&](vector::ExtractOp extract) -> Maybe {
        return map.prepended(extract.getNumIndices());
      })
      .Case([&](vector::InsertOp insert) -> Maybe {
        if (operand == insert.getDestMutable().getOperandNumber())
          return map;
        return map.dropped(leading(map.rank(), insert.getNumIndices()));
      })
      .Case([&](vector::ExtractStridedSliceOp slice) -> Maybe {
        return map.trimmed(shapeOf(slice.getSource()));
      })
      .Case([&](vector::InsertStridedSliceOp insert) -> Maybe {
        if (operand == 1)
          return map;
        ArrayRef<int64_t> shape = shapeOf(insert.getValueToStore());
        return map.dropped(leading(map.rank(), map.rank() - shape.size())).trimmed(shape);
      })
      .Case([&](vector::InterleaveOp) -> Maybe { return map.joined(2); })
      .Case([&](vector::DeinterleaveOp) -> Maybe { return map.split(2); })
      .Case(
          [&](vector::ShuffleOp) -> Maybe { return map.trimmed(shapeOf(op->getOperand(operand))); })
      .Default([](Operation *) -> Maybe { return std::nullopt; });
}

// Of all devices that have XeGPU's block accesses.
static constexpr int64_t kBlockLanes = 16;

bool xetile::feedsDpasB(Value value) {
  SmallVector<Value> pending{value};
  for (unsigned steps = 0; !pending.empty() && steps < 64; ++steps) {
    Value next = pending.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      Operation *user = use.getOwner();
      if (auto dpas = dyn_cast<xegpu::DpasOp>(user); dpas && dpas.getRhs() == next)
        return true;
      // Rows of shared memory in which a lane has 32 bits of several elements.
      auto store = dyn_cast<xegpu::StoreMatrixOp>(user);
      if (store && store.getSubgroupBlockIo()) {
        auto vector = cast<VectorType>(next.getType());
        unsigned bits = memoryBits(vector.getElementType());
        if (bits < 32 && vector.getShape().back() * bits == 32 * kBlockLanes)
          return true;
      }
      // Columns of it, which a lane has in words.
      if (store &&
          mapOfBlockColumns(store.getMemDesc(), cast<VectorType>(next.getType()), kBlockLanes))
        return true;
      if (isa<vector::ExtractOp, vector::ExtractStridedSliceOp, vector::ShapeCastOp,
              vector::BitCastOp, vector::TransposeOp>(user))
        llvm::append_range(pending, user->getResults());
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Layouts that users give
//===----------------------------------------------------------------------===//

static Result<LaneMap> mapOfSlice(xegpu::SliceAttr slice, ArrayRef<int64_t> shape,
                                  unsigned subgroupSize) {
  // The parent describes a vector of more dimensions; how long these are does not matter.
  xegpu::DistributeLayoutAttr parent = slice.getParent();
  SmallVector<int64_t> dims(slice.getDims().asArrayRef());
  SmallVector<int64_t> laneLayout = parent.getEffectiveLaneLayoutAsInt(),
                       laneData = parent.getEffectiveLaneDataAsInt();
  if (int64_t(shape.size() + dims.size()) != parent.getRank() || laneLayout.empty())
    return Error("has a layout of " + llvm::Twine(parent.getRank()) + " dimensions without the " +
                 llvm::Twine(dims.size()) + " of its slice, expected the vector's " +
                 llvm::Twine(shape.size()));
  SmallVector<int64_t> whole;
  unsigned at = 0;
  for (int64_t dim = 0; dim < parent.getRank(); ++dim)
    whole.push_back(llvm::is_contained(dims, dim)
                        ? laneLayout[dim] * (laneData.empty() ? 1 : laneData[dim])
                        : shape[at++]);
  Result<LaneMap> map = mapOfLayout(parent, whole, subgroupSize);
  if (!map)
    return map;
  return map->dropped(marked(whole.size(), dims));
}

Result<LaneMap> xetile::mapOfLayout(xegpu::DistributeLayoutAttr layout, ArrayRef<int64_t> shape,
                                    unsigned subgroupSize) {
  if (auto slice = dyn_cast<xegpu::SliceAttr>(layout))
    return mapOfSlice(slice, shape, subgroupSize);
  SmallVector<int64_t> laneLayout = layout.getEffectiveLaneLayoutAsInt(),
                       laneData = layout.getEffectiveLaneDataAsInt();
  unsigned rank = shape.size();
  if (laneLayout.size() != rank)
    return Error("has a layout of " + llvm::Twine(laneLayout.size()) +
                 " dimensions, expected the vector's " + llvm::Twine(rank));
  if (laneData.empty())
    laneData.assign(rank, 1);
  int64_t lanes = llvm::product_of(laneLayout);
  if (lanes != int64_t(subgroupSize))
    return Error("has a lane_layout of " + llvm::Twine(lanes) + " lanes, expected the " +
                 llvm::Twine(subgroupSize) + " of a subgroup");
  LaneMap map;
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t unit = laneLayout[dim] * laneData[dim];
    if (!llvm::isPowerOf2_64(laneLayout[dim]) || !llvm::isPowerOf2_64(laneData[dim]) ||
        shape[dim] % unit)
      return Error("has a layout whose lane_layout times lane_data is " + llvm::Twine(unit) +
                   " along dimension " + llvm::Twine(dim) +
                   ", expected powers of two whose product divides " + llvm::Twine(shape[dim]));
    map.block.push_back(unit);
  }
  auto step = [&](unsigned dim, int64_t size) {
    LaneMap::Shape result(rank, 0);
    result[dim] = size;
    return result;
  };
  for (unsigned dim = rank; dim-- > 0;)
    for (int64_t at = 1; at < laneData[dim]; at *= 2)
      map.registers.push_back(step(dim, at));
  SmallVector<int64_t> order;
  if (DenseI32ArrayAttr given = layout.getOrder())
    llvm::append_range(order, given.asArrayRef());
  if (order.size() != rank) {
    order.clear();
    for (unsigned dim = rank; dim-- > 0;)
      order.push_back(dim);
  }
  for (int64_t dim : order)
    for (int64_t at = 1; at < laneLayout[dim]; at *= 2)
      map.lanes.push_back(step(dim, at * laneData[dim]));
  // Rows of a block in one piece, as messages bring them.
  if (rank >= 2)
    for (int64_t &side = map.block[rank - 2];
         map.numRegisters() < 8 && shape[rank - 2] % (side * 2) == 0; side *= 2)
      map.registers.push_back(step(rank - 2, side));
  return map;
}

std::optional<LaneMap> xetile::mapOfBlockRows(xegpu::MemDescType memory, VectorType vector,
                                              unsigned subgroupSize) {
  if (memory.getRank() != 2 || vector.getRank() != 2 || memory.getMemLayout() ||
      memory.getShape()[1] != vector.getDimSize(1))
    return std::nullopt;
  int64_t columns = vector.getDimSize(1), perLane = columns / int64_t(subgroupSize);
  unsigned bits = memoryBits(vector.getElementType());
  if (columns % int64_t(subgroupSize) || !llvm::isPowerOf2_64(perLane) ||
      !llvm::is_contained({8u, 16u, 32u}, unsigned(perLane) * bits))
    return std::nullopt;
  LaneMap map;
  for (int64_t step = 1; step < perLane; step *= 2)
    map.registers.push_back({0, step});
  int64_t rows = vector.getDimSize(0) & -vector.getDimSize(0);
  for (int64_t step = 1; step < rows; step *= 2)
    map.registers.push_back({step, 0});
  for (int64_t lane = 1; lane < int64_t(subgroupSize); lane *= 2)
    map.lanes.push_back({0, lane * perLane});
  map.block = {rows, columns};
  return map;
}

/// True for shared memory that begins at a whole word.
static bool beginsAtWord(Value memory) {
  auto descriptor = memory.getDefiningOp<xegpu::CreateMemDescOp>();
  auto buffer = descriptor ? descriptor.getSource().getDefiningOp<memref::GetGlobalOp>() : nullptr;
  auto global =
      buffer ? SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(buffer, buffer.getNameAttr())
             : nullptr;
  return global && global.getAlignment().value_or(1) % 4 == 0;
}

std::optional<LaneMap> xetile::mapOfBlockColumns(Value memory, VectorType vector,
                                                 unsigned subgroupSize) {
  auto type = cast<xegpu::MemDescType>(memory.getType());
  if (type.getRank() != 2 || vector.getRank() != 2 || !type.getMemLayout() ||
      !type.getBlockAttr().empty())
    return std::nullopt;
  int64_t rows = vector.getDimSize(0), columns = vector.getDimSize(1);
  int64_t bits = rows * memoryBits(vector.getElementType());
  Builder builder(memory.getContext());
  if (type.getStrideAttr() != builder.getI64ArrayAttr({1, rows}) || type.getShape()[0] != rows ||
      !llvm::isPowerOf2_64(rows) || !llvm::is_contained({32, 64, 128, 256}, bits) ||
      columns % int64_t(subgroupSize) || !beginsAtWord(memory))
    return std::nullopt;
  LaneMap map;
  for (int64_t step = 1; step < rows; step *= 2)
    map.registers.push_back({step, 0});
  for (int64_t lane = 1; lane < int64_t(subgroupSize); lane *= 2)
    map.lanes.push_back({0, lane});
  map.block = {rows, int64_t(subgroupSize)};
  return map;
}

bool xetile::haveSameRegisters(const LaneMap &left, const LaneMap &right, ArrayRef<int64_t> shape,
                               unsigned subgroupSize) {
  LaneTable first(left, shape, subgroupSize), second(right, shape, subgroupSize);
  if (first.flatRegisters() != second.flatRegisters())
    return false;
  for (unsigned flat = 0; flat < first.flatRegisters(); ++flat)
    if (first.row(flat) != second.row(flat))
      return false;
  return true;
}

bool xetile::haveSameLanes(const LaneMap &left, const LaneMap &right, ArrayRef<int64_t> shape,
                           unsigned subgroupSize) {
  LaneTable first(left, shape, subgroupSize), second(right, shape, subgroupSize);
  for (int64_t element = 0, end = llvm::product_of(shape); element < end; ++element)
    for (unsigned lane = 0; lane < subgroupSize; ++lane)
      if ((first.find(element, lane) >= 0) != (second.find(element, lane) >= 0))
        return false;
  return true;
}

std::array<int64_t, 2> xetile::cellInTile(VectorType vector, xegpu::TensorDescType tile,
                                          bool transpose, bool packed, int64_t element) {
  LaneMap::Shape at = unravel(element, vector.getShape());
  if (tile.getRank() == 1)
    return {0, element};
  if (packed) {
    // [blocks, ] rows / f, columns, f
    unsigned rank = at.size();
    int64_t factor = vector.getDimSize(rank - 1), block = rank == 4 ? at[0] : 0;
    return {at[rank - 3] * factor + at[rank - 1], block * tile.getDimSize(1) + at[rank - 2]};
  }
  int64_t block = at.size() == 3 ? at[0] : 0;
  int64_t row = at[at.size() - 2], column = at[at.size() - 1];
  if (transpose)
    std::swap(row, column);
  return {row, block * tile.getDimSize(1) + column};
}

void xetile::annotateLanes(Operation *module, const DenseMap<Value, LaneLayoutAttr> &layouts) {
  MLIRContext *context = module->getContext();
  auto list = [&](ValueRange values) -> ArrayAttr {
    SmallVector<Attribute> attrs;
    bool any = false;
    for (Value value : values) {
      any |= isa<VectorType>(value.getType());
      attrs.push_back(isa<VectorType>(value.getType()) ? Attribute(layouts.lookup(value))
                                                       : UnitAttr::get(context));
    }
    return any ? ArrayAttr::get(context, attrs) : ArrayAttr();
  };
  module->walk([&](Operation *op) {
    if (ArrayAttr results = list(op->getResults()))
      op->setAttr(lanesAttr, results);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      if (ArrayAttr arguments = list(loop.getBeforeArguments()))
        op->setAttr(laneArgsAttr, arguments);
    if (auto function = dyn_cast<FunctionOpInterface>(op); function && !function.isExternal())
      if (ArrayAttr arguments = list(function.getArguments()))
        op->setAttr(laneArgsAttr, arguments);
  });
}
