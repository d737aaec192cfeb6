//===- SizeBounds.cpp - what is proved about sizes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: two sizes. Out: whether a comparison of them holds. Refused: nothing; false where it is not
// proved.
#include "xetile/Target/Host/SizeBounds.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace xetile;

bool xetile::takesOperandSize(Value value, std::optional<int64_t> dim,
                              ValueBoundsConstraintSet &bounds) {
  Operation *op = value.getDefiningOp();
  if (!dim || !op || !OpTrait::hasElementwiseMappableTraits(op))
    return false;
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()))
      bounds.bound(value)[*dim] == bounds.getExpr(operand, dim);
  return true;
}

namespace {
class SizeBounds : public ValueBoundsConstraintSet {
public:
  explicit SizeBounds(MLIRContext *context) : ValueBoundsConstraintSet(context, takesOperandSize) {}
};
} // namespace

bool xetile::provesBound(const ValueBoundsConstraintSet::Variable &left,
                         ValueBoundsConstraintSet::ComparisonOperator comparison,
                         const ValueBoundsConstraintSet::Variable &right) {
  return SizeBounds(left.getContext()).populateAndCompare(left, comparison, right);
}
