//===- ViewArguments.cpp - matrices of a kernel's own arguments ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.subview of memref.expand_shape or collapse_shape of an argument. Out: the same of the
// argument. Refused: nothing; others stay, and who wants an argument says so.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/ViewArguments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace {

/// A view along each dimension: one element that its result has no dimension of, or
/// more.
struct Taken {
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<bool> isOne;
};

/// The view's own dimensions.
Taken takenBy(memref::SubViewOp view) {
  Taken taken{view.getMixedOffsets(), view.getMixedSizes(), {}};
  for (unsigned dim = 0; dim < taken.offsets.size(); ++dim)
    taken.isOne.push_back(view.getDroppedDims().test(dim));
  return taken;
}

OpFoldResult number(OpBuilder &b, int64_t value) { return b.getIndexAttr(value); }

/// `x` * `by` + `plus`, folded where all are known.
OpFoldResult addProduct(OpBuilder &b, Location loc, OpFoldResult x, int64_t by, OpFoldResult plus) {
  std::optional<int64_t> known = getConstantIntValue(x), other = getConstantIntValue(plus);
  if (known && other)
    return number(b, *known * by + *other);
  Value factor = arith::ConstantIndexOp::create(b, loc, by);
  Value product = arith::MulIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, x), factor);
  return arith::AddIOp::create(b, loc, product, getValueOrCreateConstantIndexOp(b, loc, plus))
      .getResult();
}

/// Of dimensions that a reshape splits one into, one element each: the element of that one.
bool join(OpBuilder &b, Location loc, const Taken &from, ArrayRef<int64_t> group,
          ArrayRef<int64_t> shape, Taken &to) {
  if (group.size() == 1) {
    to.offsets.push_back(from.offsets[group[0]]);
    to.sizes.push_back(from.sizes[group[0]]);
    to.isOne.push_back(from.isOne[group[0]]);
    return true;
  }
  for (int64_t dim : group)
    if (!from.isOne[dim] || ShapedType::isDynamic(shape[dim]))
      return false;
  OpFoldResult at = from.offsets[group.front()];
  for (int64_t dim : group.drop_front())
    at = addProduct(b, loc, at, shape[dim], from.offsets[dim]);
  to.offsets.push_back(at);
  to.sizes.push_back(number(b, 1));
  to.isOne.push_back(true);
  return true;
}

/// Of a dimension that a reshape joins several to, one element: the elements of these.
bool split(OpBuilder &b, Location loc, const Taken &from, unsigned dim, ArrayRef<int64_t> group,
           ArrayRef<int64_t> shape, Taken &to) {
  if (group.size() == 1) {
    to.offsets.push_back(from.offsets[dim]);
    to.sizes.push_back(from.sizes[dim]);
    to.isOne.push_back(from.isOne[dim]);
    return true;
  }
  if (!from.isOne[dim])
    return false;
  Value rest = getValueOrCreateConstantIndexOp(b, loc, from.offsets[dim]);
  SmallVector<OpFoldResult> places;
  for (int64_t each : llvm::reverse(group)) {
    if (ShapedType::isDynamic(shape[each]))
      return false;
    Value size = arith::ConstantIndexOp::create(b, loc, shape[each]);
    bool isFirst = each == group.front();
    places.push_back(isFirst ? rest : arith::RemUIOp::create(b, loc, rest, size).getResult());
    if (!isFirst)
      rest = arith::DivUIOp::create(b, loc, rest, size);
  }
  for (OpFoldResult place : llvm::reverse(places)) {
    to.offsets.push_back(place);
    to.sizes.push_back(number(b, 1));
    to.isOne.push_back(true);
  }
  return true;
}

/// The view of what `reshape` reshapes, or nothing where it is none of one matrix.
std::optional<Taken> takenBefore(OpBuilder &b, memref::SubViewOp view, Operation *reshape) {
  Taken from = takenBy(view), to;
  Location loc = view.getLoc();
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(reshape)) {
    for (const ReassociationIndices &group : expand.getReassociationIndices())
      if (!join(b, loc, from, group, expand.getResultType().getShape(), to))
        return std::nullopt;
    return to;
  }
  auto collapse = cast<memref::CollapseShapeOp>(reshape);
  for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices()))
    if (!split(b, loc, from, dim, group, collapse.getSrcType().getShape(), to))
      return std::nullopt;
  return to;
}

/// The same view of the argument that is reshaped, null where there is none.
Value viewOfArgument(OpBuilder &b, memref::SubViewOp view) {
  Operation *reshape = view.getSource().getDefiningOp();
  if (!isa_and_present<memref::ExpandShapeOp, memref::CollapseShapeOp>(reshape) ||
      !view.hasUnitStride())
    return {};
  Value source = reshape->getOperand(0);
  auto type = cast<MemRefType>(source.getType());
  if (!isa<BlockArgument>(source) || !type.getLayout().isIdentity())
    return {};
  b.setInsertionPoint(view);
  std::optional<Taken> taken = takenBefore(b, view, reshape);
  if (!taken)
    return {};
  SmallVector<OpFoldResult> strides(taken->offsets.size(), number(b, 1));
  MemRefType result = memref::SubViewOp::inferRankReducedResultType(
      view.getType().getShape(), type, taken->offsets, taken->sizes, strides);
  if (result != view.getType())
    return {};
  return memref::SubViewOp::create(b, view.getLoc(), result, source, taken->offsets, taken->sizes,
                                   strides);
}

} // namespace

void xetile::hopper::viewArguments(gpu::GPUFuncOp kernel) {
  SmallVector<memref::SubViewOp> views;
  kernel.walk([&](memref::SubViewOp view) { views.push_back(view); });
  OpBuilder b(kernel.getContext());
  for (memref::SubViewOp view : views) {
    Value own = viewOfArgument(b, view);
    if (!own)
      continue;
    Operation *reshape = view.getSource().getDefiningOp();
    view.getResult().replaceAllUsesWith(own);
    view.erase();
    if (reshape->use_empty())
      reshape->erase();
  }
}
