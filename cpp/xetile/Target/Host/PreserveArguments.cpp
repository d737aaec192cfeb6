//===- PreserveArguments.cpp - functions that do not write to their arguments --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: the same, tensors of arguments marked as not writable, and copied
// where slices are inserted into them. Refused: nothing; marks that are there stay, unless `all` is
// asked for.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/PreserveArguments.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_PRESERVEARGUMENTS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// Bufferization would copy an argument twice where a slice of it is taken, changed and put back:
/// once the slice, once the whole.
static void copyOnce(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  bool isInsertedInto = llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
    return insert && insert.getDest() == use.get();
  });
  if (!type || !isInsertedInto)
    return;
  OpBuilder b = OpBuilder::atBlockBegin(argument.getOwner());
  auto copy = bufferization::AllocTensorOp::create(b, argument.getLoc(), type, ValueRange(),
                                                   /*copy=*/argument, /*memory_space=*/{});
  argument.replaceAllUsesExcept(copy.getResult(), copy);
}

void xetile::preserveArguments(Operation *root, bool all) {
  StringRef writable = bufferization::BufferizationDialect::kWritableAttrName;
  root->walk([&](FunctionOpInterface function) {
    if (function.isExternal())
      return;
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isa<TensorType>(type) && (all || !function.getArgAttr(index, writable))) {
        function.setArgAttr(index, writable, BoolAttr::get(root->getContext(), false));
        copyOnce(function.getArgument(index));
      }
  });
}

namespace {
struct PreserveArguments : xetile::impl::PreserveArgumentsBase<PreserveArguments> {
  using PreserveArgumentsBase::PreserveArgumentsBase;

  void runOnOperation() override { xetile::preserveArguments(getOperation(), all); }
};
} // namespace
