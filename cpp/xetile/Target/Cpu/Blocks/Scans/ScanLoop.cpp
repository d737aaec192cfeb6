//===- ScanLoop.cpp - loops that combine each element with those before ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a loop on tensors. Out: its parts, if it is a scan along the last dimension of its tensors.
// Refused: nothing; other loops are none.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Blocks/Scans/ScanLoop.h"

using namespace mlir;
using namespace xetile;

/// True if the last index of `places` is the induction variable, and the others are invariant.
static bool alongLast(scf::ForOp loop, ValueRange places) {
  return !places.empty() && places.back() == loop.getInductionVar() &&
         llvm::all_of(places.drop_back(),
                      [&](Value place) { return loop.isDefinedOutsideOfLoop(place); });
}

/// The op that gives `value`, if it is a conversion.
static Operation *conversionOf(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
                         arith::TruncIOp>(op)
             ? op
             : nullptr;
}

/// The element that `widen` makes `neutral` of; none if there is none.
static TypedAttr unconvert(Operation *widen, TypedAttr neutral, Type element) {
  if (!widen)
    return neutral;
  Builder b(widen->getContext());
  if (auto real = dyn_cast<FloatAttr>(neutral)) {
    auto found = b.getFloatAttr(element, real.getValueAsDouble());
    return found.getValueAsDouble() == real.getValueAsDouble() ? TypedAttr(found) : TypedAttr();
  }
  APInt value = cast<IntegerAttr>(neutral).getValue();
  unsigned width = value.getBitWidth();
  APInt found = value.zextOrTrunc(element.getIntOrFloatBitWidth());
  APInt back = isa<arith::ExtSIOp>(widen) ? found.sextOrTrunc(width) : found.zextOrTrunc(width);
  return back == value ? TypedAttr(b.getIntegerAttr(element, found)) : TypedAttr();
}

std::optional<ScanLoop> ScanLoop::match(scf::ForOp loop) {
  if (loop.getNumRegionIterArgs() != 2 || !isConstantIntValue(loop.getStep(), 1))
    return std::nullopt;
  ScanLoop scan = {};
  scan.loop = loop;
  scan.outputNumber = isa<TensorType>(loop.getRegionIterArg(0).getType()) ? 0 : 1;
  scan.sumNumber = 1 - scan.outputNumber;
  BlockArgument output = loop.getRegionIterArg(scan.outputNumber);
  BlockArgument before = loop.getRegionIterArg(scan.sumNumber);
  scan.write = loop.getYieldedValues()[scan.outputNumber].getDefiningOp<tensor::InsertOp>();
  scan.combine = loop.getYieldedValues()[scan.sumNumber].getDefiningOp();
  if (!scan.write || scan.write.getDest() != output || !scan.combine ||
      scan.combine->getNumOperands() != 2 || scan.combine->getNumResults() != 1 ||
      !scan.combine->hasTrait<OpTrait::IsCommutative>() || !before.getType().isIntOrFloat())
    return std::nullopt;
  std::optional<TypedAttr> neutral = arith::getNeutralElement(scan.combine);
  unsigned number = scan.combine->getOperand(0) == before ? 0 : 1;
  if (!neutral || scan.combine->getOperand(number) != before)
    return std::nullopt;
  scan.neutral = *neutral;
  Value element = scan.combine->getOperand(1 - number);
  scan.widen = conversionOf(element);
  scan.read = (scan.widen ? scan.widen->getOperand(0) : element).getDefiningOp<tensor::ExtractOp>();
  if (!scan.read || !(scan.padding = unconvert(scan.widen, scan.neutral, scan.read.getType())))
    return std::nullopt;
  scan.narrow = conversionOf(scan.write.getScalar());
  Value sum = scan.narrow ? scan.narrow->getOperand(0) : scan.write.getScalar();
  if (sum != scan.combine->getResult(0) || !loop.isDefinedOutsideOfLoop(scan.read.getTensor()) ||
      !alongLast(loop, scan.read.getIndices()) || !alongLast(loop, scan.write.getIndices()))
    return std::nullopt;
  // All of these are in the body, and there is nothing else.
  SmallVector<Operation *> parts = {scan.read, scan.combine, scan.write};
  parts.append({scan.widen, scan.narrow});
  bool isAll = llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    return llvm::is_contained(parts, &op) || op.hasTrait<OpTrait::ConstantLike>();
  });
  bool isInside =
      llvm::all_of(parts, [&](Operation *op) { return !op || op->getBlock() == loop.getBody(); });
  return isAll && isInside ? std::optional(scan) : std::nullopt;
}
