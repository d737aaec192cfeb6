//===- SimtMemory.cpp - chunks of tiles from and to memory -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tiles of matrices in memory. Out: loads and stores of 16 bytes where elements are adjacent
// and known to begin at a multiple of them, of what is inside of the matrix; element by element
// where a chunk crosses an edge. Refused: nothing; SimtPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/SimtWriter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

namespace {

constexpr int64_t kMostAligned = 16;

/// The greatest power of two, of at most 16, that a number is known to be a multiple of.
int64_t factorOf(OpFoldResult number) {
  auto ofNumber = [](int64_t known) {
    return known == 0 ? kMostAligned : std::min(kMostAligned, known & -known);
  };
  if (std::optional<int64_t> known = getConstantIntValue(number))
    return ofNumber(*known);
  Operation *op = cast<Value>(number).getDefiningOp();
  if (isa_and_present<arith::AddIOp, arith::SubIOp, arith::MinUIOp>(op))
    return std::min(factorOf(op->getOperand(0)), factorOf(op->getOperand(1)));
  if (isa_and_present<arith::MulIOp>(op))
    return std::min(kMostAligned, factorOf(op->getOperand(0)) * factorOf(op->getOperand(1)));
  if (auto loop = dyn_cast<scf::ForOp>(cast<Value>(number).getParentBlock()->getParentOp());
      !op && loop && number == OpFoldResult(loop.getInductionVar()))
    return std::min(factorOf(loop.getLowerBound()), factorOf(loop.getStep()));
  return 1;
}

int64_t bytesOf(MemRefType type) { return std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1); }

/// Bytes that the first element of a matrix is at a multiple of: arguments begin at one of 16.
int64_t alignmentOf(Value matrix) {
  auto type = cast<MemRefType>(matrix.getType());
  if (isa<BlockArgument>(matrix))
    return type.getLayout().isIdentity() ? kMostAligned : bytesOf(type);
  Operation *op = matrix.getDefiningOp();
  if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::TransposeOp, memref::CastOp>(op))
    return alignmentOf(op->getOperand(0));
  auto view = dyn_cast<memref::SubViewOp>(op);
  if (!view)
    return bytesOf(type);
  int64_t alignment = alignmentOf(view.getSource()), offset;
  SmallVector<int64_t> strides;
  if (failed(view.getSourceType().getStridesAndOffset(strides, offset)))
    return bytesOf(type);
  for (auto [place, stride] : llvm::zip_equal(view.getMixedOffsets(), strides)) {
    int64_t steps = ShapedType::isDynamic(stride) ? 1 : factorOf(Builder(op).getIndexAttr(stride));
    if (!isConstantIntValue(place, 0))
      alignment = std::min(alignment, factorOf(place) * steps * bytesOf(type));
  }
  return alignment;
}

/// The greatest value of an index that is never negative, where that is known.
std::optional<int64_t> mostOf(OpFoldResult number) {
  if (std::optional<int64_t> known = getConstantIntValue(number))
    return *known < 0 ? std::nullopt : known;
  auto value = cast<Value>(number);
  Operation *op = value.getDefiningOp();
  if (auto id = dyn_cast_if_present<gpu::BlockIdOp>(op)) {
    auto function = id->getParentOfType<gpu::GPUFuncOp>();
    std::optional<ArrayRef<int32_t>> grid = function.getKnownGridSize();
    return grid ? std::optional<int64_t>((*grid)[size_t(id.getDimension())] - 1) : std::nullopt;
  }
  if (isa_and_present<arith::AddIOp, arith::MulIOp>(op)) {
    std::optional<int64_t> l = mostOf(op->getOperand(0)), r = mostOf(op->getOperand(1));
    if (!l || !r)
      return std::nullopt;
    return isa<arith::AddIOp>(op) ? *l + *r : *l * *r;
  }
  auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
  if (op || !loop || value != loop.getInductionVar())
    return std::nullopt;
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound()),
                         by = getConstantIntValue(loop.getStep());
  if (!from || !to || !by || *from < 0 || *to <= *from)
    return std::nullopt;
  return *from + (*to - 1 - *from) / *by * *by;
}

} // namespace

std::optional<int64_t> xetile::hopper::alignedElements(InitTileOp init, bool oneRow) {
  auto type = cast<MemRefType>(init.getSource().getType());
  SmallVector<OpFoldResult> offsets = init.getMixedOffsets();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides[1] != 1)
    return std::nullopt;
  if (ShapedType::isDynamic(strides[0]))
    return 1;
  int64_t ofRow = oneRow && isConstantIntValue(offsets[0], 0)
                      ? kMostAligned
                      : factorOf(Builder(init).getIndexAttr(strides[0]));
  return std::min({ofRow, factorOf(offsets[1]), alignmentOf(init.getSource()) / bytesOf(type)});
}

SimtWriter::Where SimtWriter::whereOf(InitTileOp init, ArrayRef<int64_t> shape) {
  Where where;
  where.matrix = init.getSource();
  auto type = cast<MemRefType>(where.matrix.getType());
  SmallVector<OpFoldResult> offsets = init.getMixedOffsets();
  where.row = offsets[0];
  where.column = offsets[1];
  where.oneRow = shape[0] == 1;
  where.oneColumn = shape[1] == 1;
  for (unsigned dim : {0, 1}) {
    std::optional<int64_t> most = mostOf(offsets[dim]);
    where.mayBeBefore[dim] = !most;
    where.areInside[dim] =
        most && !type.isDynamicDim(dim) && *most + shape[dim] <= type.getDimSize(dim);
  }
  std::optional<int64_t> elements = alignedElements(init, where.oneRow);
  where.isAdjacent = elements.has_value();
  where.alignment =
      bytesOf(type) *
      std::min(elements.value_or(1), plan.width == 0 ? int64_t(1) : (plan.width & -plan.width));
  return where;
}

/// Row and column of a chunk's first element, in the matrix.
std::pair<Value, Value> SimtWriter::placeOf(const Where &where, size_t chunk) {
  auto sum = [&](OpFoldResult of, Value own, bool isOne) -> Value {
    Value from = arith::ConstantIndexOp::create(b, 0);
    if (std::optional<int64_t> known = getConstantIntValue(of))
      from = arith::ConstantIndexOp::create(b, *known);
    else
      from = cast<Value>(of);
    return isOne ? from : b.createOrFold<arith::AddIOp>(from, toIndex(own));
  };
  return {sum(where.row, rowOf[chunk], where.oneRow),
          sum(where.column, columnOf[chunk], where.oneColumn)};
}

/// True where `at` and `last` more are within the matrix; null if that is known.
Value SimtWriter::isWithin(const Where &where, Value at, unsigned dim, int64_t last) {
  if (where.areInside[dim])
    return {};
  Value size = sizeOf(where.matrix, dim);
  auto isThere = [&](Value place) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place, size);
  };
  if (last == 0)
    return isThere(at);
  Value end = isThere(b.createOrFold<arith::AddIOp>(at, arith::ConstantIndexOp::create(b, last)));
  // The first may be before the matrix where the last is not.
  return where.mayBeBefore[dim] ? arith::AndIOp::create(b, end, isThere(at)).getResult() : end;
}

/// True where this thread has a chunk of that number; null if all have.
Value SimtWriter::hasChunk(size_t chunk) {
  if (plan.isEven() || int64_t(chunk + 1) * plan.threads <= plan.allChunks())
    return {};
  return isBelow(add(thread, int64_t(chunk) * plan.threads), number(plan.allChunks()));
}

static Value both(OpBuilder &b, Location loc, Value l, Value r) {
  return l && r ? arith::AndIOp::create(b, loc, l, r).getResult() : l ? l : r;
}

/// One of two values; `yes` where the condition is null.
Value SimtWriter::choose(Value condition, Type type, llvm::function_ref<Value()> yes,
                         llvm::function_ref<Value()> no) {
  if (!condition)
    return yes();
  auto branch = scf::IfOp::create(b, TypeRange{type}, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, yes());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, no());
  return branch.getResult(0);
}

SimtWriter::Chunks SimtWriter::load(LoadTileOp load) {
  auto type = cast<VectorType>(load.getValue().getType());
  Where where = whereOf(load.getTile().getDefiningOp<InitTileOp>(), type.getShape());
  Type element = type.getElementType();
  auto whole = chunkType(element);
  TypedAttr padding = load.getPaddingAttr() ? cast<TypedAttr>(load.getPaddingAttr())
                                            : cast<TypedAttr>(b.getZeroAttr(element));
  Chunks made;
  for (size_t chunk = 0; chunk < size_t(plan.chunks()); ++chunk) {
    if (size_t first = firstOfSame(type, chunk); first != chunk) {
      made.push_back(made[first]);
      continue;
    }
    std::pair<Value, Value> place = placeOf(where, chunk);
    Value row = place.first, column = place.second;
    Value inRows = both(b, b.getLoc(), isWithin(where, row, 0, 0), hasChunk(chunk));
    auto outside = [&]() -> Value { return arith::ConstantOp::create(b, padding); };
    auto one = [&](Value at) {
      return choose(
          both(b, b.getLoc(), inRows, isWithin(where, at, 1, 0)), element,
          [&]() -> Value {
            return LLVM::LoadOp::create(
                b, element, elementOf(where.matrix, row, at),
                unsigned(bytesOf(cast<MemRefType>(where.matrix.getType()))));
          },
          outside);
    };
    if (where.oneColumn) {
      made.push_back(splat(one(column)));
      continue;
    }
    auto byElement = [&]() -> Value {
      SmallVector<Value> elements;
      for (int64_t at = 0; at < plan.width; ++at)
        elements.push_back(
            one(at ? b.createOrFold<arith::AddIOp>(column, arith::ConstantIndexOp::create(b, at))
                   : column));
      return pack(elements);
    };
    if (!where.isAdjacent) {
      made.push_back(byElement());
      continue;
    }
    Value isWhole = both(b, b.getLoc(), inRows, isWithin(where, column, 1, plan.width - 1));
    made.push_back(choose(
        isWhole, whole,
        [&]() -> Value {
          return LLVM::LoadOp::create(b, whole, elementOf(where.matrix, row, column),
                                      unsigned(where.alignment));
        },
        byElement));
  }
  return made;
}

void SimtWriter::store(StoreTileOp store) {
  auto type = cast<VectorType>(store.getValue().getType());
  Where where = whereOf(store.getTile().getDefiningOp<InitTileOp>(), type.getShape());
  int64_t bytes = bytesOf(cast<MemRefType>(where.matrix.getType()));
  Chunks values = chunksOf(store.getValue());
  auto maybe = [&](Value condition, llvm::function_ref<void()> body) {
    if (condition)
      onlyIf(condition, body);
    else
      body();
  };
  for (auto [chunk, value] : llvm::enumerate(values)) {
    auto [row, column] = placeOf(where, chunk);
    // Of a row or column that is repeated, one is stored.
    Value has = hasChunk(chunk);
    if (where.oneRow && plan.rows > 1)
      has = both(b, b.getLoc(), has, isEqual(rowOf[chunk], number(0)));
    if (where.oneColumn && plan.columns > 1)
      has = both(b, b.getLoc(), has, isEqual(columnOf[chunk], number(0)));
    Value inRows = both(b, b.getLoc(), has, isWithin(where, row, 0, 0));
    auto one = [&, value = value, row = row](Value at, int64_t element) {
      maybe(both(b, b.getLoc(), inRows, isWithin(where, at, 1, 0)), [&] {
        LLVM::StoreOp::create(b, part(value, element), elementOf(where.matrix, row, at),
                              unsigned(bytes));
      });
    };
    if (where.oneColumn) {
      one(column, 0);
      continue;
    }
    auto byElement = [&, column = column] {
      for (int64_t at = 0; at < plan.width; ++at)
        one(at ? b.createOrFold<arith::AddIOp>(column, arith::ConstantIndexOp::create(b, at))
               : column,
            at);
    };
    auto together = [&, value = value, row = row, column = column] {
      LLVM::StoreOp::create(b, value, elementOf(where.matrix, row, column),
                            unsigned(where.alignment));
    };
    if (!where.isAdjacent) {
      byElement();
      continue;
    }
    Value fits = isWithin(where, column, 1, plan.width - 1);
    maybe(inRows, [&] {
      if (!fits)
        return together();
      auto branch = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      together();
      b.setInsertionPointToStart(branch.elseBlock());
      byElement();
    });
  }
}

/// Where an element of a scattered tile is.
Value SimtWriter::scattered(InitTileOp init, Value index) {
  int64_t bytes = std::max<int64_t>(init.getTile().getType().getElementTypeBitWidth() / 8, 1);
  auto mul = [&](Value l, Value r) -> Value { return arith::MulIOp::create(b, l, r); };
  Value at = arith::IndexCastOp::create(b, b.getI64Type(), index);
  at = arith::AddIOp::create(b, init.getSource(), mul(at, wide(bytes)));
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1), at);
}

/// One load for each element that is there and wanted.
SimtWriter::Chunks SimtWriter::gather(LoadGatherOp load) {
  auto init = load.getTile().getDefiningOp<InitTileOp>();
  auto type = cast<VectorType>(load.getValue().getType());
  Type element = type.getElementType();
  TypedAttr padding = load.getPaddingAttr() ? cast<TypedAttr>(load.getPaddingAttr())
                                            : cast<TypedAttr>(b.getZeroAttr(element));
  Chunks indices = chunksOf(init.getIndices()), masks = chunksOf(load.getMask()), made;
  int64_t bytes = std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
  for (size_t chunk = 0; chunk < indices.size(); ++chunk) {
    if (size_t first = firstOfSame(type, chunk); first != chunk) {
      made.push_back(made[first]);
      continue;
    }
    SmallVector<Value> elements;
    for (int64_t at = 0; at < (type.getDimSize(1) == 1 ? 1 : plan.width); ++at)
      elements.push_back(choose(
          both(b, b.getLoc(), part(masks[chunk], at), hasChunk(chunk)), element,
          [&]() -> Value {
            return LLVM::LoadOp::create(b, element, scattered(init, part(indices[chunk], at)),
                                        unsigned(bytes));
          },
          [&]() -> Value { return arith::ConstantOp::create(b, padding); }));
    made.push_back(elements.size() == 1 ? splat(elements.front()) : pack(elements));
  }
  return made;
}

void SimtWriter::forEachScattered(TypedValue<TileType> tile, Value mask, Value value,
                                  llvm::function_ref<void(Value, Value)> write) {
  auto init = tile.getDefiningOp<InitTileOp>();
  ArrayRef<int64_t> shape = tile.getType().getShape();
  Chunks values = chunksOf(value), indices = chunksOf(init.getIndices()), masks = chunksOf(mask);
  bool oneRow = shape[0] == 1, oneColumn = shape[1] == 1;
  for (auto [chunk, part_] : llvm::enumerate(values)) {
    Value has = hasChunk(chunk);
    if (oneRow && plan.rows > 1)
      has = both(b, b.getLoc(), has, isEqual(rowOf[chunk], number(0)));
    if (oneColumn && plan.columns > 1)
      has = both(b, b.getLoc(), has, isEqual(columnOf[chunk], number(0)));
    for (int64_t at = 0; at < (oneColumn ? 1 : plan.width); ++at)
      onlyIf(both(b, b.getLoc(), has, part(masks[chunk], at)), [&, chunk = chunk, part_ = part_] {
        write(scattered(init, part(indices[chunk], at)), part(part_, at));
      });
  }
}

void SimtWriter::scatter(StoreScatterOp store) {
  unsigned bits = store.getValue().getType().getElementTypeBitWidth();
  forEachScattered(store.getTile(), store.getMask(), store.getValue(),
                   [&](Value address, Value value) {
                     LLVM::StoreOp::create(b, value, address, std::max(bits / 8, 1u));
                   });
}

std::optional<LLVM::AtomicBinOp> xetile::hopper::atomicOf(arith::AtomicRMWKind kind) {
  using Kind = arith::AtomicRMWKind;
  using Op = LLVM::AtomicBinOp;
  static const llvm::SmallDenseMap<Kind, Op> ops = {
      {Kind::addf, Op::fadd},         {Kind::addi, Op::add},          {Kind::andi, Op::_and},
      {Kind::ori, Op::_or},           {Kind::xori, Op::_xor},         {Kind::maxs, Op::max},
      {Kind::maxu, Op::umax},         {Kind::mins, Op::min},          {Kind::minu, Op::umin},
      {Kind::maximumf, Op::fmaximum}, {Kind::minimumf, Op::fminimum}, {Kind::maxnumf, Op::fmax},
      {Kind::minnumf, Op::fmin},      {Kind::assign, Op::xchg}};
  auto found = ops.find(kind);
  return found == ops.end() ? std::nullopt : std::optional<Op>(found->second);
}

/// The driver's compiler knows what the chip has; others compare and exchange.
void SimtWriter::scatter(AtomicRMWScatterOp update) {
  forEachScattered(update.getTile(), update.getMask(), update.getValue(),
                   [&](Value address, Value value) {
                     LLVM::AtomicRMWOp::create(b, *atomicOf(update.getKind()), address, value,
                                               LLVM::AtomicOrdering::monotonic, "device");
                   });
}
