//===- PadScans.cpp - exclusive scans as scans of what is padded ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a scan on tensors (Scan.h) behind a tensor of its neutral element, put together along the
// dimension that is scanned. Out: one scan, of an input with neutral elements before it. Refused:
// nothing; scans of what is computed of several tensors stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/Scan.h"

namespace xetile {
#define GEN_PASS_DEF_PADSCANS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// `number` as one of `type`, if that is exact; null for others. Zeros keep their sign.
static TypedAttr asType(TypedAttr number, Type type) {
  if (auto whole = dyn_cast<IntegerAttr>(number)) {
    if (!isa<IntegerType>(type))
      return {};
    APInt value = whole.getValue();
    APInt other = value.sextOrTrunc(type.getIntOrFloatBitWidth());
    return other.sextOrTrunc(value.getBitWidth()) == value ? IntegerAttr::get(type, other)
                                                           : TypedAttr();
  }
  auto real = dyn_cast<FloatAttr>(number);
  auto wanted = dyn_cast<FloatType>(type);
  if (!real || !wanted)
    return {};
  APFloat value = real.getValue();
  bool losesInfo = false;
  value.convert(wanted.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return losesInfo ? TypedAttr() : FloatAttr::get(type, value);
}

/// The number that all elements of `tensor` are; null for others.
static TypedAttr splatOf(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    tensor = fill.getInputs()[0];
  TypedAttr constant;
  if (!matchPattern(tensor, m_Constant(&constant)))
    return {};
  if (auto elements = dyn_cast<DenseElementsAttr>(constant))
    return elements.isSplat() ? elements.getSplatValue<TypedAttr>() : TypedAttr();
  return constant;
}

/// The input whose elements, maybe widened, are combined; null where others take part in them.
static OpOperand *inputOf(Scan &scan) {
  Value element = scan.element;
  if (auto *by = element.getDefiningOp();
      by && by->getNumOperands() == 1 && isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(by))
    element = by->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(element);
  if (!argument || argument.getOwner() != scan.op.getBody() || scan.op.getNumDpsInputs() != 1)
    return nullptr;
  OpOperand *input = scan.op.getDpsInputOperand(0);
  AffineMap all = scan.op.getMatchingIndexingMap(scan.op.getDpsInitOperand(0));
  return all.isIdentity() && scan.op.getMatchingIndexingMap(input) == all ? input : nullptr;
}

/// The scan whose result begins with the first input of `op`; null where it is none.
static Value padScan(RewriterBase &b, tensor::ConcatOp op) {
  if (op.getInputs().size() != 2 || !op.getResultType().hasStaticShape())
    return {};
  Value before = op.getInputs()[0], behind = op.getInputs()[1];
  std::optional<Scan> scan = Scan::match(behind.getDefiningOp());
  TypedAttr start = splatOf(before);
  if (!scan || scan->loop != op.getDim() || behind != scan->op.getResult(0) ||
      !behind.hasOneUse() || !scan->startsFromNeutral() || scan->op.hasIndexSemantics() || !start ||
      start != asType(scan->neutral, start.getType()))
    return {};
  OpOperand *input = inputOf(*scan);
  auto type = input ? cast<RankedTensorType>(input->get().getType()) : RankedTensorType();
  TypedAttr around = input ? asType(scan->neutral, type.getElementType()) : TypedAttr();
  if (!around)
    return {};
  Location loc = scan->op.getLoc();
  SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
  low[scan->loop] = b.getIndexAttr(cast<RankedTensorType>(before.getType()).getDimSize(scan->loop));
  Value neutral = arith::ConstantOp::create(b, loc, around);
  Value padded = tensor::PadOp::create(b, loc, type.clone(op.getResultType().getShape()),
                                       input->get(), low, high, neutral);
  Value all = tensor::EmptyOp::create(b, loc, op.getResultType().getShape(),
                                      op.getResultType().getElementType());
  auto made =
      linalg::GenericOp::create(b, loc, TypeRange{all.getType(), scan->op.getResult(1).getType()},
                                padded, ValueRange{all, scan->op.getOutputs()[1]},
                                scan->op.getIndexingMapsArray(), scan->op.getIteratorTypesArray());
  IRMapping mapping;
  scan->op.getRegion().cloneInto(&made.getRegion(), mapping);
  return made.getResult(0);
}

namespace {
struct PadScans : xetile::impl::PadScansBase<PadScans> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::ConcatOp> ops;
    getOperation()->walk([&](tensor::ConcatOp op) { ops.push_back(op); });
    for (tensor::ConcatOp op : ops) {
      rewriter.setInsertionPoint(op);
      if (Value scan = padScan(rewriter, op))
        rewriter.replaceOp(op, scan);
    }
  }
};
} // namespace
