//===- OutlineLoops.cpp - loop nests of a long function as functions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on memory. Out: those of many loop nests call a function for each, equal nests the
// same one. Refused: nothing; left where they are: loops that give results. LLVM's time grows
// faster than the size of a function, and layers of a model are often equal.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/Target/Cpu/Lowering/OutlinedFunction.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// True if `op` is lowered to loops. Copies between dense buffers become calls of memcpy.
static bool isNest(Operation &op) {
  if (op.getNumResults() != 0)
    return false;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    auto isDense = [](Value value) {
      auto type = dyn_cast<MemRefType>(value.getType());
      return type && type.getLayout().isIdentity();
    };
    return !isDense(copy.getSource()) || !isDense(copy.getTarget());
  }
  return isa<linalg::LinalgOp, scf::ForOp, scf::ForallOp, scf::ParallelOp>(op);
}

/// Views of one kind as one type: where it starts, and how far its outermost parts are from each
/// other, is known when it runs only.
static Type generalize(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  auto layout = memref ? dyn_cast<StridedLayoutAttr>(memref.getLayout()) : StridedLayoutAttr();
  if (!layout)
    return type;
  SmallVector<int64_t> strides(layout.getStrides());
  if (strides.size() > 1)
    strides.front() = ShapedType::kDynamic;
  return MemRefType::Builder(memref).setLayout(
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides));
}

namespace {
struct OutlineLoops : xetile::impl::OutlineLoopsBase<OutlineLoops> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (!function.getBody().hasOneBlock())
        continue;
      SmallVector<Operation *> nests;
      for (Operation &op : function.getBody().front())
        if (isNest(op))
          nests.push_back(&op);
      if (static_cast<int64_t>(nests.size()) < fromNests)
        continue;
      for (Operation *nest : nests)
        outline(function, *nest, symbols);
    }
  }

private:
  void outline(func::FuncOp caller, Operation &nest, SymbolTable &symbols) {
    OutlinedUses uses = OutlinedUses::of(nest);
    SmallVector<Value> &arguments = uses.arguments;
    OpBuilder outside(&nest);
    // Inside of loops, types of views follow from those of their sources.
    if (!isa<LoopLikeOpInterface>(nest))
      for (Value &argument : arguments)
        if (Type general = generalize(argument.getType()); general != argument.getType()) {
          Value cast = memref::CastOp::create(outside, nest.getLoc(), general, argument);
          // In its body, too, which may read elements of it.
          argument.replaceUsesWithIf(
              cast, [&](OpOperand &use) { return nest.isAncestor(use.getOwner()); });
          argument = cast;
        }

    func::FuncOp callee = cloneToFunction(nest, uses, (caller.getName() + "_loops").str());
    SmallVector<func::FuncOp> &candidates = known[callee.getFunctionType()];
    auto *same = llvm::find_if(candidates, [&](func::FuncOp other) {
      return OperationEquivalence::isRegionEquivalentTo(
          &other.getBody(), &callee.getBody(), OperationEquivalence::Flags::IgnoreLocations);
    });
    if (same != candidates.end()) {
      callee->erase();
      callee = *same;
    } else {
      symbols.insert(callee, caller->getIterator());
      candidates.push_back(callee);
    }
    func::CallOp::create(outside, nest.getLoc(), callee, arguments);
    nest.erase();
  }

  DenseMap<Type, SmallVector<func::FuncOp>> known;
};
} // namespace
