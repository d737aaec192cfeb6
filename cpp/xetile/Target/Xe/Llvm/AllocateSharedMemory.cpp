//===- AllocateSharedMemory.cpp - shared local memory as globals ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: workgroup attributions of gpu.func, memref.alloca, alloc and dealloc in shared memory.
// Out: memref.global in memory space 3, which a launch need not know of. Refused: shared memory of
// a size that is not static, gpu.dynamic_shared_memory, memref.alloc and dealloc of other memory.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/SpaceNumber.h"

namespace xetile {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORY
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

constexpr unsigned sharedSpace = 3;
constexpr int64_t alignment = 64;

bool isShared(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return false;
  if (auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(memref.getMemorySpace()))
    return space.getValue() == gpu::AddressSpace::Workgroup;
  if (auto space = dyn_cast_or_null<xegpu::MemorySpaceAttr>(memref.getMemorySpace()))
    return space.getValue() == xegpu::MemorySpace::SLM;
  return xetile::spaceNumber(memref) == sharedSpace;
}

LogicalResult checkSize(Operation *op, MemRefType type) {
  if (type.hasStaticShape() && type.getLayout().isIdentity())
    return success();
  return op->emitOpError() << "has shared memory of type " << type
                           << ", expected a static shape without a layout: how much a workgroup "
                              "has is decided when it is compiled";
}

LogicalResult check(Operation *op) {
  if (isa<gpu::DynamicSharedMemoryOp>(op))
    return op->emitOpError("has no lowering to SPIR-V: expected shared memory of static size, as a "
                           "workgroup(..) attribution of the gpu.func or by memref.alloca");
  if (auto dealloc = dyn_cast<memref::DeallocOp>(op);
      dealloc && isShared(dealloc.getMemref().getType()))
    return success();
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (isShared(type))
      return checkSize(op, type);
  }
  if (isa<memref::AllocOp, memref::DeallocOp>(op))
    return op->emitOpError("has no lowering in device code: expected memref.alloca of static size, "
                           "memory that the host allocates, or shared memory, whose space is 3");
  if (auto function = dyn_cast<gpu::GPUFuncOp>(op))
    for (BlockArgument argument : function.getWorkgroupAttributions())
      if (failed(checkSize(op, cast<MemRefType>(argument.getType()))))
        return failure();
  return success();
}

struct AllocateSharedMemory : xetile::impl::AllocateSharedMemoryBase<AllocateSharedMemory> {
  using AllocateSharedMemoryBase::AllocateSharedMemoryBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    if (module.walk([](Operation *op) { return WalkResult(check(op)); }).wasInterrupted())
      return signalPassFailure();
    SymbolTable symbols(module);
    // It lives as long as the workgroup, whoever frees it.
    module.walk([&](memref::DeallocOp dealloc) { dealloc.erase(); });
    module.walk([&](Operation *op) {
      if (!isa<memref::AllocOp, memref::AllocaOp>(op) || !isShared(op->getResult(0).getType()))
        return;
      auto type = cast<MemRefType>(op->getResult(0).getType());
      op->replaceAllUsesWith(ValueRange(makeGlobal(symbols, op, type)));
      op->erase();
    });
    for (auto function : module.getOps<gpu::GPUFuncOp>())
      replaceAttributions(symbols, function);
    useNumbers(module);
  }

private:
  /// The memory, seen at `user`.
  Value makeGlobal(SymbolTable &symbols, Operation *user, MemRefType type) {
    OpBuilder builder(user);
    auto global = memref::GlobalOp::create(
        builder, user->getLoc(), "shared", builder.getStringAttr("private"), type,
        /*initial_value=*/builder.getUnitAttr(), /*constant=*/false,
        builder.getI64IntegerAttr(alignment));
    global->remove();
    StringAttr name = symbols.insert(global, getOperation().getBody()->begin());
    return memref::GetGlobalOp::create(builder, user->getLoc(), type, name);
  }

  void replaceAttributions(SymbolTable &symbols, gpu::GPUFuncOp function) {
    unsigned number = function.getNumWorkgroupAttributions();
    if (!number)
      return;
    unsigned first = function.getFunctionType().getNumInputs();
    Block &entry = function.front();
    for (unsigned i = 0; i < number; ++i) {
      BlockArgument argument = entry.getArgument(first + i);
      argument.replaceAllUsesWith(
          makeGlobal(symbols, &entry.front(), cast<MemRefType>(argument.getType())));
    }
    entry.eraseArguments(first, number);
    function->removeAttr(function.getWorkgroupAttribAttrsAttrName());
    function->setAttr(gpu::GPUFuncOp::getNumWorkgroupAttributionsAttrName(),
                      IntegerAttr::get(IntegerType::get(&getContext(), 64), 0));
  }

  /// Upstream's lowering of memrefs knows no address spaces by name.
  void useNumbers(gpu::GPUModuleOp module) {
    AttrTypeReplacer replacer;
    replacer.addReplacement([](gpu::AddressSpaceAttr space) -> std::optional<Attribute> {
      if (space.getValue() != gpu::AddressSpace::Workgroup)
        return std::nullopt;
      return IntegerAttr::get(IntegerType::get(space.getContext(), 64), sharedSpace);
    });
    replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
      if (!isShared(type) || !isa<xegpu::MemorySpaceAttr>(type.getMemorySpace()))
        return std::nullopt;
      Attribute space = IntegerAttr::get(IntegerType::get(type.getContext(), 64), sharedSpace);
      return MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(), space);
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};

} // namespace
