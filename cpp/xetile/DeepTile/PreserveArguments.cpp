//===- PreserveArguments.cpp - functions that do not write to their arguments --===//
// In: functions on tensors. Out: the same, tensors of arguments marked as not writable.
// Refused: nothing; marks that are there stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/DeepTile/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_PRESERVEARGUMENTS
#include "xetile/DeepTile/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct PreserveArguments : xetile::impl::PreserveArgumentsBase<PreserveArguments> {
  void runOnOperation() override {
    StringRef writable = bufferization::BufferizationDialect::kWritableAttrName;
    getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
        if (isa<TensorType>(type) && !function.getArgAttr(index, writable))
          function.setArgAttr(index, writable, BoolAttr::get(&getContext(), false));
    });
  }
};
} // namespace
