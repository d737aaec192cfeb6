//===- PassTensorMaps.cpp - tensor maps as parameters --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels in the LLVM dialect, globals with `xetile.tensor_map`. Out: a parameter for each, and
// `xetile.tensor_maps`, what they describe. Refused: maps that not exactly one kernel uses.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/Passes.h"
#include "xetile/Target/Nvidia/RingPlan.h"

namespace xetile {
#define GEN_PASS_DEF_PASSTENSORMAPS
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using xetile::kMapAttr;
using xetile::kMapsAttr;
using xetile::kRingAttr;
using namespace xetile::hopper;

namespace {
struct PassTensorMaps : xetile::impl::PassTensorMapsBase<PassTensorMaps> {
  using PassTensorMapsBase::PassTensorMapsBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (auto ring = kernel->getAttrOfType<DictionaryAttr>(kRingAttr))
        limitThreads(kernel, ring);
    for (auto map : llvm::make_early_inc_range(getOperation().getOps<LLVM::GlobalOp>()))
      if (map->hasAttr(kMapAttr) && failed(pass(map)))
        return signalPassFailure();
    // Behind the maps.
    for (auto grid : llvm::make_early_inc_range(getOperation().getOps<LLVM::GlobalOp>()))
      if (grid->hasAttr(xetile::kGridAttr) && failed(pass(grid)))
        return signalPassFailure();
  }

private:
  /// ptxas gives a thread as many registers as so many threads leave it.
  void limitThreads(LLVM::LLVMFuncOp kernel, DictionaryAttr ring) {
    Builder b(&getContext());
    int64_t threads = ring.getAs<IntegerAttr>("threads").getInt();
    kernel->setAttr("nvvm.reqntid", b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
    kernel->setAttr("nvvm.minctasm", b.getI32IntegerAttr(1));
    kernel->removeAttr("nvvm.maxntid");
  }

  LogicalResult pass(LLVM::GlobalOp map) {
    SmallVector<LLVM::AddressOfOp> uses;
    getOperation().walk([&](LLVM::AddressOfOp use) {
      if (use.getGlobalName() == map.getSymName())
        uses.push_back(use);
    });
    auto kernel = uses.empty() ? LLVM::LLVMFuncOp() : uses[0]->getParentOfType<LLVM::LLVMFuncOp>();
    for (LLVM::AddressOfOp use : uses)
      if (use->getParentOfType<LLVM::LLVMFuncOp>() != kernel)
        return use.emitOpError("is a second function's that uses the parameter @")
               << map.getSymName() << "; expected one kernel";
    if (!kernel)
      return map.emitOpError("is a parameter that no kernel uses; expected one kernel");
    addParameter(kernel, map, uses);
    return success();
  }

  void addParameter(LLVM::LLVMFuncOp kernel, LLVM::GlobalOp map, ArrayRef<LLVM::AddressOfOp> uses) {
    Builder b(&getContext());
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type = kernel.getFunctionType();
    SmallVector<Type> inputs(type.getParams());
    unsigned number = inputs.size();
    inputs.push_back(pointer);
    kernel.setFunctionType(LLVM::LLVMFunctionType::get(type.getReturnType(), inputs));
    SmallVector<Attribute> attributes;
    for (unsigned i = 0; i < number; ++i)
      attributes.push_back(kernel.getArgAttrDict(i) ? kernel.getArgAttrDict(i)
                                                    : b.getDictionaryAttr({}));
    attributes.push_back(
        b.getDictionaryAttr({b.getNamedAttr("llvm.align", b.getI64IntegerAttr(64)),
                             b.getNamedAttr("llvm.byval", TypeAttr::get(map.getGlobalType())),
                             b.getNamedAttr("nvvm.grid_constant", b.getUnitAttr())}));
    kernel.setArgAttrsAttr(b.getArrayAttr(attributes));
    Value parameter = kernel.getBody().front().addArgument(pointer, map.getLoc());
    for (LLVM::AddressOfOp use : uses) {
      use.replaceAllUsesWith(parameter);
      use.erase();
    }
    Attribute described = map->getAttr(kMapAttr);
    map.erase();
    if (!described)
      return;
    SmallVector<Attribute> maps;
    if (auto present = kernel->getAttrOfType<ArrayAttr>(kMapsAttr))
      llvm::append_range(maps, present);
    maps.push_back(described);
    kernel->setAttr(kMapsAttr, b.getArrayAttr(maps));
  }
};
} // namespace
