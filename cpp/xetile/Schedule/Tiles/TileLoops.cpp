//===- TileLoops.cpp - loops on tensors ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a result of an scf.for on tensors, places. Out: a loop that carries vectors: those that the
// result needs, and those of other results at the places that follow. Refused: bounds that are not
// known.
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/LazyAttr.h"
#include "xetile/IR/ReachAttrs.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Tiles/AtDepth.h"
#include "xetile/Schedule/Tiles/WithSizes.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace xetile::transform_ops {

constexpr int64_t kLanes = 16;

SmallVector<int64_t> TileWriter::shapeFor(ArrayRef<Place> places) const {
  SmallVector<int64_t> shape{1, 1};
  for (const Place &place : places)
    for (Role role : {kRows, kColumns})
      if (place.steps[role] != 0)
        shape[role] = size(role);
  return shape;
}

namespace {

/// Unifies dimensions of tensors and loops of ops in the body of a loop through indexing maps.
class LoopAxes {
public:
  explicit LoopAxes(scf::ForOp loop) : loop(loop) {
    loop.getBody()->walk([&](linalg::LinalgOp op) { join(op); });
    Operation *yield = loop.getBody()->getTerminator();
    for (auto [argument, next] : llvm::zip_equal(loop.getRegionIterArgs(), yield->getOperands()))
      for (unsigned dim : dims(argument))
        axes.unionSets({argument.getAsOpaquePointer(), dim}, {next.getAsOpaquePointer(), dim});
  }

  /// Places of result `other` where result `number` is at `places`; none where these leave it open.
  std::optional<SmallVector<Place>> follow(unsigned number, ArrayRef<Place> places,
                                           unsigned other) const {
    Value from = loop.getRegionIterArg(number), to = loop.getRegionIterArg(other);
    SmallVector<Place> result;
    for (unsigned dim : dims(to)) {
      bool found = false;
      Place place;
      for (unsigned same : dims(from))
        if (!found &&
            axes.isEquivalent({from.getAsOpaquePointer(), same}, {to.getAsOpaquePointer(), dim})) {
          place = places[same];
          found = true;
        }
      if (!found && cast<RankedTensorType>(to.getType()).getDimSize(dim) != 1)
        return std::nullopt;
      result.push_back(place);
    }
    return result;
  }

private:
  static llvm::iota_range<unsigned> dims(Value tensor) {
    return llvm::seq<unsigned>(0, cast<RankedTensorType>(tensor.getType()).getRank());
  }
  void join(linalg::LinalgOp op) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value tensor = operand.get();
      if (!loop.getBodyRegion().isAncestor(tensor.getParentRegion()) ||
          !isa<RankedTensorType>(tensor.getType()))
        continue;
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto each = dyn_cast<AffineDimExpr>(expr)) {
          std::pair<void *, unsigned> iteration{op.getOperation(), each.getPosition()};
          axes.unionSets(iteration, {tensor.getAsOpaquePointer(), static_cast<unsigned>(dim)});
          if (op.isDpsInit(&operand))
            axes.unionSets(iteration, {op.getTiedOpResult(&operand).getAsOpaquePointer(),
                                       static_cast<unsigned>(dim)});
        }
    }
  }

  mutable scf::ForOp loop;
  llvm::EquivalenceClasses<std::pair<void *, unsigned>> axes;
};

} // namespace

/// The op that alone reads a value; null where there are several.
static Operation *onlyUser(Value value) {
  if (value.use_empty() || !llvm::all_equal(value.getUsers()))
    return nullptr;
  return *value.user_begin();
}

/// True if a loop adds `sum` to a row of zeros, and otherwise only multiplies it by numbers of
/// rows: parts of the sum may stay apart until the loop ends.
static bool isLinear(scf::ForOp loop, unsigned number, linalg::LinalgOp sum) {
  auto zero = loop.getInitArgs()[number].getDefiningOp<linalg::FillOp>();
  if (!zero || !matchPattern(zero.getInputs().front(), m_AnyZeroFloat()) ||
      loop->hasAttr(kLazyAttr))
    return false;
  Value carried = loop.getRegionIterArg(number);
  while (auto op = dyn_cast_if_present<linalg::LinalgOp>(onlyUser(carried))) {
    OpOperand *input = nullptr;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (operand->get() == carried && std::exchange(input, operand))
        return false;
    if (op == sum)
      return !input;
    if (!input || op.getNumParallelLoops() != op.getNumLoops() || op->getNumResults() != 1 ||
        !op.getRegionOutputArgs().front().use_empty())
      return false;
    auto product = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
    BlockArgument factor = op.getMatchingBlockArgument(input);
    if (!product || !factor.hasOneUse() || *factor.user_begin() != product)
      return false;
    carried = op->getResult(0);
  }
  return false;
}

/// True if sums of the lanes of a subgroup's `rows` are put together behind a loop. Of 8 rows,
/// beside wide values the matrix unit's sums and ones find no registers.
bool TileWriter::sumsStayInLanes(int64_t rows) const {
  constexpr int64_t kWidest = 64, kMost = 8;
  return rows / plan.layout[kRows] <= kMost && plan.tile[kColumns] > kWidest;
}

/// True if a loop carries row sums of powers in 16 columns: the matrix unit adds powers up as
/// products with ones, of which each lane has all, or each lane adds up those that it has. Powers
/// of bf16, which do not take the registers of scores, leave none for that.
bool TileWriter::isSummedInLanes(Scope &scope, unsigned number, ArrayRef<Place> places) {
  SmallVector<int64_t> shape = shapeFor(places);
  constexpr int64_t kFewest = 8;
  if (!plan.narrow || shape[kColumns] != 1 || shape[kRows] / plan.layout[kRows] < kFewest)
    return false;
  auto sum =
      scope.source.getBody()->getTerminator()->getOperand(number).getDefiningOp<linalg::LinalgOp>();
  if (!sum || sum.getNumReductionLoops() != 1 || sum.getNumDpsInputs() != 1)
    return false;
  SmallVector<unsigned> reduced;
  sum.getReductionDims(reduced);
  Value yielded = sum.getBlock()->getTerminator()->getOperand(0);
  auto add = yielded.getDefiningOp<arith::AddFOp>();
  // Of what was not computed, infinities had to be told from NaN.
  return add && yielded.getType().isF32() && !isInMemory(sum->getOperand(0)) &&
         sum.getStaticLoopRanges()[reduced.front()] > 4 &&
         llvm::all_of(add->getOperands(),
                      [](Value operand) { return isa<BlockArgument>(operand); }) &&
         (!sumsStayInLanes(shape[kRows]) ||
          (plan.narrow.isF16() && isLinear(scope.source, number, sum)));
}

/// The vector that a loop on its way carries of a tensor at `places`.
Value TileWriter::carriedOf(Scope &scope, unsigned number, ArrayRef<Place> places) {
  Key wanted;
  append(wanted, places);
  for (const Carried &carried : scope.carried) {
    Key key;
    append(key, carried.places);
    if (carried.number == number && key == wanted)
      return carried.argument;
  }
  Type element = cast<RankedTensorType>(scope.source.getResult(number).getType()).getElementType();
  SmallVector<int64_t> shape = shapeFor(places);
  if (isSummedInLanes(scope, number, places))
    shape[kColumns] = kLanes;
  Value argument = scope.loop.getBody()->addArgument(VectorType::get(shape, element), loc);
  scope.carried.push_back({number, SmallVector<Place>(places), argument});
  return argument;
}

FailureOr<Value> TileWriter::ofCarried(BlockArgument tensor, ArrayRef<Place> places) {
  Operation *loop = tensor.getOwner()->getParentOp();
  for (auto &scope : scopes)
    if (scope->source == loop)
      return carriedOf(*scope, tensor.getArgNumber() - 1, places);
  return refuse(loop, "expected what a loop carries to be read in the loop");
}

/// The result of the loop before that a loop goes on with; null where it carries no such.
Value TileWriter::carriedBefore(const Scope &before, const Carried &carried) const {
  Key wanted;
  append(wanted, carried.places);
  scf::ForOp loop = before.loop;
  for (auto [each, result] : llvm::zip_equal(before.carried, loop.getResults())) {
    Key key;
    append(key, each.places);
    if (each.number == carried.number && key == wanted)
      return result;
  }
  return {};
}

/// Writes what a loop carries from step to step, and what it starts from before the loop, or goes
/// on with from the loop `before`.
LogicalResult TileWriter::writeCarried(Scope &scope, size_t outside, const Scope *before,
                                       SmallVector<Value> &inits, SmallVector<Value> &yields) {
  Operation *yield = scope.source.getBody()->getTerminator();
  // More of them may be found to be carried on the way.
  for (size_t i = 0; i < scope.carried.size(); ++i) {
    Carried carried = scope.carried[i];
    ArrayRef<int64_t> shape = cast<VectorType>(carried.argument.getType()).getShape();
    WithSizes sizes(*this);
    sizes.setFor(carried.places, shape);
    FailureOr<Value> next = value(yield->getOperand(carried.number), carried.places);
    if (failed(next))
      return failure();
    yields.push_back(repeat(*next, shape));
    if (before) {
      Value init = carriedBefore(*before, carried);
      if (!init)
        return refuse(scope.source, "expected the steps of a loop to carry the same");
      inits.push_back(init);
      continue;
    }
    AtDepth outer(*this, outside);
    FailureOr<Value> init = value(scope.source.getInitArgs()[carried.number], carried.places);
    if (failed(init))
      return failure();
    inits.push_back(repeat(*init, shape));
  }
  return success();
}

/// All steps of a loop; or, where a mask begins or ends rows, those that some rows of the tile see,
/// those that all do, and again those that some do.
SmallVector<TileWriter::Bounds> TileWriter::boundsOf(scf::ForOp source, unsigned number,
                                                     ArrayRef<Place> places, int64_t to,
                                                     int64_t by) {
  Bounds all{this->number(0), this->number(to), this->number(by)};
  auto reach = source->getAttrOfType<DenseI64ArrayAttr>(kReachAttr);
  if (!reach || reach.size() != 4 || reach[0] < 0 || reach[0] >= source.getNumResults())
    return {all};
  std::optional<SmallVector<Place>> of =
      reach[0] == number ? SmallVector<Place>(places)
                         : LoopAxes(source).follow(number, places, static_cast<unsigned>(reach[0]));
  if (!of || reach[1] < 0 || reach[1] >= static_cast<int64_t>(of->size()))
    return {all};
  Place top = (*of)[reach[1]];
  int64_t rows = 0;
  for (Role role : {kRows, kColumns}) {
    if (top.steps[role] < 0)
      return {all};
    rows += top.steps[role] * (size(role) - 1);
  }
  // How many elements of n are before top + more, in whole steps.
  auto before = [&](int64_t more, bool up) {
    Place row = top;
    row.steps = {0, 0};
    row.shift += more;
    Value count = row.base ? cast<Value>(start(row)) : this->number(row.shift);
    count = b.createOrFold<arith::MaxSIOp>(loc, count, this->number(0));
    count = b.createOrFold<arith::MinSIOp>(loc, count, this->number(to));
    count = b.createOrFold<arith::AddIOp>(loc, count, this->number(up ? by - 1 : 0));
    count = b.createOrFold<arith::DivUIOp>(loc, count, this->number(by));
    return b.createOrFold<arith::MulIOp>(loc, count, this->number(by));
  };
  int64_t first = reach[2], last = reach[3];
  Value middle = all.to, end = all.to;
  if (last < kReachesAll) {
    middle = before(last + 1, /*up=*/false);
    end = before(last + 1 + rows, /*up=*/true);
  }
  if (first <= -kReachesAll)
    return {{all.from, middle, all.by, /*seen=*/true}, {middle, end, all.by}};
  Value begin = before(first, /*up=*/false), whole = before(first + rows, /*up=*/true);
  SmallVector<Bounds> steps{
      {begin, b.createOrFold<arith::MinSIOp>(loc, whole, end), all.by},
      {whole, middle, all.by, /*seen=*/true},
  };
  // Where no step is seen by all rows, the last ones go on where the first ones ended.
  if (last < kReachesAll)
    steps.push_back({b.createOrFold<arith::MaxSIOp>(loc, middle, whole), end, all.by});
  return steps;
}

/// A loop that carries what result `number` needs; it goes on with the results of `before`.
FailureOr<std::unique_ptr<TileWriter::Scope>>
TileWriter::writeLoop(scf::ForOp source, unsigned number, ArrayRef<Place> places,
                      const Bounds &bounds, const Scope *before) {
  size_t outside = scopes.size() - 1;
  auto loop = scf::ForOp::create(b, loc, bounds.from, bounds.to, bounds.by);
  SmallVector<Value> inits, yields;
  {
    OpBuilder::InsertionGuard guard(b);
    scopes.push_back(std::make_unique<Scope>());
    Scope &scope = *scopes.back();
    scope.loop = loop;
    scope.source = source;
    scope.seen = bounds.seen;
    variables[source.getInductionVar()] = loop.getInductionVar();
    b.setInsertionPoint(loop.getBody()->getTerminator());
    (void)carriedOf(scope, number, places);
    LoopAxes axes(source);
    for (auto [other, result] : llvm::enumerate(source.getResults()))
      if (other != number && !result.use_empty())
        if (auto along = axes.follow(number, places, other))
          (void)carriedOf(scope, other, *along);
    if (failed(writeCarried(scope, outside, before, inits, yields)))
      return failure();
  }
  auto whole =
      scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  if (Attribute threshold = source->getAttr(kLazyAttr))
    whole->setAttr(kLazyAttr, threshold);
  whole.getRegion().takeBody(loop.getRegion());
  whole.getBody()->getTerminator()->setOperands(yields);
  std::unique_ptr<Scope> done = std::move(scopes.back());
  scopes.pop_back();
  loop.erase();
  done->loop = whole;
  return done;
}

FailureOr<Value> TileWriter::ofLoop(scf::ForOp source, unsigned number, ArrayRef<Place> places) {
  std::optional<int64_t> from = getConstantIntValue(source.getLowerBound()),
                         to = getConstantIntValue(source.getUpperBound()),
                         by = getConstantIntValue(source.getStep());
  if (!from || !to || !by || *from != 0)
    return refuse(source, "expected a loop from zero on, with bounds known when compiled");
  std::unique_ptr<Scope> done;
  for (const Bounds &bounds : boundsOf(source, number, places, *to, *by)) {
    auto next = writeLoop(source, number, places, bounds, done.get());
    if (failed(next))
      return failure();
    done = std::move(*next);
  }
  Value result;
  for (auto [carried, made] : llvm::zip_equal(done->carried, done->loop.getResults())) {
    Value tensor = source.getResult(carried.number);
    Key key{reinterpret_cast<int64_t>(tensor.getAsOpaquePointer()), 0};
    ArrayRef<int64_t> shape = cast<VectorType>(made.getType()).getShape();
    WithSizes sizes(*this);
    sizes.setFor(carried.places, shape);
    append(key, carried.places);
    Value rows = made;
    if (shape != ArrayRef(shapeFor(carried.places)))
      rows = TileReduceOp::create(
          b, loc,
          VectorType::get(shapeFor(carried.places),
                          cast<VectorType>(made.getType()).getElementType()),
          sumsStayInLanes(shape[kRows]) ? vector::CombiningKind::ADD
                                        : vector::CombiningKind::MAXNUMF,
          made, ArrayRef<int64_t>(static_cast<int64_t>(kColumns)), WgMapAttr());
    scopes.back()->known[key] = rows;
    if (!result)
      result = rows;
  }
  return result;
}

} // namespace xetile::transform_ops
