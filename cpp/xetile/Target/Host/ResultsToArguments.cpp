//===- ResultsToArguments.cpp - results in memory that the caller passes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: bufferized public functions that return memrefs of static shapes. Out: the same with one
// argument more for each such result, nothing returned. Any value may be returned: one twice, an
// argument, a view, a constant. An allocation becomes the argument, others are copied to it.
// Refused: results of dynamic sizes or strides, unless where-static leaves their functions alone;
// functions that the module calls itself.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Host/EntryPoints.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_RESULTSTOARGUMENTS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct ResultsToArguments : xetile::impl::ResultsToArgumentsBase<ResultsToArguments> {
  using ResultsToArgumentsBase::ResultsToArgumentsBase;

  void runOnOperation() override {
    for (func::FuncOp function : getEntryPoints(getOperation()))
      if (failed(convert(function)))
        return signalPassFailure();
  }

private:
  LogicalResult convert(func::FuncOp function) {
    SmallVector<unsigned> moved;
    SmallVector<Type> kept;
    for (auto [number, type] : llvm::enumerate(function.getResultTypes())) {
      if (!isa<BaseMemRefType>(type)) {
        kept.push_back(type);
        continue;
      }
      auto memory = dyn_cast<MemRefType>(type);
      if (!memory || !memory.hasStaticShape() || !memory.getLayout().isIdentity()) {
        if (whereStatic)
          return success();
        return function.emitOpError() << "result " << number << " is " << type
                                      << ": expected static sizes in C order, as the caller "
                                         "passes its memory";
      }
      moved.push_back(number);
    }
    if (moved.empty())
      return success();
    if (!SymbolTable::symbolKnownUseEmpty(function, getOperation()))
      return function.emitOpError("is called in its module: expected calls of private functions "
                                  "only, as callers pass memory for its results");
    SmallVector<func::ReturnOp> returns;
    function.walk([&](func::ReturnOp op) { returns.push_back(op); });
    SmallVector<BlockArgument> places;
    for (unsigned number : moved) {
      Type type = function.getResultTypes()[number];
      if (failed(function.insertArgument(function.getNumArguments(), type, {}, function.getLoc())))
        return function.emitOpError() << "cannot take memory for result " << number;
      places.push_back(function.getArguments().back());
      if (markResults)
        function.setArgAttr(places.back().getArgNumber(), kResultAttr,
                            UnitAttr::get(function.getContext()));
      if (Attribute onDevice = function.getResultAttr(number, kOnDeviceAttr))
        function.setArgAttr(places.back().getArgNumber(), kOnDeviceAttr, onDevice);
    }
    function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), kept));
    function.removeResAttrsAttr();
    for (func::ReturnOp op : returns)
      storeResults(op, moved, places, /*only=*/returns.size() == 1);
    return success();
  }

  /// The memory that `value` is a view of, all of it and in the same order.
  static Value withoutReshapes(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  static void storeResults(func::ReturnOp op, ArrayRef<unsigned> moved,
                           ArrayRef<BlockArgument> places, bool only) {
    for (auto [number, place] : llvm::zip(moved, places)) {
      // Later results see an argument instead of the replaced alloc, and are copied then.
      auto made = withoutReshapes(op.getOperand(number)).getDefiningOp<memref::AllocOp>();
      if (!only || !made || made->getBlock() != place.getOwner() ||
          !made.getType().hasStaticShape() || !made.getType().getLayout().isIdentity())
        continue;
      Value memory = place;
      if (made.getType() != place.getType()) {
        // Upstream knows no strides of memory without elements; nothing is copied then.
        if (made.getType().getNumElements() == 0)
          continue;
        OpBuilder b(made);
        auto [strides, offset] = made.getType().getStridesAndOffset();
        memory = memref::ReinterpretCastOp::create(b, made.getLoc(), made.getType(), place, offset,
                                                   made.getType().getShape(), strides);
      }
      made.getResult().replaceAllUsesWith(memory);
      made.erase();
      op.setOperand(number, place);
    }
    OpBuilder b(op);
    SmallVector<Value> kept;
    for (auto [number, value] : llvm::enumerate(op.getOperands())) {
      const unsigned *found = llvm::find(moved, number);
      if (found == moved.end())
        kept.push_back(value);
      else if (BlockArgument place = places[found - moved.begin()]; value != place)
        memref::CopyOp::create(b, op.getLoc(), value, place);
    }
    op->setOperands(kept);
  }
};
} // namespace
