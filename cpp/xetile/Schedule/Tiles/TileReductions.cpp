//===- TileReductions.cpp - values of reductions ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg op with reduced loops, the places of the others. Out: tile_reduce of the vector of
// its elements, in loops of blocks where these are many; elements that do not exist are neutral.
// Refused: reductions in each step of another one.
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/NeutralValue.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/Tiles/TileFold.h"
#include "xetile/Schedule/Tiles/WithSizes.h"

using namespace mlir;

namespace xetile::transform_ops {

/// Steps of loops that are written one by one.
constexpr int64_t kMaxUnrolled = 16;

struct TileWriter::Reduction {
  linalg::LinalgOp op;
  unsigned result = 0;
  SmallVector<Place> loops;
  SmallVector<unsigned> reduced;
  SmallVector<ReducedAs> as;
  SmallVector<Extent> extents;
  /// Loops of blocks, outermost first; the last of them are unrolled.
  SmallVector<unsigned> carried, unrolled;
  vector::CombiningKind kind = vector::CombiningKind::ADD;
  /// The operand of the combiner that is not the accumulator.
  Value element;
  /// Of sums: at least f32.
  Type sumType;
  SmallVector<int64_t> shape;
};

void TileWriter::readCombiner(Reduction &r) {
  Block *block = r.op.getBlock();
  BlockArgument total = block->getArgument(r.op.getNumDpsInputs() + r.result);
  Value yielded = block->getTerminator()->getOperand(r.result);
  Operation *combiner = yielded.getDefiningOp();
  r.kind = *linalg::getCombinerOpKind(combiner);
  r.element = combiner->getOperand(combiner->getOperand(0) == total ? 1 : 0);
  r.sumType = yielded.getType();
  bool isSum = r.kind == vector::CombiningKind::ADD || r.kind == vector::CombiningKind::MUL;
  if (isSum && isa<Float16Type, BFloat16Type>(r.sumType))
    r.sumType = b.getF32Type();
}

Value TileWriter::combine(Reduction &r, Value x, Value y) {
  std::array<Value, 2> both = {x, y};
  meet(both);
  return vector::makeArithReduction(b, loc, r.kind, both[0], both[1]);
}

static Value widen(OpBuilder &b, Location loc, Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType() == element)
    return vector;
  return arith::ExtFOp::create(b, loc, VectorType::get(type.getShape(), element), vector);
}

/// The products that the reduction adds, in the type of its sums: of wide factors, they are not
/// rounded and overflow later.
std::optional<FailureOr<Value>> TileWriter::wideProduct(Reduction &r) {
  auto product = r.element.getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != r.op.getBlock() || product.getType() == r.sumType)
    return std::nullopt;
  std::array<Value, 2> factors;
  for (auto [factor, operand] : llvm::zip_equal(factors, product->getOperands())) {
    FailureOr<Value> vector = scalarCode(r.op, r.loops, operand);
    if (failed(vector))
      return vector;
    factor = widen(b, loc, *vector, r.sumType);
  }
  meet(factors);
  return FailureOr<Value>(
      arith::MulFOp::create(b, loc, factors[0], factors[1], product.getFastmath()));
}

/// The operand of the reduction at the current places.
FailureOr<Value> TileWriter::element(Reduction &r) {
  TypedAttr neutral = getNeutralValue(r.kind, r.element.getType());
  auto hangsOver = [&](unsigned loop, ReducedAs as) {
    int64_t block = as == ReducedAs::Rows      ? size(kRows)
                    : as == ReducedAs::Columns ? size(kColumns)
                    : as == ReducedAs::Folded  ? size(kRows) * size(kColumns)
                                               : 1;
    return !r.extents[loop].isMultipleOf(block);
  };
  bool hangs = llvm::any_of(llvm::zip_equal(r.reduced, r.as), [&](auto each) {
    return hangsOver(std::get<0>(each), std::get<1>(each));
  });
  // Memory is asked for neutral elements; of what is computed, they are selected. Where all exist,
  // a load is as any other, and may serve several reductions.
  bool direct = false;
  if (auto argument = dyn_cast<BlockArgument>(r.element);
      argument && argument.getOwner() == r.op.getBlock()) {
    OpOperand &operand = r.op->getOpOperand(argument.getArgNumber());
    if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        type && isInMemory(operand.get())) {
      AffineMap map = r.op.getMatchingIndexingMap(&operand);
      direct = hangs && llvm::all_of(r.reduced, [&](unsigned loop) {
                 std::optional<unsigned> dim =
                     map.getResultPosition(getAffineDimExpr(loop, b.getContext()));
                 return dim && extents.of(operand.get(), *dim) == r.extents[loop];
               });
    }
  }
  std::optional<FailureOr<Value>> product = wideProduct(r);
  FailureOr<Value> vector =
      product ? *product : scalarCode(r.op, r.loops, r.element, direct ? neutral : TypedAttr());
  if (failed(vector) || direct)
    return failed(vector) ? vector : Value(widen(b, loc, *vector, r.sumType));
  neutral = getNeutralValue(r.kind, cast<VectorType>(vector->getType()).getElementType());
  for (auto [loop, as] : llvm::zip_equal(r.reduced, r.as))
    if (hangsOver(loop, as))
      vector = select(isBelow(indices(r.loops[loop]), r.extents[loop]), *vector, splat(neutral));
  return Value(widen(b, loc, *vector, r.sumType));
}

/// Adds the elements of the loops from `next` on to `total`, which is null at the start of unrolled
/// ones.
FailureOr<Value> TileWriter::accumulate(Reduction &r, unsigned next, Value total) {
  if (next < r.carried.size()) {
    unsigned loop = r.carried[next];
    ReducedAs as = r.as[llvm::find(r.reduced, loop) - r.reduced.begin()];
    Place within = r.loops[loop];
    int64_t step = as == ReducedAs::Rows      ? size(kRows)
                   : as == ReducedAs::Columns ? size(kColumns)
                   : as == ReducedAs::Folded  ? size(kRows) * size(kColumns)
                                              : 1;
    FailureOr<Value> sum = carry(r.extents[loop], step, total, [&](Value variable, Value so_far) {
      r.loops[loop] = within;
      r.loops[loop].base = variable;
      return accumulate(r, next + 1, so_far);
    });
    r.loops[loop] = within;
    return sum;
  }
  int64_t count = 1;
  for (unsigned loop : r.unrolled)
    count *= r.extents[loop].number;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (unsigned loop : llvm::reverse(r.unrolled)) {
      r.loops[loop] = Place::at(rest % r.extents[loop].number);
      rest /= r.extents[loop].number;
    }
    FailureOr<Value> each = element(r);
    if (failed(each))
      return failure();
    total = total ? combine(r, total, *each) : *each;
  }
  return total;
}

/// Reduces the vector of sums, and adds what the result starts from.
FailureOr<Value> TileWriter::finish(Reduction &r, Value total) {
  if (plan.narrow && r.kind == vector::CombiningKind::ADD) {
    FailureOr<Value> sums = read(r.op, *r.op.getDpsInitOperand(r.result), r.loops);
    if (failed(sums))
      return failure();
    if (cast<VectorType>(sums->getType()).getDimSize(kColumns) > 1 &&
        llvm::equal(r.as, ArrayRef(ReducedAs::Columns))) {
      SmallVector<int64_t> shape{cast<VectorType>(total.getType()).getDimSize(kRows),
                                 size(kColumns)};
      return sumsStayInLanes(shape[kRows]) ? sumInLanes(repeat(total, shape), *sums)
                                           : sumByProduct(total, *sums);
    }
  }
  bool isMaximum =
      r.kind == vector::CombiningKind::MAXIMUMF || r.kind == vector::CombiningKind::MAXNUMF;
  TypedAttr factor;
  if (Value x = plan.blocks && isMaximum ? withoutPositiveFactor(total, factor) : Value())
    total = x;
  for (Role role : {kRows, kColumns}) {
    bool reduces = llvm::any_of(r.as, [&](ReducedAs as) {
      return as == ReducedAs::Folded ||
             as == (role == kRows ? ReducedAs::Rows : ReducedAs::Columns);
    });
    if (!reduces)
      continue;
    SmallVector<int64_t> shape(cast<VectorType>(total.getType()).getShape());
    shape[role] = size(role);
    total = repeat(total, shape);
    shape[role] = 1;
    total = TileReduceOp::create(b, loc, VectorType::get(shape, r.sumType), r.kind, total,
                                 ArrayRef<int64_t>(static_cast<int64_t>(role)), WgMapAttr());
  }
  if (factor)
    total = arith::MulFOp::create(b, loc, total,
                                  splat(factor, cast<VectorType>(total.getType()).getShape()));
  FailureOr<Value> init = read(r.op, *r.op.getDpsInitOperand(r.result), r.loops);
  if (failed(init))
    return failure();
  total = combine(r, widen(b, loc, *init, r.sumType), total);
  auto type = cast<VectorType>(total.getType());
  if (Type wanted = cast<VectorType>(init->getType()).getElementType();
      wanted != type.getElementType())
    return Value(arith::TruncFOp::create(b, loc, VectorType::get(type.getShape(), wanted), total));
  return total;
}

/// The shortest loops are unrolled, as far as code stays short.
void TileWriter::unroll(Reduction &r, SmallVector<unsigned> serial) {
  SmallVector<int64_t> planned = extents.planned(r.op);
  llvm::sort(serial, [&](unsigned x, unsigned y) {
    return std::pair(planned[x], x) < std::pair(planned[y], y);
  });
  int64_t count = 1;
  for (unsigned loop : serial) {
    bool unrolls = r.extents[loop].isKnown() && r.extents[loop].number <= kMaxUnrolled / count;
    (unrolls ? r.unrolled : r.carried).push_back(loop);
    count *= unrolls ? r.extents[loop].number : 1;
  }
}

FailureOr<Value> TileWriter::reduce(linalg::LinalgOp op, unsigned result, SmallVector<Place> loops,
                                    ArrayRef<unsigned> reduced) {
  contractions += isContraction(op);
  if (isFold(op))
    return fold(op, result, std::move(loops), reduced);
  if (std::optional<Product> product = matchProduct(op, loops, reduced))
    return multiply(*product, loops);
  if (std::optional<FailureOr<Value>> products = sumOfProducts(op, loops, reduced))
    return *products;
  Reduction r;
  r.op = op;
  r.result = result;
  r.loops = std::move(loops);
  r.reduced.assign(reduced.begin(), reduced.end());
  r.extents = extents.loopsOf(op);
  readCombiner(r);
  std::array<bool, 2> used = {false, false};
  for (const Place &place : r.loops)
    for (unsigned role : {kRows, kColumns})
      used[role] |= place.steps[role] != 0;
  r.as = planReduction(op, extents.planned(op), reduced, used, plan);
  WithSizes columns(*this);
  for (auto [loop, as] : llvm::zip_equal(reduced, r.as))
    if (plan.blocks && as == ReducedAs::Columns && r.extents[loop].isKnown())
      columns.set(kColumns, static_cast<int64_t>(llvm::alignTo(r.extents[loop].number, 16)));
  SmallVector<unsigned> serial;
  for (auto [loop, as] : llvm::zip_equal(reduced, r.as)) {
    Place &place = r.loops[loop];
    place = Place();
    if (as == ReducedAs::Rows || as == ReducedAs::Folded)
      place.steps[kRows] = as == ReducedAs::Folded ? size(kColumns) : 1;
    if (as == ReducedAs::Columns || as == ReducedAs::Folded)
      place.steps[kColumns] = 1;
    int64_t block = as == ReducedAs::Rows      ? size(kRows)
                    : as == ReducedAs::Columns ? size(kColumns)
                                               : size(kRows) * size(kColumns);
    if (as == ReducedAs::Loop)
      serial.push_back(loop);
    else if (!r.extents[loop].isKnown() || block < r.extents[loop].number)
      r.carried.push_back(loop);
  }
  unroll(r, serial);
  Value start;
  if (!r.carried.empty()) {
    if (llvm::any_of(scopes, [](const auto &scope) { return scope->reduces; }))
      return refuse(op, Twine("it would be computed anew in each step of another reduction: ") +
                            kSeveralKernels);
    r.shape = shapeFor(r.loops);
    start = repeat(splat(getNeutralValue(r.kind, r.sumType)), r.shape);
  }
  FailureOr<Value> total = accumulate(r, 0, start);
  return failed(total) ? total : finish(r, *total);
}

} // namespace xetile::transform_ops
