//===- TileValues.cpp - values of ops that move elements ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tensor and places. Out: the vector of its elements there, computed once; slices, pads,
// concatenations and reshapes change places only. Refused: other ops, and places that are none.
#include "xetile/IR/XeTileOps.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Schedule/Tiles/AtDepth.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace xetile::transform_ops {

/// Ops behind each other in one kernel; each takes some hundred bytes of the compiler's stack.
constexpr unsigned kMaxDepth = 1000;
/// Values of one kernel; more are the same ones at ever other places.
constexpr unsigned kMaxValues = 20000;

FailureOr<Value> TileWriter::value(Value tensor, ArrayRef<Place> places, TypedAttr padding) {
  Key key{reinterpret_cast<int64_t>(tensor.getAsOpaquePointer()),
          reinterpret_cast<int64_t>(Attribute(padding).getAsOpaquePointer())};
  append(key, places);
  if (Value *known = find(key))
    return *known;
  AtDepth lowest(*this, std::max(depthOf(places), depthOfTensor(tensor)));
  FailureOr<Value> result = compute(tensor, places, padding);
  if (succeeded(result))
    scopes.back()->known[key] = *result;
  return result;
}

LogicalResult TileWriter::enter(Operation *op) {
  if (depth >= kMaxDepth)
    return refuse(op,
                  "expected at most " + Twine(kMaxDepth) + " ops behind each other in one kernel");
  if (++written > kMaxValues)
    return refuse(op, Twine("it would be computed over and over: ") + kSeveralKernels);
  ++depth;
  return success();
}

FailureOr<Value> TileWriter::compute(Value tensor, ArrayRef<Place> places, TypedAttr padding) {
  if (TypedAttr constant = getSplat(tensor))
    return splat(constant);
  if (isInMemory(tensor))
    return load(tensor, places, padding);
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return ofCarried(cast<BlockArgument>(tensor), places);
  if (failed(enter(op)))
    return failure();
  llvm::scope_exit leave([&] { --depth; });
  llvm::SaveAndRestore<Location> at(loc, op->getLoc());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return ofLinalg(linalgOp, cast<OpResult>(tensor).getResultNumber(), places);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return ofLoop(loop, cast<OpResult>(tensor).getResultNumber(), places);
  return move(tensor, places, padding);
}

FailureOr<Value> TileWriter::move(Value tensor, ArrayRef<Place> places, TypedAttr padding) {
  using Result = FailureOr<Value>;
  return TypeSwitch<Operation *, Result>(tensor.getDefiningOp())
      .Case([&](tensor::EmptyOp op) -> Result {
        return splat(cast<TypedAttr>(b.getZeroAttr(op.getType().getElementType())));
      })
      .Case([&](tensor::CastOp op) { return value(op.getSource(), places, padding); })
      .Case([&](tensor::ExtractSliceOp op) { return ofSlice(op, places, padding); })
      .Case([&](tensor::InsertSliceOp op) { return ofInsertion(op, places); })
      .Case([&](tensor::ConcatOp op) { return ofConcat(op, places); })
      .Case([&](tensor::PadOp op) { return ofPad(op, places); })
      .Case([&](tensor::ExpandShapeOp op) { return ofExpansion(op, places); })
      .Case([&](tensor::CollapseShapeOp op) { return ofCollapse(op, places); })
      .Default([&](Operation *op) -> Result {
        return refuse(
            op, "expected linalg ops and ops that move elements of tensors in a kernel, got " +
                    op->getName().getStringRef());
      });
}

/// True if kernels get `index` from their caller, or it is a number.
bool TileWriter::isKnownBefore(OpFoldResult index) const {
  auto value = dyn_cast<Value>(index);
  return !value || value.getParentBlock() == workgroups->getBlock();
}

/// Places in what a slice is of.
FailureOr<SmallVector<Place>> TileWriter::inSlice(OffsetSizeAndStrideOpInterface op,
                                                  const llvm::SmallBitVector &dropped,
                                                  ArrayRef<Place> places) {
  SmallVector<Place> result;
  unsigned next = 0;
  for (auto [dim, offset, step] : llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
    std::optional<int64_t> by = getConstantIntValue(step);
    FailureOr<Place> from = placeOf(offset);
    if (!by || failed(from)) {
      (void)refuse(op, "expected slices at offsets and steps known when compiled");
      return failure();
    }
    Place inner = dropped.test(dim) ? Place() : places[next++];
    result.push_back(add(scale(inner, *by), *from));
  }
  return result;
}

FailureOr<Value> TileWriter::ofSlice(tensor::ExtractSliceOp op, ArrayRef<Place> places,
                                     TypedAttr padding) {
  FailureOr<SmallVector<Place>> inner = inSlice(op, op.getDroppedDims(), places);
  if (failed(inner))
    return failure();
  return value(op.getSource(), *inner, padding);
}

FailureOr<Value> TileWriter::ofInsertion(tensor::InsertSliceOp op, ArrayRef<Place> places) {
  if (!op.hasUnitStride())
    return ofSteppedInsertion(op, places);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<Place> inner;
  Value mask;
  for (auto [dim, offset] : llvm::enumerate(op.getMixedOffsets())) {
    if (!isKnownBefore(offset))
      return refuse(op, "expected insertions at offsets known before the kernel");
    Place place = subtract(places[dim], offset);
    Extent extent = dropped.test(dim) ? Extent(1) : extents.of(op.getSource(), inner.size());
    mask = both(mask, isBelow(indices(place), extent));
    if (!dropped.test(dim))
      inner.push_back(inBounds(place, extent));
  }
  FailureOr<Value> over = value(op.getSource(), inner), under = value(op.getDest(), places);
  if (failed(over) || failed(under))
    return failure();
  return mask ? select(mask, *over, *under) : *over;
}

/// Elements with others between them: each index, less the offset, is divided by the step.
FailureOr<Value> TileWriter::ofSteppedInsertion(tensor::InsertSliceOp op, ArrayRef<Place> places) {
  if (llvm::any_of(op.getMixedStrides(),
                   [](OpFoldResult each) { return getConstantIntValue(each).value_or(0) < 1; }))
    return refuse(op, "expected insertions with steps from one on, known when compiled");
  if (!op.getSourceType().hasStaticShape() || ShapedType::isDynamicShape(op.getStaticOffsets()))
    return refuse(op, "expected insertions with steps of sizes and at offsets known when compiled");
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<Value> inner;
  Value mask;
  for (auto [dim, offset, step] : llvm::enumerate(op.getStaticOffsets(), op.getStaticStrides())) {
    // Below the offset indices are far above, without a sign.
    Value index = indices(add(places[dim], Place::at(-offset)));
    ArrayRef<int64_t> shape = cast<VectorType>(index.getType()).getShape();
    mask = both(mask, isBelow(index, (op.getStaticSizes()[dim] - 1) * step + 1));
    if (step != 1) {
      Value by = indexSplat(step, shape);
      Value rest = arith::RemUIOp::create(b, loc, index, by);
      mask = both(mask, isBelow(rest, 1));
      index = arith::DivUIOp::create(b, loc, index, by);
    }
    if (!dropped.test(dim))
      inner.push_back(index);
  }
  FailureOr<Value> over = valueAt(op, op.getSource(), inner), under = value(op.getDest(), places);
  if (failed(over) || failed(under))
    return failure();
  return select(mask, *over, *under);
}

/// The tensor that all pieces of a concatenation are slices of, which differ in where they begin
/// along its dimension: `starts`. Null for others.
static Value sourceOfPieces(tensor::ConcatOp op, SmallVectorImpl<int64_t> &starts) {
  Value source;
  for (Value input : op.getInputs()) {
    auto slice = input.getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || !slice.getSourceType().hasStaticShape() || !slice.getType().hasStaticShape() ||
        !slice.hasUnitStride() || slice.getDroppedDims().any() ||
        (source && slice.getSource() != source))
      return {};
    source = slice.getSource();
    for (auto [dim, offset] : llvm::enumerate(slice.getStaticOffsets()))
      if (ShapedType::isDynamic(offset) || (dim != op.getDim() && offset != 0))
        return {};
    starts.push_back(slice.getStaticOffsets()[op.getDim()]);
  }
  return source;
}

/// Where what is at an index of a concatenation lies in the tensor that its pieces are slices of.
Place TileWriter::inPieces(tensor::ConcatOp op, const Place &place, ArrayRef<int64_t> starts) {
  Value index = cast<Value>(start(place)), shift;
  int64_t end = op.getType().getDimSize(op.getDim());
  for (auto [input, first] : llvm::reverse(llvm::zip_equal(op.getInputs(), starts))) {
    Value bound = number(end);
    end -= cast<RankedTensorType>(input.getType()).getDimSize(op.getDim());
    Value here = number(first - end);
    AtDepth depth(*this, depthOf(index));
    if (!shift) {
      shift = here;
      continue;
    }
    Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, bound);
    shift = arith::SelectOp::create(b, loc, isHere, here, shift);
  }
  AtDepth depth(*this, depthOf(index));
  Place result;
  result.base = arith::AddIOp::create(b, loc, index, shift);
  return result;
}

FailureOr<Value> TileWriter::ofConcat(tensor::ConcatOp op, ArrayRef<Place> places) {
  uint64_t dim = op.getDim();
  Place rest = places[dim];
  // One element of each piece is read where it is, of which no other piece is.
  SmallVector<int64_t> starts;
  if (Value source = rest.isNumber() && rest.base ? sourceOfPieces(op, starts) : Value()) {
    SmallVector<Place> inner(places);
    inner[dim] = inPieces(op, inBounds(rest, extents.of(op.getResult(), dim)), starts);
    highest[inner[dim].base] = cast<RankedTensorType>(source.getType()).getDimSize(dim) - 1;
    return value(source, inner);
  }
  FailureOr<Value> result = failure();
  for (Value input : op.getInputs()) {
    Extent extent = extents.of(input, dim);
    SmallVector<Place> inner(places);
    Place place = rest;
    inner[dim] = inBounds(place, extent);
    // Of one input alone, nothing is selected.
    if (isInside(place, extent))
      return value(input, inner);
    rest = subtract(rest, extent.fold(b));
    if (isOutside(place, extent) && (succeeded(result) || input != op.getInputs().back()))
      continue;
    FailureOr<Value> part = value(input, inner);
    if (failed(part))
      return failure();
    result = failed(result) ? part : select(isBelow(indices(place), extent), *part, *result);
  }
  return result;
}

/// Of the extension to wider floats of a tensor in memory, that tensor, if the number around it is
/// one of its type, too: `around` becomes that. Null for others.
static Value beforeExtension(Value tensor, TypedAttr &around) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  auto number = dyn_cast<FloatAttr>(around);
  if (!op || !number || !isElementwiseOnTensors(op) || op.getNumDpsInputs() != 1 ||
      !isInMemory(op.getInputs()[0]) ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return {};
  auto extend = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::ExtFOp>();
  if (!extend || extend.getIn() != op.getBody()->getArgument(0))
    return {};
  auto narrow = cast<FloatType>(extend.getIn().getType());
  APFloat value = number.getValue();
  bool losesInfo = false;
  value.convert(narrow.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (losesInfo)
    return {};
  around = FloatAttr::get(narrow, value);
  return op.getInputs()[0];
}

FailureOr<Value> TileWriter::ofPad(tensor::PadOp op, ArrayRef<Place> places) {
  Value padding = op.getConstantPaddingValue();
  TypedAttr around = padding ? getSplat(padding) : TypedAttr();
  if (!around)
    return refuse(op, "expected a constant around a padded tensor");
  // Loads pad, which saves to select of what is extended.
  Value narrow = beforeExtension(op.getSource(), around), source = narrow ? narrow : op.getSource();
  SmallVector<Place> padded, inner;
  SmallVector<Extent> shape = extents.of(op.getSource());
  for (auto [place, low, extent] : llvm::zip_equal(places, op.getMixedLowPad(), shape)) {
    if (!isKnownBefore(low))
      return refuse(op, "expected padding known before the kernel");
    padded.push_back(subtract(place, low));
    inner.push_back(inBounds(padded.back(), extent));
  }
  bool inMemory = isInMemory(source);
  FailureOr<Value> result = value(source, inner, inMemory ? around : TypedAttr());
  if (failed(result))
    return failure();
  // Loads pad along rows and columns.
  for (auto [place, extent, low, high] :
       llvm::zip_equal(padded, shape, op.getStaticLow(), op.getStaticHigh()))
    if ((low != 0 || high != 0) && (!inMemory || place.isNumber()))
      result = select(isBelow(indices(place), extent), *result, splat(around));
  if (!narrow)
    return result;
  auto type = cast<VectorType>(result->getType());
  return Value(
      arith::ExtFOp::create(b, loc, type.clone(getElementTypeOrSelf(op.getType())), *result));
}

FailureOr<Value> TileWriter::ofExpansion(tensor::ExpandShapeOp op, ArrayRef<Place> places) {
  SmallVector<Extent> shape = extents.of(op.getResult());
  SmallVector<Place> inner;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    Place whole;
    Extent step = 1;
    for (int64_t dim : llvm::reverse(group)) {
      if (!shape[dim].is(1)) {
        FailureOr<Place> part = scale(places[dim], step);
        if (failed(part))
          return refuse(op, "expected sizes known when compiled of dimensions that one is split "
                            "into, but of the first of them");
        whole = add(whole, *part);
      }
      if (dim != group.front())
        step = product(step, shape[dim]);
    }
    inner.push_back(whole);
  }
  return value(op.getSrc(), inner);
}

/// Collapses the operands of an elementwise producer: by reshapes if all have its shape, else by
/// quotients and remainders in the maps of those in memory; null for other producers.
Value TileWriter::collapseOperands(tensor::CollapseShapeOp op) {
  auto source = op.getSrc().getDefiningOp<linalg::LinalgOp>();
  if (!source || !op.getSrcType().hasStaticShape() || source->getNumResults() != 1 ||
      source.hasIndexSemantics() || source.getNumParallelLoops() != source.getNumLoops() ||
      !source.getIndexingMapsArray().back().isIdentity())
    return {};
  unsigned rank = op.getResultType().getRank();
  SmallVector<AffineExpr> quotients = delinearize(op, op.getSrcType().getShape());
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : source->getOpOperands()) {
    AffineMap map = source.getMatchingIndexingMap(&operand);
    if (!map.isIdentity() && !isInMemory(operand.get()) && !getSplat(operand.get()))
      return {};
    maps.push_back(map.isIdentity() ? identity : map.replaceDimsAndSymbols(quotients, {}, rank, 0));
  }
  Value &known = reshaped[op.getOperation()];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(workgroups);
  SmallVector<Value> operands;
  for (auto [operand, map] :
       llvm::zip_equal(source->getOperands(), source.getIndexingMapsArray())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    operands.push_back(type && map.isIdentity()
                           ? tensor::CollapseShapeOp::create(
                                 b, loc, op.getResultType().clone(type.getElementType()), operand,
                                 op.getReassociation())
                           : operand);
  }
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  auto collapsed =
      linalg::GenericOp::create(b, source.getLoc(), TypeRange(op.getResultType()),
                                ArrayRef(operands).drop_back(), operands.back(), maps, kinds);
  IRMapping mapping;
  source->getRegion(0).cloneInto(&collapsed.getRegion(), mapping);
  return known = collapsed.getResult(0);
}

FailureOr<Value> TileWriter::ofCollapse(tensor::CollapseShapeOp op, ArrayRef<Place> places) {
  SmallVector<Extent> shape = extents.of(op.getSrc());
  bool merges =
      llvm::any_of(llvm::zip_equal(places, op.getReassociationIndices()), [&](const auto &each) {
        return !std::get<0>(each).isNumber() && llvm::count_if(std::get<1>(each), [&](int64_t dim) {
                                                  return !shape[dim].is(1);
                                                }) > 1;
      });
  if (Value collapsed = merges ? collapseOperands(op) : Value())
    return value(collapsed, places);
  SmallVector<Place> inner(shape.size());
  for (auto [place, group] : llvm::zip_equal(places, op.getReassociationIndices())) {
    Extent below = 1;
    SmallVector<int64_t> live;
    for (int64_t dim : group)
      if (!shape[dim].is(1))
        live.push_back(dim);
    if (live.size() == 1) {
      inner[live.front()] = place;
      continue;
    }
    if (live.size() > 1 && !(place.isNumber() && place.shift >= 0) &&
        !hasKnownInnerSizes(numbersOf(op.getSrc()), op.getReassociationIndices()))
      return refuse(op, "expected sizes known when compiled of dimensions that become one, but of "
                        "the first of them: a tile would run along several");
    if (live.size() > 1 && !(place.isNumber() && place.shift >= 0))
      return valueAt(op, op,
                     llvm::map_to_vector(places, [&](const Place &each) { return indices(each); }));
    for (int64_t dim : llvm::reverse(live)) {
      Place rest = place.base || place.shift ? place : Place();
      if (rest.base || (rest.shift != 0 && !(below.isKnown() && shape[dim].isKnown()))) {
        if (!rest.base)
          rest.base = number(0);
        Place quotient;
        quotient.base = below.is(1) ? cast<Value>(start(rest))
                                    : divideIndex(cast<Value>(start(rest)), below, false);
        if (dim != live.front())
          quotient.base = divideIndex(quotient.base, shape[dim], true);
        inner[dim] = quotient;
      } else {
        int64_t at = rest.shift == 0 ? 0 : rest.shift / below.number;
        inner[dim] = Place::at(dim == live.front() || at == 0 ? at : at % shape[dim].number);
      }
      if (dim != live.front())
        below = product(below, shape[dim]);
    }
  }
  return value(op.getSrc(), inner);
}

FailureOr<Value> TileWriter::ofLinalg(linalg::LinalgOp op, unsigned result,
                                      ArrayRef<Place> places) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  SmallVector<Extent> ranges = extents.loopsOf(op);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<Place> loops(ranges.size());
  llvm::SmallBitVector known(ranges.size());
  for (auto [expr, place] : llvm::zip_equal(map.getResults(), places)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && !isa<AffineConstantExpr>(expr))
      return refuse(op, "expected results that are indexed by loops, one a dimension");
    if (!dim)
      continue;
    // A scan's kernel knows its values before anything asks for them.
    if (kinds[dim.getPosition()] == utils::IteratorType::reduction)
      return refuse(op, "expected the results of an op that reduces to be indexed by its parallel "
                        "loops, or a scan: one such loop, and a second result that is what is "
                        "combined");
    loops[dim.getPosition()] = place;
    known.set(dim.getPosition());
  }
  SmallVector<unsigned> reduced;
  for (unsigned dim = 0; dim < loops.size(); ++dim) {
    if (known.test(dim))
      continue;
    if (kinds[dim] == utils::IteratorType::reduction)
      reduced.push_back(dim);
    else if (!ranges[dim].is(1))
      return refuse(op, "expected parallel loops to go over the result");
  }
  // A reduction over a single element is a reduction, too.
  if (!reduced.empty())
    return this->reduce(op, result, loops, reduced);
  return scalarCode(op, loops, op.getBlock()->getTerminator()->getOperand(result));
}

} // namespace xetile::transform_ops
