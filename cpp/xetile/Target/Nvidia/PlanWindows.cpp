//===- PlanWindows.cpp - operands that are windows of images ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the plan of a product, what its kernel says of an image. Out: where the elements of the
// operand are, how many are loaded at once. Refused: operands of other sizes than that says.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/RingPlan.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

int64_t hopper::unitOfWindow(const WindowedMatrix &window, bool isAlongK) {
  constexpr int64_t kBytes = 4, kMost = 4; // of an element; elements
  const WindowedMatrix::Digit &last = window.k.back();
  if (!isAlongK || last.stride != 1 || last.axis >= 0 || last.size % kMost)
    return kBytes;
  auto isMultiple = [](int64_t stride) { return stride % kMost == 0; };
  auto strides = [&](ArrayRef<WindowedMatrix::Digit> digits) {
    return llvm::all_of(
        digits, [&](const auto &digit) { return digit.size == 1 || isMultiple(digit.stride); });
  };
  bool isWhole = strides(ArrayRef(window.k).drop_back()) && strides(window.pixels) &&
                 llvm::all_of(window.batches, isMultiple) &&
                 llvm::all_of(window.axes, [&](const WindowedMatrix::Axis &axis) {
                   return axis.low == 0 || isMultiple(axis.stride);
                 });
  return isWhole ? kMost * kBytes : kBytes;
}

LogicalResult hopper::takeWindow(RingPlan &plan, gpu::GPUFuncOp kernel) {
  Attribute attr = kernel->getAttr(kWindowAttr);
  std::optional<WindowedMatrix> window = WindowedMatrix::from(attr);
  if (!window)
    return success();
  TilePlace &place = window->operand ? plan.b : plan.a;
  bool kIsInner = window->operand ? place.isTransposed : !place.isTransposed;
  int64_t k = WindowedMatrix::count(window->k), pixels = WindowedMatrix::count(window->pixels);
  SmallVector<int64_t> expected = {kIsInner ? pixels : k, kIsInner ? k : pixels};
  auto type = cast<MemRefType>(place.matrix.getType());
  if (place.batch.size() != window->batches.size() || place.outerDim != 1 || !plan.isSplit() ||
      type.getShape().take_back(2) != ArrayRef(expected))
    return plan.mma.emitOpError("multiplies windows of an image as ")
           << type << "; expected f32 that is multiplied exactly, " << window->batches.size()
           << " dimensions of batches, and " << expected[0] << " x " << expected[1]
           << " elements, as " << kWindowAttr << " says";
  place.window = std::move(window);
  place.isPlain = true;
  return success();
}
