//===- TileScans.cpp - a loop that combines each element with those before ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a scan, the places of its result for each step of its loop. Out: a loop that carries what was
// combined so far, each lane its own; or one over tiles, each a vector.scan. Refused: what the
// writer refuses of the elements.
#include "xetile/Schedule/Tiles/ScanOf.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include <set>

using namespace mlir;

namespace xetile::transform_ops {

/// Steps of the loop that are written one by one, so that their loads do not wait for one another.
constexpr int64_t kUnrolled = 8;

/// The loops of a scan at places of its result.
static SmallVector<Place> loopsOf(Scan &scan, ArrayRef<Place> places) {
  AffineMap all = scan.op.getMatchingIndexingMap(scan.op.getDpsInitOperand(0));
  SmallVector<Place> loops(places.size());
  for (auto [expr, place] : llvm::zip_equal(all.getResults(), places))
    loops[cast<AffineDimExpr>(expr).getPosition()] = place;
  return loops;
}

/// A combined value, as the elements of the result.
Value TileWriter::rounded(Scan &scan, Value combined) {
  for (Operation *round : scan.rounds) {
    auto type = cast<VectorType>(combined.getType()).clone(round->getResult(0).getType());
    OperationState state(loc, round->getName(), {combined}, type, round->getAttrs());
    combined = b.create(state)->getResult(0);
  }
  return combined;
}

LogicalResult TileWriter::inScan(Scan scan,
                                 llvm::function_ref<SmallVector<Place>(Value, int64_t)> placesAt,
                                 llvm::function_ref<LogicalResult()> write) {
  linalg::GenericOp op = scan.op;
  Extent extent = extents.loopsOf(op)[scan.loop];
  int64_t unrolled = kUnrolled;
  while (!extent.isMultipleOf(unrolled))
    unrolled /= 2;
  SmallVector<int64_t> shape{1, 1};
  SmallVector<Place> first = placesAt(Value(), 0);
  for (const Place &place : first)
    for (Role role : {kRows, kColumns})
      if (place.steps[role] != 0)
        shape[role] = size(role);
  FailureOr<Value> start = read(op, *op.getDpsInitOperand(1), loopsOf(scan, first));
  if (failed(start))
    return failure();
  auto step = [&](Value variable, Value last) -> FailureOr<Value> {
    SmallVector<SmallVector<Place>> places;
    SmallVector<Value> elements;
    for (int64_t i = 0; i < unrolled; ++i) {
      places.push_back(placesAt(variable, i));
      FailureOr<Value> element = scalarCode(op, loopsOf(scan, places.back()), scan.element);
      if (failed(element))
        return failure();
      elements.push_back(repeat(*element, shape));
    }
    for (int64_t i = 0; i < unrolled; ++i) {
      last = combineLike(b, loc, scan.combine, last, elements[i]);
      Value result = rounded(scan, last);
      Key key{reinterpret_cast<int64_t>(op.getResult(0).getAsOpaquePointer()), 0};
      append(key, places[i]);
      scopes.back()->known[key] = result;
      (void)placesAt(variable, i);
      if (failed(write()))
        return failure();
    }
    return last;
  };
  FailureOr<Value> done = carry(extent, unrolled, repeat(*start, shape), step);
  return failed(done) ? failure() : success();
}

/// Reads what the body of `op` uses, so that it is there before anything is stored.
LogicalResult TileWriter::readInputs(linalg::GenericOp op, ArrayRef<Place> loops) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.payloadUsesValueFromOperand(input) && failed(read(op, *input, loops)))
      return failure();
  return success();
}

/// Two tiles at a time, where there are as many, so that the second one's loads do not wait.
LogicalResult
TileWriter::inTileScan(Scan scan, llvm::function_ref<SmallVector<Place>(Value, int64_t)> placesAt,
                       llvm::function_ref<LogicalResult()> write) {
  linalg::GenericOp op = scan.op;
  SmallVector<int64_t> shape{size(kRows), size(kColumns)}, ends{shape[kRows], 1};
  SmallVector<Place> first = placesAt(Value(), 0);
  if (llvm::none_of(first, [](const Place &place) { return place.steps[kRows] != 0; }))
    shape[kRows] = ends[kRows] = 1;
  FailureOr<Value> start = read(op, *op.getDpsInitOperand(1), loopsOf(scan, first));
  if (failed(start))
    return failure();
  Extent extent = extents.loopsOf(op)[scan.loop];
  int64_t width = size(kColumns), tiles = llvm::divideCeil(extent.number, width) % 2 == 0 ? 2 : 1;
  auto step = [&](Value variable, Value last) -> FailureOr<Value> {
    for (int64_t tile = 0; tile < tiles; ++tile)
      if (failed(readInputs(op, loopsOf(scan, placesAt(variable, tile * width)))))
        return failure();
    for (int64_t tile = 0; tile < tiles; ++tile) {
      SmallVector<Place> places = placesAt(variable, tile * width);
      FailureOr<Value> element = scalarCode(op, loopsOf(scan, places), scan.element);
      if (failed(element))
        return failure();
      Type type = getElementTypeOrSelf(element->getType());
      Value from = vector::ShapeCastOp::create(b, loc, VectorType::get({ends[kRows]}, type), last);
      // Elements beyond the end are the last ones: what they are combined to is for nobody.
      auto made = vector::ScanOp::create(b, loc, *scan.kind(), repeat(*element, shape), from,
                                         /*reduction_dim=*/1, /*inclusive=*/true);
      Key key{reinterpret_cast<int64_t>(op.getResult(0).getAsOpaquePointer()), 0};
      append(key, places);
      scopes.back()->known[key] = rounded(scan, made.getDest());
      if (failed(write()))
        return failure();
      last = vector::ShapeCastOp::create(b, loc, VectorType::get(ends, type),
                                         made.getAccumulatedValue());
    }
    return last;
  };
  FailureOr<Value> done = carry(extent, tiles * width, repeat(*start, ends), step);
  return failed(done) ? failure() : success();
}

//===----------------------------------------------------------------------===//
// Scans of a kernel
//===----------------------------------------------------------------------===//

namespace {

/// Of a dimension: of size one, and of none of the results alone.
enum : int64_t { kUnit = -1, kUnknown = -2 };

/// Walks from results to the scan.
class ScanFinder {
public:
  LogicalResult find(Value tensor, ArrayRef<int64_t> dims);

  std::optional<ScanOf> found;
  Operation *where = nullptr;
  std::string why;

private:
  LogicalResult refuse(Operation *op, StringRef reason) {
    where = op;
    why = reason.str();
    return failure();
  }
  LogicalResult take(Scan scan, ArrayRef<int64_t> dims);
  LogicalResult throughLinalg(linalg::LinalgOp op, unsigned result, ArrayRef<int64_t> dims);

  std::set<std::pair<void *, std::vector<int64_t>>> seen;
};

LogicalResult ScanFinder::take(Scan scan, ArrayRef<int64_t> dims) {
  if (found && found->scan.op != scan.op)
    return refuse(scan.op, "expected one scan in a kernel: compile scans by themselves");
  if (llvm::is_contained(dims, kUnknown) || dims[scan.allDim()] == kUnit ||
      (found && ArrayRef(found->dims) != dims))
    return refuse(scan.op, "expected what reads a scan in its kernel to be elementwise, in the "
                           "order of its dimensions: compile what comes after by itself");
  found = ScanOf{scan, SmallVector<int64_t>(dims)};
  // A scan's producers may hold no other scan.
  return success(llvm::all_of(scan.op.getDpsInputs(),
                              [&](Value operand) { return succeeded(find(operand, {})); }));
}

LogicalResult ScanFinder::throughLinalg(linalg::LinalgOp op, unsigned result,
                                        ArrayRef<int64_t> dims) {
  SmallVector<int64_t> loops(op.getNumLoops(), kUnknown);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, dim] : llvm::zip(map.getResults(), dims))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      loops[loop.getPosition()] = dim;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    SmallVector<int64_t> inner;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      inner.push_back(loop                            ? loops[loop.getPosition()]
                      : isa<AffineConstantExpr>(expr) ? kUnit
                                                      : kUnknown);
    }
    if (failed(find(operand.get(), inner)))
      return failure();
  }
  return success();
}

LogicalResult ScanFinder::find(Value tensor, ArrayRef<int64_t> given) {
  Operation *op = tensor.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!op || !type || isInMemory(tensor))
    return success();
  SmallVector<int64_t> dims(given);
  dims.resize(type.getRank(), kUnknown);
  if (!seen.insert({tensor.getAsOpaquePointer(), std::vector<int64_t>(dims.begin(), dims.end())})
           .second)
    return success();
  if (std::optional<Scan> scan = Scan::match(op))
    return take(*scan, dims);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return throughLinalg(linalgOp, cast<OpResult>(tensor).getResultNumber(), dims);
  for (Value operand : op->getOperands())
    if (failed(
            find(operand, isa<tensor::CastOp>(op) ? ArrayRef<int64_t>(dims) : ArrayRef<int64_t>())))
      return failure();
  return success();
}

} // namespace

FailureOr<std::optional<ScanOf>> findScan(ArrayRef<Value> results, Operation *&where,
                                          std::string &why) {
  ScanFinder finder;
  for (Value result : results) {
    auto rank = cast<RankedTensorType>(result.getType()).getRank();
    if (failed(finder.find(result, llvm::to_vector(llvm::seq<int64_t>(0, rank))))) {
      where = finder.where;
      why = finder.why;
      return failure();
    }
  }
  return finder.found;
}

} // namespace xetile::transform_ops
