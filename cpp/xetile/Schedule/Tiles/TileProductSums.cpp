//===- TileProductSums.cpp - sums of products ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg op that sums up products, the places of its parallel loops. Out: tile_mma of blocks
// of its operands, of f32 columns times rows, in loops over all that is reduced: convolutions
// without copies of windows. Refused: nothing; what is no product of matrices in memory is a
// reduction like others.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Tiles/TileWriter.h"

using namespace mlir;

namespace xetile::transform_ops {

namespace {
/// Bits of a mask of roles.
enum : unsigned { kRowBit = 1, kColumnBit = 2 };
} // namespace

/// The operand of a float extension; other values as they are.
static Value beforeExtension(Value value) {
  auto extend = value.getDefiningOp<arith::ExtFOp>();
  return extend ? extend.getIn() : value;
}

/// The operands that the body multiplies and adds up, as arguments.
static std::optional<std::array<BlockArgument, 2>> matchProducts(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  Block *block = op.getBlock();
  auto add = block->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  Value total = block->getArgument(2);
  if (!add || (add.getLhs() != total && add.getRhs() != total))
    return std::nullopt;
  Value product = add.getLhs() == total ? add.getRhs() : add.getLhs();
  auto multiply = product.getDefiningOp<arith::MulFOp>();
  if (!multiply || multiply->getBlock() != block)
    return std::nullopt;
  auto left = dyn_cast<BlockArgument>(beforeExtension(multiply.getLhs())),
       right = dyn_cast<BlockArgument>(beforeExtension(multiply.getRhs()));
  bool areTaken = left && right && left != right && left.getOwner() == block &&
                  right.getOwner() == block && left != total && right != total &&
                  isa<Float16Type, BFloat16Type, Float32Type>(left.getType()) &&
                  left.getType() == right.getType();
  bool isSum = total.getType().isF32() || (left && total.getType() == left.getType());
  if (!areTaken || !isSum)
    return std::nullopt;
  return std::array<BlockArgument, 2>{left, right};
}

/// True if `tensor` is in memory, or a slice of such a one, which has all of dimension `dim`: what
/// blocks read beyond a slice along others are rows and columns that nobody stores.
static bool isInMemoryAlong(Value tensor, unsigned dim) {
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return isInMemory(tensor);
  RankedTensorType source = slice.getSourceType();
  return source.hasStaticShape() && slice.getType().hasStaticShape() && slice.hasUnitStride() &&
         slice.getDroppedDims().none() &&
         llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic) &&
         slice.getType().getDimSize(dim) == source.getDimSize(dim) &&
         isInMemoryAlong(slice.getSource(), dim);
}

std::optional<ProductLoops> matchProductSum(linalg::LinalgOp op, ArrayRef<int64_t> ranges,
                                            ArrayRef<unsigned> roles, RightOperand order) {
  std::optional<std::array<BlockArgument, 2>> arguments = matchProducts(op);
  if (!arguments)
    return std::nullopt;
  std::array<OpOperand *, 2> operands;
  std::array<unsigned, 2> masks = {0, 0};
  for (unsigned i : {0, 1}) {
    operands[i] = &op->getOpOperand((*arguments)[i].getArgNumber());
    for (AffineExpr expr : op.getMatchingIndexingMap(operands[i]).getResults())
      expr.walk([&, i](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          masks[i] |= roles[dim.getPosition()];
      });
  }
  if (masks[0] == kColumnBit && masks[1] == kRowBit)
    std::swap(operands[0], operands[1]);
  else if (masks[0] != kRowBit || masks[1] != kColumnBit)
    return std::nullopt;
  AffineMap left = op.getMatchingIndexingMap(operands[0]),
            right = op.getMatchingIndexingMap(operands[1]);
  auto k = dyn_cast<AffineDimExpr>(left.getResults().back());
  auto last = dyn_cast<AffineDimExpr>(right.getResults().back());
  constexpr int64_t kLeast = 16;
  bool isTaken = k && last &&
                 (roles[last.getPosition()] == kColumnBit ||
                  (order == RightOperand::OfRowsOrColumns && last == k));
  if (!isTaken || op.getIteratorTypesArray()[k.getPosition()] != utils::IteratorType::reduction ||
      ranges[k.getPosition()] < kLeast || !right.getResultPosition(k) ||
      !isInMemoryAlong(operands[0]->get(), left.getNumResults() - 1) ||
      !isInMemoryAlong(operands[1]->get(), *right.getResultPosition(k)))
    return std::nullopt;
  return ProductLoops{operands[0]->getOperandNumber(), operands[1]->getOperandNumber(),
                      k.getPosition(), (*arguments)[0].getType().isF32()};
}

/// A sum of products on its way.
struct TileWriter::ProductSum {
  linalg::LinalgOp op;
  ProductLoops operands;
  SmallVector<Place> loops;
  /// All that is reduced, k last.
  SmallVector<unsigned> order;
  SmallVector<Extent> extents;
  /// Loops that are written one by one.
  llvm::SmallBitVector unrolled;
  /// True if the written sum is a partial one that is added to the enclosing sum.
  bool isBlock = false;
};

/// Elements of k that are loaded at a time.
static int64_t stepOf(const ProductLoops &operands) { return operands.exact ? 16 : 32; }

/// Additions of f32 behind each other, at most: sums of more are sums of such sums.
constexpr int64_t kMostAdditions = 512;

/// Additions of a loop behind each other: of a size that a run knows, any number.
static int64_t additionsOf(const Extent &extent) {
  return extent.isKnown() ? extent.number : std::numeric_limits<int64_t>::max();
}

/// A block of an operand: rows and k of the first, k and columns of the second. Nothing where it is
/// no tile.
std::optional<Value> TileWriter::loadBlock(ProductSum &p, unsigned number) {
  OpOperand &operand = p.op->getOpOperand(number);
  std::array<int64_t, 2> before = sizes;
  bool isLeft = number == p.operands.left;
  sizes[isLeft ? kColumns : kRows] = stepOf(p.operands);
  SmallVector<Place> loops = p.loops;
  loops[p.operands.k].steps[isLeft ? kColumns : kRows] = 1;
  SmallVector<Place> places;
  std::optional<Value> loaded;
  for (AffineExpr expr : p.op.getMatchingIndexingMap(&operand).getResults()) {
    FailureOr<Place> place = placeOf(expr, loops);
    if (failed(place))
      break;
    places.push_back(*place);
  }
  Value tensor = operand.get();
  bool isWhole = places.size() == size_t(cast<RankedTensorType>(tensor.getType()).getRank());
  while (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    FailureOr<SmallVector<Place>> inner = places;
    if (isWhole)
      inner = inSlice(slice, slice.getDroppedDims(), places);
    isWhole &= succeeded(inner);
    places = inner.value_or(places);
    tensor = slice.getSource();
  }
  Memory memory = describe(tensor, memoryOf(tensor));
  if (isWhole)
    if (std::optional<View> found = view(memory, places);
        found && (!found->columnMajor || plan.rowsOfProduct) && !found->mayBeEmpty) {
      Type element = cast<MemRefType>(memory.buffer.getType()).getElementType();
      Value tile = tileOf(*found, element, /*mapped=*/false);
      loaded = LoadTileOp::create(b, loc, VectorType::get(found->shape, element), tile, TypedAttr())
                   .getResult();
    }
  sizes = before;
  return loaded;
}

FailureOr<Value> TileWriter::addProducts(ProductSum &p, unsigned next, Value total) {
  // The outermost loop whose steps are few additions begins a sum of its own.
  int64_t here = 1;
  for (unsigned i = next; i < p.order.size(); ++i)
    here = saturatingProduct(here, additionsOf(p.extents[p.order[i]]));
  if (p.operands.exact && next > 0 && next < p.order.size() && here <= kMostAdditions &&
      saturatingProduct(here, additionsOf(p.extents[p.order[next - 1]])) > kMostAdditions &&
      !p.isBlock) {
    p.isBlock = true;
    FailureOr<Value> sum = addBlock(total, [&](Value zero) { return addProducts(p, next, zero); });
    p.isBlock = false;
    return sum;
  }
  if (next == p.order.size()) {
    std::optional<Value> left = loadBlock(p, p.operands.left),
                         right = loadBlock(p, p.operands.right);
    if (!left || !right)
      return refuse(p.op, "expected operands of a convolution that are matrices in memory");
    auto type = cast<VectorType>(total.getType());
    if (p.operands.exact)
      return multiplyExactly(*left, *right, total);
    return Value(TileMmaOp::create(b, loc, type, *left, *right, total, mapOf(type.getShape()),
                                   /*unsigned_a=*/false, /*unsigned_b=*/false));
  }
  unsigned loop = p.order[next];
  if (p.unrolled.test(loop)) {
    for (int64_t i = 0; i < p.extents[loop].number; ++i) {
      p.loops[loop] = Place::at(i);
      FailureOr<Value> sum = addProducts(p, next + 1, total);
      if (failed(sum))
        return failure();
      total = *sum;
    }
    return total;
  }
  if (p.extents[loop].is(1)) {
    p.loops[loop] = Place();
    return addProducts(p, next + 1, total);
  }
  int64_t step = loop == p.operands.k ? stepOf(p.operands) : 1;
  auto add = [&](Value variable, Value so_far) {
    p.loops[loop] = Place();
    p.loops[loop].base = variable;
    return addProducts(p, next + 1, so_far);
  };
  if (!p.operands.exact || loop != p.operands.k || additionsOf(p.extents[loop]) <= kMostAdditions)
    return carry(p.extents[loop], step, total, add);
  return addParts(p.extents[loop], step, total, add);
}

/// A sum of sums of at most kMostAdditions steps of `add`.
FailureOr<Value> TileWriter::addParts(Extent extent, int64_t step, Value total,
                                      llvm::function_ref<FailureOr<Value>(Value, Value)> add) {
  int64_t part = kMostAdditions;
  if (extent.isKnown()) {
    int64_t parts = llvm::divideCeil(extent.number, kMostAdditions);
    part = llvm::alignTo(llvm::divideCeil(extent.number, parts), step);
  }
  return carry(extent, part, total, [&](Value block, Value so_far) {
    return addBlock(so_far, [&](Value zero) {
      // Of a size that a run knows, the rest: at most a part of it.
      Extent here = part;
      if (!extent.isKnown()) {
        Value left = arith::SubIOp::create(b, loc, extent.value, block);
        here = Extent(arith::MinUIOp::create(b, loc, left, number(part)).getResult());
      }
      return carry(here, step, zero, [&](Value variable, Value sum) {
        return add(addIndices(block, variable), sum);
      });
    });
  });
}

/// `total` and what `sum` adds to zero.
FailureOr<Value> TileWriter::addBlock(Value total,
                                      llvm::function_ref<FailureOr<Value>(Value)> sum) {
  auto type = cast<VectorType>(total.getType());
  FailureOr<Value> block =
      sum(splat(cast<TypedAttr>(b.getZeroAttr(type.getElementType())), type.getShape()));
  return failed(block) ? block : Value(arith::AddFOp::create(b, loc, total, *block));
}

/// Adds the products of each column of `left` with a row of `right`, on vector units.
Value TileWriter::multiplyExactly(Value left, Value right, Value total) {
  ArrayRef<int64_t> shape = cast<VectorType>(total.getType()).getShape();
  auto slice = [&](Value vector, std::array<int64_t, 2> from, std::array<int64_t, 2> sides) {
    return repeat(vector::ExtractStridedSliceOp::create(b, loc, vector, ArrayRef<int64_t>(from),
                                                        ArrayRef<int64_t>(sides),
                                                        ArrayRef<int64_t>{1, 1}),
                  shape);
  };
  for (int64_t k = 0, end = cast<VectorType>(left.getType()).getDimSize(1); k < end; ++k)
    total = math::FmaOp::create(b, loc, slice(left, {0, k}, {shape[0], 1}),
                                slice(right, {k, 0}, {1, shape[1]}), total);
  return total;
}

/// Where rows of the first operand are steps apart, what is added to them must be known.
static llvm::SmallBitVector findUnrolled(linalg::LinalgOp op, const ProductLoops &operands,
                                         ArrayRef<Place> loops) {
  llvm::SmallBitVector unrolled(loops.size());
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operands.left));
  for (AffineExpr expr : map.getResults()) {
    bool scales = false;
    llvm::SmallBitVector reduced(loops.size());
    expr.walk([&](AffineExpr part) {
      scales |= part.getKind() == AffineExprKind::Mul;
      if (auto dim = dyn_cast<AffineDimExpr>(part); dim && dim.getPosition() != operands.k)
        reduced[dim.getPosition()] =
            op.getIteratorTypesArray()[dim.getPosition()] == utils::IteratorType::reduction;
    });
    bool isRows = false;
    expr.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        isRows |= loops[dim.getPosition()].steps[kRows] != 0;
    });
    if (scales && isRows)
      unrolled |= reduced;
  }
  return unrolled;
}

bool TileWriter::takesProductSum(ProductSum &p) {
  int64_t steps = 1;
  for (unsigned loop : p.unrolled.set_bits())
    steps = saturatingProduct(steps, additionsOf(p.extents[loop]));
  constexpr int64_t kMostSteps = 16, kColumnsOfUnit = 16;
  bool isAlone = plan.layout[kRows] * plan.layout[kColumns] == 1;
  return plan.multiplies && !plan.blocks && steps <= kMostSteps && (isAlone || !p.operands.exact) &&
         plan.tile[kColumns] / plan.layout[kColumns] % kColumnsOfUnit == 0 &&
         llvm::none_of(scopes, [](const auto &scope) { return scope->reduces; });
}

std::optional<FailureOr<Value>>
TileWriter::sumOfProducts(linalg::LinalgOp op, ArrayRef<Place> loops, ArrayRef<unsigned> reduced) {
  SmallVector<unsigned> roles;
  for (const Place &place : loops)
    roles.push_back((place.steps[kRows] != 0 ? kRowBit : 0) |
                    (place.steps[kColumns] != 0 ? kColumnBit : 0));
  std::optional<ProductLoops> operands =
      matchProductSum(op, extents.planned(op), roles,
                      plan.rowsOfProduct ? RightOperand::OfRowsOrColumns : RightOperand::OfRows);
  if (!operands)
    return std::nullopt;
  ProductSum p;
  p.op = op;
  p.operands = *operands;
  p.loops.assign(loops.begin(), loops.end());
  p.extents = extents.loopsOf(op);
  p.unrolled = findUnrolled(op, *operands, loops);
  for (unsigned loop : reduced)
    if (loop != operands->k)
      p.order.push_back(loop);
  p.order.push_back(operands->k);
  if (!takesProductSum(p))
    return std::nullopt;
  // That both operands are matrices in memory is checked before any code is written for them.
  for (unsigned number : {operands->left, operands->right}) {
    ProductSum first = p;
    for (unsigned loop : reduced)
      first.loops[loop] = Place();
    OpBuilder::InsertionGuard guard(b);
    std::optional<Value> block = loadBlock(first, number);
    if (!block)
      return std::nullopt;
  }
  ++products;
  FailureOr<Value> init = read(op, *op.getDpsInitOperand(0), loops);
  if (failed(init))
    return init;
  Type narrow = cast<VectorType>(init->getType()).getElementType(), wide = b.getF32Type();
  auto convert = [&](Value vector, Type to) -> Value {
    auto type = VectorType::get(cast<VectorType>(vector.getType()).getShape(), to);
    if (vector.getType() == type)
      return vector;
    return to == wide ? arith::ExtFOp::create(b, loc, type, vector).getResult()
                      : arith::TruncFOp::create(b, loc, type, vector).getResult();
  };
  std::array<int64_t, 2> shape = {size(kRows), size(kColumns)};
  // Registers of one row that start as many sums as there are rows are moved to each of them, and
  // spilled: such a row is added behind the loops.
  bool isAddedLast = cast<VectorType>(init->getType()).getShape() != ArrayRef(shape) &&
                     !matchPattern(*init, m_Constant());
  Value first = repeat(convert(*init, wide), shape);
  Value start = isAddedLast ? splat(b.getZeroAttr(wide), shape) : first;
  FailureOr<Value> total = addProducts(p, 0, start);
  if (failed(total))
    return total;
  Value sum = isAddedLast ? arith::AddFOp::create(b, loc, *total, first).getResult() : *total;
  return FailureOr<Value>(convert(sum, narrow));
}

} // namespace xetile::transform_ops
