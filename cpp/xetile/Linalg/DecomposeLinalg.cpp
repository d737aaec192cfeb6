//===- DecomposeLinalg.cpp - linalg ops without loops of their own ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg.softmax, pack, unpack and Winograd's transforms on tensors. Out: linalg ops with
// loops, pads and reshapes. Refused: a softmax of other elements than floats; Winograd's transforms
// of integers, and of sizes known at run time only.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "xetile/Linalg/CastElements.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/Winograd.h"

namespace xetile {
#define GEN_PASS_DEF_DECOMPOSELINALG
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

Value xetile::castElements(RewriterBase &b, Location loc, Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), element);
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  bool isWider = element.getIntOrFloatBitWidth() > type.getElementTypeBitWidth();
  auto generic = linalg::GenericOp::create(
      b, loc, empty.getType(), tensor, empty, {map, map}, kinds,
      [&](OpBuilder &builder, Location where, ValueRange arguments) {
        Value cast = isWider
                         ? arith::ExtFOp::create(builder, where, element, arguments[0]).getResult()
                         : arith::TruncFOp::create(builder, where, element, arguments[0]);
        linalg::YieldOp::create(builder, where, cast);
      });
  return generic.getResult(0);
}

/// Narrow floats are rounded once, at the end.
static LogicalResult decompose(RewriterBase &b, linalg::SoftmaxOp op) {
  Location loc = op.getLoc();
  Type input = getElementTypeOrSelf(op.getInput()), output = getElementTypeOrSelf(op.getOutput());
  if (!isa<FloatType>(input))
    return op.emitOpError() << "has elements of type " << input
                            << "; expected floats: convert them before and after";
  auto isNarrow = [](Type type) { return type.getIntOrFloatBitWidth() < 32; };
  linalg::SoftmaxOp wide = op;
  if (isNarrow(output) || input != output) {
    Type sums = isNarrow(output) ? b.getF32Type() : output;
    Value in = input == sums ? op.getInput() : xetile::castElements(b, loc, op.getInput(), sums);
    Value out =
        tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, op.getOutput()), sums);
    wide = linalg::SoftmaxOp::create(b, loc, TypeRange(out.getType()), in, out, op.getDimension());
    b.setInsertionPoint(wide);
  }
  FailureOr<SmallVector<Value>> results = wide.decomposeOperation(b);
  if (failed(results))
    return failure();
  Value result = results->front();
  if (getElementTypeOrSelf(result) != output)
    result = xetile::castElements(b, loc, result, output);
  if (wide != op)
    b.eraseOp(wide);
  if (result.getType() != op.getResult().front().getType())
    result = tensor::CastOp::create(b, loc, op.getResult().front().getType(), result);
  b.replaceOp(op, result);
  return success();
}

namespace {
/// Each element of a packed or unpacked tensor, found where it was: what sizes of any kind take.
class Relayout {
public:
  Relayout(RewriterBase &rewriter, Operation *op) : b(rewriter), loc(op->getLoc()) {}

  /// Elements of `into`: `find` tells where in `source` from the place; what lies outside is
  /// `padding`, or zero.
  Value write(Value source, Value into, Value padding,
              function_ref<SmallVector<Value>(OpBuilder &, ArrayRef<Value>)> find) {
    auto type = cast<RankedTensorType>(into.getType());
    SmallVector<OpFoldResult> bounds = tensor::getMixedSizes(b, loc, source);
    SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(b, loc, bounds);
    if (!padding)
      padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
    SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        b, loc, type, ValueRange(), into, b.getMultiDimIdentityMap(type.getRank()), kinds,
        [&](OpBuilder &builder, Location where, ValueRange) {
          SmallVector<Value> at;
          for (int64_t dim = 0; dim < type.getRank(); ++dim)
            at.push_back(linalg::IndexOp::create(builder, where, dim));
          SmallVector<Value> place = find(builder, at);
          Value inside = arith::ConstantIntOp::create(builder, where, 1, 1);
          for (auto [index, size] : llvm::zip_equal(place, sizes))
            inside = arith::AndIOp::create(
                builder, where, inside,
                arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ult, index, size));
          auto branch = scf::IfOp::create(
              builder, where, inside,
              [&](OpBuilder &nested, Location) {
                Value found = tensor::ExtractOp::create(nested, where, source, place);
                scf::YieldOp::create(nested, where, found);
              },
              [&](OpBuilder &nested, Location) { scf::YieldOp::create(nested, where, padding); });
          linalg::YieldOp::create(builder, where, branch.getResult(0));
        });
    return generic.getResult(0);
  }

  RewriterBase &b;
  Location loc;
};
} // namespace

/// Sizes that the run knows may not fit together: nothing says so before pads and slices of them.
static bool hasStaticShapes(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  });
}

/// The place of each outer dimension of the packed tensor, by the dimension that it is of.
static SmallVector<int64_t> outerPlaces(ArrayRef<int64_t> permutation, int64_t rank) {
  if (permutation.empty())
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  return invertPermutationVector(permutation);
}

static LogicalResult decompose(RewriterBase &b, linalg::PackOp op) {
  if (hasStaticShapes(op) && succeeded(linalg::lowerPack(b, op)))
    return success();
  int64_t rank = op.getSourceRank();
  SmallVector<int64_t> places = outerPlaces(op.getOuterDimsPerm(), rank);
  SmallVector<Value> tiles = getValueOrCreateConstantIndexOp(b, op.getLoc(), op.getMixedTiles());
  ArrayRef<int64_t> tiled = op.getInnerDimsPos();
  Value result = Relayout(b, op).write(
      op.getSource(), op.getDest(), op.getPaddingValue(),
      [&](OpBuilder &builder, ArrayRef<Value> at) {
        SmallVector<Value> place;
        for (int64_t dim = 0; dim < rank; ++dim)
          place.push_back(at[places[dim]]);
        for (auto [number, dim] : llvm::enumerate(tiled)) {
          Value first = arith::MulIOp::create(builder, op.getLoc(), place[dim], tiles[number]);
          place[dim] = arith::AddIOp::create(builder, op.getLoc(), first, at[rank + number]);
        }
        return place;
      });
  b.replaceOp(op, result);
  return success();
}

static LogicalResult decompose(RewriterBase &b, linalg::UnPackOp op) {
  if (hasStaticShapes(op) && succeeded(linalg::lowerUnPack(b, op)))
    return success();
  int64_t rank = op.getDestRank();
  SmallVector<int64_t> places = outerPlaces(op.getOuterDimsPerm(), rank);
  SmallVector<Value> tiles = getValueOrCreateConstantIndexOp(b, op.getLoc(), op.getMixedTiles());
  ArrayRef<int64_t> tiled = op.getInnerDimsPos();
  Value result = Relayout(b, op).write(
      op.getSource(), op.getDest(), /*padding=*/{}, [&](OpBuilder &builder, ArrayRef<Value> at) {
        SmallVector<Value> place(rank + tiled.size());
        for (int64_t dim = 0; dim < rank; ++dim)
          place[places[dim]] = at[dim];
        for (auto [number, dim] : llvm::enumerate(tiled)) {
          place[places[dim]] = arith::DivUIOp::create(builder, op.getLoc(), at[dim], tiles[number]);
          place[rank + number] =
              arith::RemUIOp::create(builder, op.getLoc(), at[dim], tiles[number]);
        }
        return place;
      });
  b.replaceOp(op, result);
  return success();
}

/// An op that is not of these stays.
static LogicalResult decompose(RewriterBase &b, Operation *op) {
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return decompose(b, softmax);
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return decompose(b, pack);
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
    return decompose(b, unpack);
  if (xetile::isWinogradTransform(op))
    return xetile::decomposeWinograd(b, op);
  return success();
}

namespace {
struct DecomposeLinalg : xetile::impl::DecomposeLinalgBase<DecomposeLinalg> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) && op->getNumResults() > 0 &&
          llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(decompose(rewriter, op)))
        return signalPassFailure();
    }
  }
};
} // namespace
