//===- ToTiles.cpp - transform.xetile.to_tiles --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function that computes tensors of one shape. Out: an scf.forall over workgroups that
// computes them in XeTile, from memory to memory. Refused: sizes that depend on data, results of
// several shapes, and what TileWriter refuses.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/Tiles/Reshapes.h"
#include "xetile/Schedule/Tiles/ScanOf.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// One function on its way to tiles.
class FunctionTiler {
public:
  FunctionTiler(RewriterBase &rewriter, func::FuncOp func, bool elementwise)
      : rewriter(rewriter), func(func), elementwise(elementwise), sizes(rewriter, func) {}

  LogicalResult check();
  /// `target`: one with tiles of its own for attentions and elementwise ops, or null.
  LogicalResult run(std::array<int64_t, 2> tile, std::array<int64_t, 2> layout,
                    const Target *target = nullptr);

  scf::ForallOp loop;
  /// Of a scatter: the loop that writes what its result starts from, before `loop`.
  scf::ForallOp first;
  TilePlan plan;
  /// True if the function is one product, computed once, and what follows on its rows.
  bool hasRowsOfProduct = false;
  Operation *where = nullptr;
  std::string why;

private:
  LogicalResult refuse(Operation *op, const Twine &reason) {
    where = op;
    why = reason.str();
    return failure();
  }
  LogicalResult checkOp(Operation *op);
  bool isOfRows(Value result);
  void makeLoop();
  void boundPlaces(TileWriter &writer);
  LogicalResult writeRows(TileWriter &writer);
  LogicalResult writeColumns(TileWriter &writer);
  LogicalResult write(TileWriter &writer, unsigned role);
  LogicalResult checkLayout();
  LogicalResult writeScan(TileWriter &writer);
  void allocate();
  void returnMemory();
  LogicalResult inWorkgroups(llvm::function_ref<LogicalResult(TileWriter &)> write);
  LogicalResult runScatter(std::array<int64_t, 2> tile, std::array<int64_t, 2> layout);

  RewriterBase &rewriter;
  func::FuncOp func;
  bool elementwise;
  TileSizes sizes;
  llvm::SetVector<Value> results;
  /// Of the results.
  SmallVector<Extent> shape;
  std::optional<ScanOf> scan;
  std::optional<Scatter> scatter;
  SmallVector<Value> memories;
  /// Of the results' dimensions.
  SmallVector<Place> places;
  /// The dimension of rows that a workgroup computes in turn.
  std::optional<unsigned> inTurn;
};

/// The ops in the results' backward slices need sizes other than zero, or of a run.
LogicalResult FunctionTiler::checkOp(Operation *op) {
  for (Type type : llvm::concat<Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    if (llvm::is_contained(tensor.getShape(), 0))
      return refuse(op, "expected tensors that have elements");
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp && elementwise && linalgOp.getNumReductionLoops() != 0)
    return refuse(op, "expected elementwise ops: the schedule 'rows' takes reductions");
  return success();
}

/// True if `result` has a number for each row of the first result, whose last dimension is columns.
bool FunctionTiler::isOfRows(Value result) {
  return !func.getOps<scf::ForOp>().empty() && !shape.empty() &&
         sizes.of(result) == SmallVector<Extent>(ArrayRef(shape).drop_back());
}

LogicalResult FunctionTiler::check() {
  sizes.replaceDims();
  if (!func.getBody().hasOneBlock())
    return refuse(func, "expected a function with a body of one block");
  results = computedBefore(func);
  if (results.empty())
    return refuse(func, "expected a function that returns tensors that it computes");
  // Statistics of rows may be among the results of an attention; what has columns comes first.
  if (!func.getOps<scf::ForOp>().empty()) {
    SmallVector<Value> all = results.takeVector();
    auto rank = [](Value each) { return cast<RankedTensorType>(each.getType()).getRank(); };
    int64_t most = 0;
    for (Value each : all)
      most = std::max(most, rank(each));
    for (bool hasColumns : {true, false})
      for (Value each : all)
        if ((rank(each) == most) == hasColumns)
          results.insert(each);
  }
  shape = sizes.of(results.front());
  for (Value result : results) {
    auto type = cast<RankedTensorType>(result.getType());
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (sizes.of(result) != shape && !isOfRows(result))
      stream << "expected results of one shape in a kernel, got " << results.front().getType()
             << " and " << type << ": compile them by themselves";
    else if (!isTileElement(type.getElementType()))
      stream << kTileElements << ", got " << type.getElementType();
    if (!text.empty())
      return refuse(result.getDefiningOp(), text);
  }
  llvm::SetVector<Operation *> open;
  for (Value result : results)
    open.insert(result.getDefiningOp());
  for (unsigned i = 0; i < open.size(); ++i) {
    if (failed(checkOp(open[i])))
      return failure();
    // Of a loop on tensors, all that is done in it.
    if (auto inside = dyn_cast<scf::ForOp>(open[i]))
      for (Operation &op : *inside.getBody())
        open.insert(&op);
    for (Value operand : open[i]->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !isInMemory(operand) &&
          operand.getDefiningOp())
        open.insert(operand.getDefiningOp());
  }
  FailureOr<std::optional<ScanOf>> found = findScan(results.getArrayRef(), where, why);
  if (failed(found))
    return failure();
  scan = *found;
  // Other schedules take it for the reduction that it is, too.
  auto module = func->getParentOfType<ModuleOp>();
  if (results.size() == 1 && module && scheduleOf(module) == "scatter")
    scatter = Scatter::match(results.front().getDefiningOp());
  return success();
}

/// The loop over workgroups, and the places of the results that it sets.
void FunctionTiler::makeLoop() {
  SmallVector<OpFoldResult> from, to, step;
  SmallVector<unsigned> dims;
  auto add = [&](unsigned dim, int64_t by) {
    dims.push_back(dim);
    from.push_back(rewriter.getIndexAttr(0));
    to.push_back(shape[dim].fold(rewriter));
    step.push_back(rewriter.getIndexAttr(by));
  };
  for (auto [use, role] : {std::pair(DimUse::Rows, kRows), std::pair(DimUse::Columns, kColumns)})
    for (auto [dim, is] : llvm::enumerate(plan.dims))
      if (is == use && !plan.whole[role])
        add(dim, plan.tile[role] * (role == kColumns ? plan.columnsInTurn : 1));
  for (auto [dim, is] : llvm::enumerate(plan.dims))
    if (is == DimUse::Number && !shape[dim].is(1))
      add(dim, 1);
  // Rows in turn are those of the last of these dimensions.
  if (plan.rowsInTurn > 1) {
    inTurn = dims.back();
    step.back() = rewriter.getIndexAttr(plan.rowsInTurn);
  }
  while (from.size() < 2) {
    from.push_back(rewriter.getIndexAttr(0));
    to.push_back(rewriter.getIndexAttr(1));
    step.push_back(rewriter.getIndexAttr(1));
  }
  loop = scf::ForallOp::create(rewriter, func.getLoc(), from, to, step, ValueRange(), std::nullopt);
  places.resize(shape.size());
  for (auto [place, use] : llvm::zip_equal(places, plan.dims)) {
    if (use == DimUse::Rows || use == DimUse::Columns)
      place.steps[use == DimUse::Rows ? kRows : kColumns] = 1;
    if (use == DimUse::Folded)
      place.steps = {plan.tile[kColumns], 1};
  }
  for (auto [dim, variable] : llvm::zip(dims, loop.getInductionVars()))
    places[dim].base = variable;
}

/// Tells how far the loop's variables go, and moves last tiles inside.
void FunctionTiler::boundPlaces(TileWriter &writer) {
  for (auto [place, use, size] : llvm::zip_equal(places, plan.dims, shape)) {
    if (!place.base)
      continue;
    if (!size.isKnown()) {
      writer.setBelow(place.base, size);
      continue;
    }
    int64_t extent = size.number;
    int64_t tile = use == DimUse::Rows      ? plan.tile[kRows]
                   : use == DimUse::Columns ? plan.tile[kColumns]
                                            : 1;
    int64_t most = (extent - 1) / tile * tile;
    if (plan.movesInside && extent % tile != 0 && extent > tile) {
      most = extent - tile;
      Value last = arith::ConstantIndexOp::create(rewriter, func.getLoc(), most);
      place.base = arith::MinUIOp::create(rewriter, func.getLoc(), place.base, last);
    }
    writer.setHighest(place.base, most);
  }
}

/// Stores the results of each of a workgroup's rows.
LogicalResult FunctionTiler::writeRows(TileWriter &writer) {
  if (plan.columnsInTurn > 1)
    return writeColumns(writer);
  if (!inTurn)
    return write(writer, 0);
  Value first = places[*inTurn].base;
  return writer.inLoop(plan.rowsInTurn, 1, [&](Value variable) {
    Value row = arith::AddIOp::create(rewriter, func.getLoc(), first, variable);
    places[*inTurn].base = row;
    writer.setHighest(row, shape[*inTurn].number - 1);
    return write(writer, 0);
  });
}

/// Stores the results of each of a workgroup's tiles beside each other.
LogicalResult FunctionTiler::writeColumns(TileWriter &writer) {
  Place &place = places[llvm::find(plan.dims, DimUse::Columns) - plan.dims.begin()];
  int64_t width = plan.tile[kColumns], all = width * plan.columnsInTurn;
  if (plan.partsDiffer) {
    // All columns of the results.
    for (place = Place::along(kColumns); place.shift < all; place.shift += width)
      if (failed(write(writer, 0)))
        return failure();
    return success();
  }
  Value first = place.base;
  return writer.inLoop(all, width, [&](Value variable) {
    place.base = arith::AddIOp::create(rewriter, func.getLoc(), first, variable);
    return write(writer, 0);
  });
}

/// Stores the results, in loops over what a workgroup computes of rows and columns beyond its tile.
LogicalResult FunctionTiler::write(TileWriter &writer, unsigned role) {
  for (; role < 2; ++role) {
    DimUse use = role == kRows ? DimUse::Rows : DimUse::Columns;
    auto found = llvm::find(plan.dims, use);
    if (!plan.whole[role] || found == plan.dims.end())
      continue;
    unsigned dim = found - plan.dims.begin();
    if (shape[dim].isKnown() && shape[dim].number <= plan.tile[role])
      continue;
    return writer.inLoop(shape[dim], plan.tile[role], [&](Value variable) {
      places[dim].base = variable;
      return write(writer, role + 1);
    });
  }
  for (auto [result, memory] : llvm::zip_equal(results, memories)) {
    ArrayRef<Place> at(places);
    if (isOfRows(result))
      at = at.drop_back();
    FailureOr<Value> vector = writer.value(result, at);
    if (failed(vector))
      return failure();
    writer.store(*vector, result, memory, at);
  }
  return success();
}

/// Stores the results in a loop over the dimension that is scanned.
LogicalResult FunctionTiler::writeScan(TileWriter &writer) {
  auto placesAt = [&](Value variable, int64_t step) {
    places[scan->scanned()].base = variable;
    places[scan->scanned()].shift = step;
    return llvm::map_to_vector(scan->dims,
                               [&](int64_t dim) { return dim < 0 ? Place() : places[dim]; });
  };
  // Tiles of columns are the scan's loop.
  if (plan.scansTiles)
    return writer.inTileScan(scan->scan, placesAt, [&] { return write(writer, 2); });
  return writer.inScan(scan->scan, placesAt, [&] { return write(writer, 0); });
}

/// Each subgroup has the same share of a tile.
LogicalResult FunctionTiler::checkLayout() {
  for (unsigned role : {kRows, kColumns}) {
    int64_t size = plan.tile[role], count = plan.layout[role];
    if (size % count == 0)
      continue;
    std::string nearest = std::to_string(llvm::alignTo(size, count));
    if (size > count)
      nearest = std::to_string(size / count * count) + " or " + nearest;
    return refuse(func, "sg_layout = [" + Twine(plan.layout[0]) + ", " + Twine(plan.layout[1]) +
                            "] does not divide the tile of " + Twine(plan.tile[0]) + " x " +
                            Twine(plan.tile[1]) + " elements: expected a multiple of " +
                            Twine(count) + (role == kRows ? " rows" : " columns") +
                            ", the same for each subgroup: " + nearest);
  }
  return success();
}

LogicalResult FunctionTiler::run(std::array<int64_t, 2> tile, std::array<int64_t, 2> layout,
                                 const Target *target) {
  if (scatter)
    return runScatter(tile, layout);
  SmallVector<int64_t> planned = sizes.planned(results.front());
  // Other products are sums along a loop.
  bool isAlone = func.getOps<scf::ForOp>().empty();
  std::optional<TilePlan> ofProducts =
      isAlone ? planComputedFactors(results.getArrayRef(), sizes, tile, layout)
              : planProducts(results.getArrayRef(), sizes, tile, layout, target);
  bool isGiven = tile != std::array<int64_t, 2>{0, 0} || layout != std::array<int64_t, 2>{0, 0};
  if (isAlone && !ofProducts && !isGiven)
    ofProducts = planRowsOfProduct(results.getArrayRef(), sizes);
  plan = scan         ? planScan(planned, scan->scanned(), tile, layout,
                                 scan->takesTiles(shape) ? target : nullptr)
         : ofProducts ? *ofProducts
                      : planTiles(results.getArrayRef(), sizes, tile, layout, target);
  if (failed(checkLayout()))
    return failure();
  for (Value result : results)
    if (isOfRows(result) && (!ofProducts || plan.dims.back() != DimUse::Columns))
      return refuse(result.getDefiningOp(),
                    "expected results of one shape, or of the rows of a product");
  allocate();
  makeLoop();
  returnMemory();
  return inWorkgroups([&](TileWriter &writer) {
    LogicalResult written = scan ? writeScan(writer) : writeRows(writer);
    hasRowsOfProduct = plan.rowsOfProduct && writer.products == 1 && writer.contractions == 1;
    return written;
  });
}

/// Memory for the results.
void FunctionTiler::allocate() {
  rewriter.setInsertionPoint(func.getBody().front().getTerminator());
  for (Value result : results) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<Value> ofRun;
    for (auto [extent, size] : llvm::zip_equal(sizes.of(result), type.getShape()))
      if (ShapedType::isDynamic(size))
        ofRun.push_back(
            extent.value ? extent.value
                         : arith::ConstantIndexOp::create(rewriter, result.getLoc(), extent.number)
                               .getResult());
    memories.push_back(memref::AllocOp::create(
        rewriter, result.getLoc(), MemRefType::get(type.getShape(), type.getElementType()), ofRun));
  }
}

/// Returns what the loops wrote.
void FunctionTiler::returnMemory() {
  Operation *end = func.getBody().front().getTerminator();
  for (auto [i, memory] : llvm::enumerate(memories)) {
    Value result = results[i];
    Value tensor =
        bufferization::ToTensorOp::create(rewriter, result.getLoc(), result.getType(), memory,
                                          /*restrict=*/true, /*writable=*/true);
    for (OpOperand &returned : end->getOpOperands())
      if (Value whole = reshapeAs(rewriter, returned.get(), result, tensor))
        rewriter.modifyOpInPlace(end, [&] { returned.set(whole); });
  }
}

/// Runs `write` in the loop over workgroups.
LogicalResult FunctionTiler::inWorkgroups(llvm::function_ref<LogicalResult(TileWriter &)> write) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop.getTerminator());
  TileWriter writer(rewriter, loop, plan, sizes);
  boundPlaces(writer);
  if (succeeded(write(writer)))
    return success();
  where = writer.where;
  why = writer.why;
  return failure();
}

/// Two loops over workgroups: the first writes what the result starts from, the second updates it.
LogicalResult FunctionTiler::runScatter(std::array<int64_t, 2> tile,
                                        std::array<int64_t, 2> layout) {
  SmallVector<Extent> extents = sizes.loopsOf(scatter->op);
  SmallVector<utils::IteratorType> kinds = scatter->op.getIteratorTypesArray();
  extents.erase(extents.begin() + scatter->loop);
  kinds.erase(kinds.begin() + scatter->loop);
  TilePlan updates = planScatter(extents, kinds);
  for (unsigned role : {kRows, kColumns}) {
    if (layout[role] != 0)
      updates.layout[role] = layout[role];
    if (tile[role] != 0)
      updates.tile[role] = tile[role];
  }
  allocate();
  // Both are launched with as many subgroups.
  Value init = scatter->init();
  bool isLine = shape.size() == 1;
  plan = planTiles(init, sizes,
                   {updates.layout[kRows] * (isLine ? 1 : 8), updates.layout[kColumns] * 32},
                   updates.layout);
  makeLoop();
  first = loop;
  auto copy = [&](TileWriter &writer) -> LogicalResult {
    FailureOr<Value> vector = writer.value(init, places);
    if (succeeded(vector))
      writer.store(*vector, scatter->op->getResult(0), memories.front(), places);
    return success(succeeded(vector));
  };
  if (failed(checkLayout()) || failed(inWorkgroups(copy)))
    return failure();
  shape = extents;
  plan = updates;
  places.clear();
  makeLoop();
  returnMemory();
  auto update = [&](TileWriter &writer) {
    places.insert(places.begin() + scatter->loop, Place());
    return writer.scatter(*scatter, memories.front(), places);
  };
  return success(succeeded(checkLayout()) && succeeded(inWorkgroups(update)));
}

} // namespace

bool computesRowsOfProduct(RewriterBase &rewriter, func::FuncOp func) {
  FunctionTiler tiler(rewriter, func, /*elementwise=*/false);
  return succeeded(tiler.check()) && succeeded(tiler.run({0, 0}, {0, 0})) && tiler.hasRowsOfProduct;
}

int64_t timesOfFactors(RewriterBase &rewriter, func::FuncOp func) {
  FunctionTiler tiler(rewriter, func, /*elementwise=*/false);
  bool isWritten = succeeded(tiler.check()) && succeeded(tiler.run({0, 0}, {0, 0}));
  return isWritten ? tiler.plan.timesOfFactors : 0;
}

DiagnosedSilenceableFailure ToTilesOp::apply(TransformRewriter &rewriter, TransformResults &results,
                                             TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  std::array<int64_t, 4> given = {};
  std::array<Value, 4> params = {getGivenM(), getGivenN(), getGivenRows(), getGivenColumns()};
  constexpr std::array<StringLiteral, 4> names = {"rows of the tile", "columns of the tile",
                                                  "rows of subgroups", "columns of subgroups"};
  for (unsigned i = 0; i < 4; ++i) {
    if (auto diag = readInteger(op, state, params[i], names[i], 0, given[i]); !diag.succeeded())
      return diag;
    if (given[i] > kMaxTileSize)
      return op.emitDefiniteFailure()
             << names[i] << " = " << given[i] << ": expected at most " << kMaxTileSize;
  }
  const Target *target = nullptr;
  if (getChip()) {
    StringRef chip;
    if (auto diag = readString(op, state, getChip(), "target", chip); !diag.succeeded())
      return diag;
    target = findAttentionTarget(chip);
  }
  // Functions that check sizes stay beside those that compute.
  auto targets = llvm::to_vector(state.getPayloadOps(getTarget()));
  llvm::erase_if(targets, [](Operation *each) { return each->hasAttr(kConditionsAttr); });
  if (targets.size() != 1)
    return op.emitDefiniteFailure() << "expected one function, got " << targets.size();
  auto func = dyn_cast<func::FuncOp>(targets.front());
  if (!func || func.isExternal())
    return wrongTarget(op, targets.front(), "func.func with a body");
  FunctionTiler tiler(rewriter, func, getElementwise());
  if (failed(tiler.check()) ||
      failed(tiler.run({given[0], given[1]}, {given[2], given[3]}, target))) {
    DiagnosedDefiniteFailure diag = ::emitDefiniteFailure(tiler.where->getLoc(), tiler.why);
    diag.attachNote(op->getLoc()) << "required by this step of the schedule";
    return diag;
  }
  SmallVector<Operation *> workgroups{tiler.loop};
  if (tiler.first)
    workgroups.insert(workgroups.begin(), tiler.first);
  results.set(cast<OpResult>(getWorkgroups()), workgroups);
  Builder b(getContext());
  results.setParams(cast<OpResult>(getSubgroupsM()), {b.getI64IntegerAttr(tiler.plan.layout[0])});
  results.setParams(cast<OpResult>(getSubgroupsN()), {b.getI64IntegerAttr(tiler.plan.layout[1])});
  return DiagnosedSilenceableFailure::success();
}

void ToTilesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
