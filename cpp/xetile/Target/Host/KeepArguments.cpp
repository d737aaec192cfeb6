//===- KeepArguments.cpp - arguments that never change ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: public functions on memrefs that return results. Out: the same, each argument that may be
// written copied to memory of the function's own. Refused: memory of unknown rank, or of a layout
// that a copy in C order has not.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/Target/Host/EntryPoints.h"
#include "xetile/Target/Host/KernelEffects.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_KEEPARGUMENTS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct KeepArguments : xetile::impl::KeepArgumentsBase<KeepArguments> {
  void runOnOperation() override {
    for (func::FuncOp function : getEntryPoints(getOperation()))
      if (function.getNumResults() > 0 && failed(keepArguments(function)))
        return signalPassFailure();
  }

private:
  static LogicalResult keepArguments(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (isa<BaseMemRefType>(argument.getType()) && xetile::mayBeWritten(argument) &&
          failed(copy(function, argument)))
        return failure();
    return success();
  }

  static LogicalResult copy(func::FuncOp function, BlockArgument argument) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    MemRefType plain;
    if (type)
      plain = MemRefType::get(type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(),
                              type.getMemorySpace());
    if (!type || (plain != type && !memref::CastOp::areCastCompatible(plain, type)))
      return function.emitOpError()
             << "may write to argument " << argument.getArgNumber() << " of type "
             << argument.getType() << ", which callers keep: expected memory in C order, which it "
             << "can be copied to";
    OpBuilder b = OpBuilder::atBlockBegin(argument.getOwner());
    Location loc = argument.getLoc();
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(memref::DimOp::create(b, loc, argument, dim));
    // As bufferization aligns what it allocates.
    Value memory = memref::AllocOp::create(b, loc, plain, sizes, b.getI64IntegerAttr(64));
    auto copied = memref::CopyOp::create(b, loc, argument, memory);
    if (plain != type)
      memory = memref::CastOp::create(b, loc, type, memory);
    argument.replaceUsesWithIf(memory, [&](OpOperand &use) {
      return use.getOwner() != copied && !isa<memref::DimOp>(use.getOwner());
    });
    return success();
  }
};
} // namespace
