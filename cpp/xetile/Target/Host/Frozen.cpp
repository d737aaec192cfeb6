//===- Frozen.cpp - what depends on arguments that do not change ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tensor of a function. Out: whether it may be computed once, and kept. Refused: nothing;
// what has effects, other sizes than static ones, or many times its arguments' bytes is not frozen.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/Frozen.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xetile/IR/BytesOf.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xetile;

/// Of a tensor; 0 where the size is not known, or no memory is that large.
static int64_t knownBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? xetile::bytesOf(type).value_or(0) : 0;
}

static bool isFrozenArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(), kFrozenAttr);
}

bool xetile::isFrozen(Value value) {
  // Extension of narrow floats doubles the size; panels are padded.
  constexpr int64_t kTimes = 2, kSmall = 1 << 12;
  int64_t bytes = knownBytes(value), argumentBytes = 0;
  if (bytes == 0)
    return false;
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t next = 0; next < values.size(); ++next) {
    Value each = values[next];
    if (isFrozenArgument(each)) {
      argumentBytes += knownBytes(each);
      continue;
    }
    Operation *op = each.getDefiningOp();
    if (!op || !isa<FunctionOpInterface>(op->getParentOp()) || !isMemoryEffectFree(op))
      return false;
    values.insert_range(op->getOperands());
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    values.insert_range(captured);
  }
  return argumentBytes > 0 && bytes <= kTimes * argumentBytes + kSmall;
}
