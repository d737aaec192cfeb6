//===- CopyForLoops.cpp - the caller's memory in loops of the host -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on memrefs with kernels in loops and branches. Out: the same, each argument and
// constant that these launch kernels on, or carry, copied once before to memory of the function's
// own, and what it returns of such memory copied at its end. Refused: nothing; arguments that may
// be written, are not in C order, or are the device's, stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "xetile/Target/Host/DeviceMemory.h"
#include "xetile/Target/Host/EntryPoints.h"
#include "xetile/Target/Host/KernelEffects.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_COPYFORLOOPS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// True for the branch around a launch whose grid may be empty, as of sizes that a run knows: it is
/// the launch.
bool isGuard(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op);
  return branch && branch.getNumResults() == 0 && !branch.elseBlock() &&
         llvm::all_of(*branch.thenBlock(), [](Operation &inner) {
           return isa<gpu::LaunchFuncOp, scf::YieldOp>(inner) || isPure(&inner);
         });
}

bool isControl(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op) && !isGuard(op);
}

/// Loops and branches hand a value on, by their operands and their terminators; a branch that
/// computes nothing is an arith.select.
bool isHandedOn(Operation *user) {
  return isControl(user) || isa<arith::SelectOp>(user) ||
         (user->hasTrait<OpTrait::IsTerminator>() && isControl(user->getParentOp()));
}

bool launchesInside(Operation *op) {
  return op->walk([](gpu::LaunchFuncOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool isView(Operation *op) {
  return isa<ViewLikeOpInterface>(op) && op->getNumResults() == 1 &&
         isa<MemRefType>(op->getResult(0).getType());
}

/// Uses of a buffer, and of views of it, that ask for memory of the device.
class DeviceUses {
public:
  explicit DeviceUses(Block &entry, Value root) : entry(entry) { collect(root); }

  /// The first op of the entry block that has one.
  Operation *first = nullptr;
  /// True if loops or branches have some.
  bool inControl = false;

private:
  void collect(Value value) {
    for (Operation *user : value.getUsers()) {
      if (isView(user)) {
        collect(user->getResult(0));
        continue;
      }
      if (!isa<gpu::LaunchFuncOp>(user) && !isHandedOn(user))
        continue;
      Operation *here = entry.findAncestorOpInBlock(*user);
      if (!here)
        continue;
      inControl |= isHandedOn(user);
      for (Operation *around = user; around != here; around = around->getParentOp())
        inControl |= isControl(around->getParentOp());
      if (!first || here->isBeforeInBlock(first))
        first = here;
    }
  }

  Block &entry;
};

/// Lets launches and what loops carry use `copy` in place of `root`; the host reads `root`.
void redirect(Value root, Value copy) {
  for (OpOperand &use : llvm::make_early_inc_range(root.getUses())) {
    Operation *user = use.getOwner();
    if (isa<gpu::LaunchFuncOp>(user) || isHandedOn(user)) {
      use.set(copy);
    } else if (isView(user)) {
      OpBuilder b(user);
      // The copy may be made later than a view of what is copied.
      Operation *made = copy.getDefiningOp();
      if (made->getBlock() == user->getBlock() && user->isBeforeInBlock(made))
        b.setInsertionPointAfter(made);
      IRMapping mapping;
      mapping.map(root, copy);
      Operation *view = b.clone(*user, mapping);
      redirect(user->getResult(0), view->getResult(0));
      for (Operation *each : {user, view})
        if (each->use_empty())
          each->erase();
    }
  }
}

struct CopyForLoops : xetile::impl::CopyForLoopsBase<CopyForLoops> {
  void runOnOperation() override {
    for (func::FuncOp function : getEntryPoints(getOperation())) {
      Block &entry = function.getBody().front();
      if (llvm::none_of(entry, [](Operation &op) { return isControl(&op) && launchesInside(&op); }))
        continue;
      SmallVector<Value> roots(entry.getArguments());
      function.walk([&](memref::GetGlobalOp op) {
        op->moveBefore(&entry, entry.begin());
        roots.push_back(op);
      });
      for (Value root : roots)
        copyIn(entry, root);
      function.walk([&](func::ReturnOp op) { copyOut(entry, op); });
    }
  }

private:
  static Value copyBefore(Operation *op, Value value) {
    OpBuilder b(op);
    auto type = cast<MemRefType>(value.getType());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(memref::DimOp::create(b, value.getLoc(), value, dim));
    auto plain = MemRefType::get(type.getShape(), type.getElementType(),
                                 MemRefLayoutAttrInterface(), type.getMemorySpace());
    Value copy = memref::AllocOp::create(b, value.getLoc(), plain, sizes, b.getI64IntegerAttr(64));
    memref::CopyOp::create(b, value.getLoc(), value, copy);
    return copy;
  }

  static void copyIn(Block &entry, Value root) {
    auto type = dyn_cast<MemRefType>(root.getType());
    if (!type || !type.getLayout().isIdentity() || comesFromDevice(root) ||
        xetile::mayBeWritten(root))
      return;
    DeviceUses uses(entry, root);
    if (uses.inControl)
      redirect(root, copyBefore(uses.first, root));
  }

  /// The caller's memory for a result is the host's: loops would copy to and from it.
  static void copyOut(Block &entry, func::ReturnOp op) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!type)
        continue;
      Value root = operand.get();
      while (Operation *view = root.getDefiningOp()) {
        if (!isView(view))
          break;
        root = view->getOperand(0);
      }
      auto alloc = root.getDefiningOp<memref::AllocOp>();
      bool isOurs = !alloc || DeviceUses(entry, root).inControl;
      // Results of static sizes that are no allocations are copied anyway.
      if (isOurs && (alloc || !type.hasStaticShape()))
        operand.set(copyBefore(op, operand.get()));
    }
  }
};
} // namespace
