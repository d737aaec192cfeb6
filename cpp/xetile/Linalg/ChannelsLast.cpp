//===- ChannelsLast.cpp - convolutions as the matrix unit reads them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: convolutions of f16, bf16 and f32 whose image, filter and result
// have channels last, and transposes around them; elementwise ops and poolings behind them as well,
// so that transposes of a chain of layers cancel; some as products of matrices
// (WindowProducts.cpp). Refused: nothing; other ops stay.
//
// The matrix unit multiplies rows of k: of an image whose channels are last, pixels of a row are
// rows of a matrix in memory, of one whose channels are first none are. Of f32 vector units
// multiply tiles of such matrices, which reads each element once for many products.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/ChannelsLast.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Linalg/WindowProducts.h"

namespace xetile {
#define GEN_PASS_DEF_CHANNELSLAST
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Rows of a matrix in memory have so many bytes at least, and begin at multiples of kPitchBytes.
constexpr int64_t kRowBytes = 64, kPitchBytes = 16;

/// True if a tensor is a slice whose rows do not lie behind each other in memory.
static bool cutsRows(Value tensor) {
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && slice.getDroppedDims().none() &&
         slice.getStaticSizes().back() != slice.getSourceType().getShape().back();
}

/// Elements of k that are multiplied at a time: a row of the least bytes.
static int64_t stepOf(Type element) { return kRowBytes * 8 / element.getIntOrFloatBitWidth(); }

std::optional<ChannelLoops> xetile::matchTiledConvolution(Operation *op) {
  auto convolution = dyn_cast<linalg::LinalgOp>(op);
  if (!convolution || !convolution.hasPureTensorSemantics() || op->getNumOperands() != 3)
    return std::nullopt;
  Type image = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!isa<Float16Type, BFloat16Type, Float32Type>(image) ||
      image != getElementTypeOrSelf(op->getOperand(1).getType()) ||
      !addsProduct(op->getRegion(0).front()))
    return std::nullopt;
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(convolution);
  if (failed(dims) || dims->outputChannel.size() != 1 || dims->inputChannel.size() != 1 ||
      dims->depth.size() > 1 || dims->outputImage.empty())
    return std::nullopt;
  ChannelLoops loops = {dims->inputChannel.front(), dims->outputChannel.front(), std::nullopt};
  if (!dims->depth.empty())
    loops.group = dims->depth.front();
  SmallVector<int64_t> extents = convolution.getStaticLoopRanges();
  // With zeros half of a row may be channels, and half of one narrow filters that have no groups.
  int64_t row = stepOf(image), channels = extents[loops.channel], filters = extents[loops.filter];
  int64_t fewest = image.isF32() || loops.group ? row : row / 2;
  if (channels < row / 2 || filters < fewest || filters % (row * kPitchBytes / kRowBytes) != 0)
    return std::nullopt;
  return loops;
}

/// Where a loop is a dimension of a tensor.
static std::optional<unsigned> placeOf(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

/// True if rows of the filters have the least bytes, maybe with others behind those of the operand.
static bool hasWholeRows(Value filters) {
  while (auto slice = filters.getDefiningOp<tensor::ExtractSliceOp>())
    filters = slice.getSource();
  auto type = cast<RankedTensorType>(filters.getType());
  return type.isDynamicDim(type.getRank() - 1) ||
         type.getShape().back() >= stepOf(type.getElementType());
}

bool xetile::hasChannelsLast(linalg::LinalgOp convolution, const ChannelLoops &loops) {
  SmallVector<AffineMap> maps = convolution.getIndexingMapsArray();
  return placeOf(maps[0], loops.channel) == maps[0].getNumResults() - 1 &&
         placeOf(maps[1], loops.channel) == maps[1].getNumResults() - 2 &&
         placeOf(maps[1], loops.filter) == maps[1].getNumResults() - 1 &&
         placeOf(maps[2], loops.filter) == maps[2].getNumResults() - 1 &&
         hasWholeRows(convolution->getOperand(1)) &&
         convolution.getStaticLoopRanges()[loops.channel] %
                 stepOf(getElementTypeOrSelf(convolution->getOperand(0).getType())) ==
             0;
}

namespace {

/// Dimension i of one tensor is dimension order[i] of another.
using Order = SmallVector<int64_t>;

class ChannelMover {
public:
  explicit ChannelMover(MLIRContext *context) : b(context) {}

  /// Rewrites `op` if it is a convolution, or follows one.
  void visit(Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || op->getNumResults() != 1 || linalgOp.hasIndexSemantics() ||
        op->hasAttr(kScheduleAttr))
      return;
    b.setInsertionPoint(op);
    if (std::optional<WindowProduct> product = matchWindowProduct(op);
        product && !endsWithChannels(op->getOperand(0)) &&
        !(cutsRows(op->getOperand(0)) && matchTiledConvolution(op)) && multiplyWindows(*product))
      return;
    if (std::optional<ChannelLoops> loops = matchTiledConvolution(op))
      moveConvolution(linalgOp, *loops);
    else if (const Order *order = orderBehind(linalgOp))
      replace(linalgOp, Order(*order), operandsBehind(linalgOp, Order(*order)));
  }

  llvm::SmallPtrSet<Operation *, 4> products;

private:
  struct Moved {
    Value last;
    Order order;
  };
  struct Operand {
    Value tensor;
    AffineMap map;
  };

  /// The tensor with its dimensions in that order: one that is there, or a transpose.
  Value inOrder(Value tensor, ArrayRef<int64_t> order);
  Value padInOrder(tensor::PadOp pad, ArrayRef<int64_t> order);
  Value sliceInOrder(tensor::ExtractSliceOp slice, ArrayRef<int64_t> order);
  Value padWhole(Value tensor, unsigned dim);
  Value withWholeRows(Value filters);
  Operand operandInOrder(OpOperand &operand, ArrayRef<int64_t> order);
  Value startInOrder(linalg::LinalgOp op, ArrayRef<int64_t> order);
  Value emptyInOrder(Value tensor, ArrayRef<int64_t> order);
  Value transpose(Value tensor, ArrayRef<int64_t> order);
  void moveConvolution(linalg::LinalgOp op, const ChannelLoops &loops);
  bool endsWithChannels(Value image) const;
  bool multiplyWindows(const WindowProduct &product);
  const Order *orderBehind(linalg::LinalgOp op);
  SmallVector<Operand> operandsBehind(linalg::LinalgOp op, ArrayRef<int64_t> order);
  Value make(linalg::LinalgOp op, ArrayRef<int64_t> order, ArrayRef<Operand> operands);
  void replace(linalg::LinalgOp op, const Order &order, ArrayRef<Operand> operands);

  IRRewriter b;
  /// Of tensors that were moved, those with channels last.
  llvm::DenseMap<Value, Moved> moved;
};

} // namespace

static bool isIdentity(ArrayRef<int64_t> order) {
  return llvm::all_of(llvm::enumerate(order),
                      [](auto each) { return int64_t(each.index()) == each.value(); });
}

Value ChannelMover::emptyInOrder(Value tensor, ArrayRef<int64_t> order) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, tensor.getLoc(), tensor);
  applyPermutationToVector(sizes, order);
  return tensor::EmptyOp::create(b, tensor.getLoc(), sizes, getElementTypeOrSelf(tensor));
}

Value ChannelMover::transpose(Value tensor, ArrayRef<int64_t> order) {
  return linalg::TransposeOp::create(b, tensor.getLoc(), tensor, emptyInOrder(tensor, order), order)
      ->getResult(0);
}

Value ChannelMover::padInOrder(tensor::PadOp pad, ArrayRef<int64_t> order) {
  Value source = inOrder(pad.getSource(), order);
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  applyPermutationToVector(low, order);
  applyPermutationToVector(high, order);
  SmallVector<int64_t> shape(pad.getType().getShape());
  applyPermutationToVector(shape, order);
  return tensor::PadOp::create(b, pad.getLoc(), pad.getType().clone(shape), source, low, high,
                               pad.getConstantPaddingValue(), pad.getNofold());
}

Value ChannelMover::sliceInOrder(tensor::ExtractSliceOp slice, ArrayRef<int64_t> order) {
  Value source = inOrder(slice.getSource(), order);
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(),
                            steps = slice.getMixedStrides();
  for (SmallVector<OpFoldResult> *numbers : {&offsets, &sizes, &steps})
    applyPermutationToVector(*numbers, order);
  return tensor::ExtractSliceOp::create(b, slice.getLoc(), source, offsets, sizes, steps);
}

/// True if a slice has most elements of its tensor, whose other ones may be moved as well: several
/// slices are moved at once.
static bool hasMost(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType(), type = slice.getType();
  return source.hasStaticShape() && type.hasStaticShape() && slice.getDroppedDims().none() &&
         slice.hasUnitStride() && source.getNumElements() / 2 < type.getNumElements();
}

Value ChannelMover::inOrder(Value tensor, ArrayRef<int64_t> order) {
  if (isIdentity(order))
    return tensor;
  if (auto found = moved.find(tensor); found != moved.end()) {
    // Dimension i is dimension order[i] of `tensor`, which is that of `last` that is called so.
    Order places;
    for (int64_t dim : order)
      places.push_back(llvm::find(found->second.order, dim) - found->second.order.begin());
    return inOrder(found->second.last, places);
  }
  if (auto transposed = tensor.getDefiningOp<linalg::TransposeOp>()) {
    Order places;
    for (int64_t dim : order)
      places.push_back(transposed.getPermutation()[dim]);
    return inOrder(transposed.getInput(), places);
  }
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>(); pad && pad.getConstantPaddingValue())
    return padInOrder(pad, order);
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>(); slice && hasMost(slice))
    return sliceInOrder(slice, order);
  return transpose(tensor, order);
}

/// The tensor with zeros behind it, so that a dimension is whole steps of k.
Value ChannelMover::padWhole(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t extent = type.getDimSize(dim),
          whole = llvm::alignTo(extent, stepOf(type.getElementType()));
  if (extent == whole)
    return tensor;
  // Several slices of one tensor have zeros behind them at once.
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
      slice && slice.getDroppedDims().none() && slice.getSourceType().getDimSize(dim) == extent) {
    SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
    sizes[dim] = b.getIndexAttr(whole);
    return tensor::ExtractSliceOp::create(b, tensor.getLoc(), padWhole(slice.getSource(), dim),
                                          slice.getMixedOffsets(), sizes, slice.getMixedStrides());
  }
  SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
  Value source = tensor;
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>())
    if (Value number = pad.getConstantPaddingValue();
        number && matchPattern(number, m_AnyZeroFloat())) {
      source = pad.getSource();
      low = pad.getMixedLowPad();
      high = pad.getMixedHighPad();
    }
  SmallVector<int64_t> shape(type.getShape());
  high[dim] = b.getIndexAttr(whole - extent + getConstantIntValue(high[dim]).value_or(0));
  shape[dim] = whole;
  Value zero = arith::ConstantOp::create(b, tensor.getLoc(), b.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(b, tensor.getLoc(), type.clone(shape), source, low, high, zero);
}

/// Filters in rows of the least bytes: few have zeros behind them, which nobody multiplies.
Value ChannelMover::withWholeRows(Value filters) {
  if (hasWholeRows(filters))
    return filters;
  auto type = cast<RankedTensorType>(filters.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      steps(type.getRank(), b.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(b, filters.getLoc(), filters);
  Value rows = padWhole(filters, type.getRank() - 1);
  return tensor::ExtractSliceOp::create(b, filters.getLoc(), type, rows, offsets, sizes, steps);
}

ChannelMover::Operand ChannelMover::operandInOrder(OpOperand &operand, ArrayRef<int64_t> order) {
  AffineMap map = cast<linalg::LinalgOp>(operand.getOwner()).getMatchingIndexingMap(&operand);
  SmallVector<AffineExpr> results(map.getResults());
  applyPermutationToVector(results, order);
  return {inOrder(operand.get(), order),
          AffineMap::get(map.getNumDims(), 0, results, map.getContext())};
}

/// The tensor that results of `op` start from: one of a number, or of rows, is made anew.
Value ChannelMover::startInOrder(linalg::LinalgOp op, ArrayRef<int64_t> order) {
  Value start = op.getDpsInits()[0];
  if (start.getDefiningOp<tensor::EmptyOp>())
    return emptyInOrder(start, order);
  if (auto fill = start.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(b, fill.getLoc(), fill.getInputs(), emptyInOrder(start, order))
        .getResult(0);
  if (auto repeated = start.getDefiningOp<linalg::LinalgOp>();
      repeated && isElementwiseOnTensors(repeated) && !repeated.hasIndexSemantics() &&
      repeated->getNumResults() == 1 &&
      llvm::all_of(repeated.getDpsInputOperands(), [&](OpOperand *input) {
        return repeated.getMatchingIndexingMap(input).getNumResults() < order.size();
      }))
    return make(repeated, order, operandsBehind(repeated, order));
  return inOrder(start, order);
}

/// The result of the same op in that order. Its loops begin with their dimensions.
Value ChannelMover::make(linalg::LinalgOp op, ArrayRef<int64_t> order, ArrayRef<Operand> operands) {
  Value start = startInOrder(op, order);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<AffineExpr> results(out.getResults());
  applyPermutationToVector(results, order);
  // The number that each loop gets.
  SmallVector<unsigned> loops;
  for (AffineExpr result : results)
    loops.push_back(cast<AffineDimExpr>(result).getPosition());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(loops, loop))
      loops.push_back(loop);
  SmallVector<AffineExpr> numbers(loops.size());
  SmallVector<utils::IteratorType> kinds;
  for (auto [number, loop] : llvm::enumerate(loops)) {
    numbers[loop] = b.getAffineDimExpr(number);
    kinds.push_back(op.getIteratorTypesArray()[loop]);
  }
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Operand &operand : operands) {
    inputs.push_back(operand.tensor);
    maps.push_back(operand.map.replaceDimsAndSymbols(numbers, {}, loops.size(), 0));
  }
  maps.push_back(AffineMap::getMultiDimIdentityMap(loops.size(), b.getContext())
                     .getMajorSubMap(results.size()));
  auto made = linalg::GenericOp::create(b, op.getLoc(), start.getType(), inputs, start, maps, kinds,
                                        [&](OpBuilder &builder, Location, ValueRange arguments) {
                                          IRMapping mapping;
                                          mapping.map(op.getBlock()->getArguments(), arguments);
                                          for (Operation &inside : *op.getBlock())
                                            builder.clone(inside, mapping);
                                        });
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return made.getResult(0);
}

/// Others read the result transposed back.
void ChannelMover::replace(linalg::LinalgOp op, const Order &order, ArrayRef<Operand> operands) {
  Value last = make(op, order, operands), back = transpose(last, invertPermutationVector(order));
  b.replaceOp(op, back);
  moved[back] = {last, order};
}

/// True if channels are last in memory: an op before computes them so, or the caller has them so.
bool ChannelMover::endsWithChannels(Value image) const {
  if (auto pad = image.getDefiningOp<tensor::PadOp>())
    image = pad.getSource();
  return moved.contains(image) || image.getDefiningOp<linalg::TransposeOp>();
}

/// Rewrites a convolution whose windows do not overlap to a product of matrices whose rows block
/// loads take. False where there is none, or where channels are enough for tiles as they are.
bool ChannelMover::multiplyWindows(const WindowProduct &product) {
  Operation *op = product.op;
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!isa<Float16Type, BFloat16Type, Float32Type>(element) ||
      element != getElementTypeOrSelf(op->getOperand(1).getType()))
    return false;
  auto areRows = [&](int64_t elements) {
    int64_t bytes = elements * element.getIntOrFloatBitWidth() / 8;
    return bytes >= kRowBytes && bytes % kPitchBytes == 0;
  };
  SmallVector<unsigned> inner{product.channel};
  inner.append(product.taps);
  int64_t pixels = product.count(product.pixels), filters = product.count({product.filter});
  if (!areRows(product.count(inner)))
    return false;
  if (product.isInPlace && areRows(pixels)) {
    Multiplied made = multiplyInPlace(b, product);
    products.insert(made.product);
    b.replaceOp(op, made.result);
    return true;
  }
  if (matchTiledConvolution(op) || !areRows(filters))
    return false;
  Multiplied made = multiplyPatches(b, product);
  products.insert(made.product);
  // Dimension i of what has filters last.
  Order order;
  int64_t batches = product.batches.size(), rank = product.pixels.size() + batches + 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != batches)
      order.push_back(dim);
  order.push_back(batches);
  Value back = transpose(made.result, invertPermutationVector(order));
  b.replaceOp(op, back);
  moved[back] = {made.result, order};
  return true;
}

void ChannelMover::moveConvolution(linalg::LinalgOp op, const ChannelLoops &loops) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto endingWith = [](AffineMap map, ArrayRef<unsigned> ends) {
    Order order;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || !llvm::is_contained(ends, loop.getPosition()))
        order.push_back(int64_t(dim));
    }
    for (unsigned loop : ends)
      if (std::optional<unsigned> place = placeOf(map, loop))
        order.push_back(*place);
    return order;
  };
  SmallVector<unsigned> groups(loops.group ? 1 : 0, loops.group.value_or(0));
  SmallVector<unsigned> ofImage = groups, ofResult = groups;
  ofImage.push_back(loops.channel);
  ofResult.push_back(loops.filter);
  Order image = endingWith(maps[0], ofImage), result = endingWith(maps[2], ofResult),
        filter = endingWith(maps[1], {loops.channel, loops.filter});
  if (hasChannelsLast(op, loops) || image.size() != maps[0].getNumResults() ||
      result.size() != maps[2].getNumResults() || filter.size() != maps[1].getNumResults() ||
      !maps[2].isProjectedPermutation())
    return;
  Operand last = operandInOrder(op->getOpOperand(0), image),
          rows = operandInOrder(op->getOpOperand(1), filter);
  last.tensor = padWhole(last.tensor, *placeOf(last.map, loops.channel));
  rows.tensor = withWholeRows(padWhole(rows.tensor, *placeOf(rows.map, loops.channel)));
  replace(op, result, {last, rows});
}

/// A pooling, which reduces windows of a tensor for each channel.
static bool isPooling(linalg::LinalgOp op) {
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(op);
  return succeeded(dims) && dims->outputChannel.empty() && dims->inputChannel.empty() &&
         !dims->outputImage.empty();
}

/// The tensor that is padded, if it is.
static Value withoutPadding(Value tensor) {
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  return pad && pad.getConstantPaddingValue() ? pad.getSource() : tensor;
}

/// The order of results of an op that follows a convolution element by element, or window by
/// window; null for others.
const Order *ChannelMover::orderBehind(linalg::LinalgOp op) {
  bool isEach = isElementwiseOnTensors(op), isWindowed = !isEach && isPooling(op);
  if (!isEach && !isWindowed)
    return nullptr;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!out.isProjectedPermutation())
    return nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto found = moved.find(isWindowed ? withoutPadding(input->get()) : input->get());
    AffineMap map = op.getMatchingIndexingMap(input);
    if (found != moved.end() && map.getNumResults() == out.getNumResults() &&
        (isWindowed || map == out))
      return &found->second.order;
  }
  return nullptr;
}

/// Operands of the same rank in the same order; of others the loops have other numbers.
SmallVector<ChannelMover::Operand> ChannelMover::operandsBehind(linalg::LinalgOp op,
                                                                ArrayRef<int64_t> order) {
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<Operand> operands;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    bool isImage =
        moved.contains(input->get()) || map == out || moved.contains(withoutPadding(input->get()));
    operands.push_back(isImage && map.getNumResults() == out.getNumResults()
                           ? operandInOrder(*input, order)
                           : Operand{input->get(), map});
  }
  return operands;
}

namespace {

struct ChannelsLast : xetile::impl::ChannelsLastBase<ChannelsLast> {
  using ChannelsLastBase::ChannelsLastBase;

  void runOnOperation() override {
    if (!chip.empty() && !lookupTarget(chip))
      return;
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](linalg::LinalgOp op) { ops.push_back(op); });
    ChannelMover mover(&getContext());
    for (Operation *op : ops)
      mover.visit(op);
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
    if (mover.products.empty())
      return;
    RewritePatternSet patterns(&getContext());
    populateBehindProducts(patterns, mover.products);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), plainRewrites())))
      signalPassFailure();
  }
};

} // namespace
