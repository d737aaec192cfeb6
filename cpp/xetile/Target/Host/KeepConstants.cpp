//===- KeepConstants.cpp - constants stay on the device ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: launches that read constants of the module. Out: they read copies on the device, which the
// runtime makes in the first call and frees when the code is unloaded. Refused: nothing; constants
// that a kernel may write, or whose elements have no whole bytes, stay as they are.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/IR/BytesOf.h"
#include "xetile/Target/Host/DeviceMemory.h"
#include "xetile/Target/Host/KernelEffects.h"
#include "xetile/Target/Host/LaunchOperands.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_KEEPCONSTANTS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Its address stands for the module: whose copies are kept.
constexpr StringLiteral kOwner = "xetile_kept", kForgetAll = "xetile_forget_kept",
                        kForget = "xetileRuntimeForget";

/// The constant behind a launch's operand, if its bytes can be copied.
memref::GlobalOp constantOf(Value root, SymbolTableCollection &symbols) {
  auto get = root.getDefiningOp<memref::GetGlobalOp>();
  if (!get)
    return nullptr;
  auto global = symbols.lookupNearestSymbolFrom<memref::GlobalOp>(get, get.getNameAttr());
  if (!global || !global.getConstant() || global.isExternal() || global.isUninitialized())
    return nullptr;
  MemRefType type = global.getType();
  Type element = type.getElementType();
  bool hasBytes = element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0 &&
                  type.getLayout().isIdentity() && !type.getMemorySpace();
  return hasBytes && xetile::bytesOf(type).value_or(0) > 0 ? global : nullptr;
}

struct KeepConstants : xetile::impl::KeepConstantsBase<KeepConstants> {
  using KeepConstantsBase::KeepConstantsBase;

  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto func : getOperation().getOps<func::FuncOp>())
      keepIn(func, symbols);
    if (numKept > 0)
      addOwner();
  }

private:
  void keepIn(func::FuncOp func, SymbolTableCollection &symbols);
  Value keep(func::FuncOp func, memref::GlobalOp global);
  void addOwner();
};

/// At the function's begin: no launch is under way yet, and each of them may use it.
Value KeepConstants::keep(func::FuncOp func, memref::GlobalOp global) {
  Block &entry = func.getBody().front();
  ImplicitLocOpBuilder builder(global.getLoc(), &entry, entry.begin());
  MLIRContext *context = func.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto index = builder.getIndexType();
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Value owner = LLVM::AddressOfOp::create(builder, pointer, kOwner);
  owner = LLVM::PtrToIntOp::create(builder, builder.getI64Type(), owner);
  owner = arith::IndexCastOp::create(builder, index, owner);
  Value host = memref::GetGlobalOp::create(builder, global.getType(), global.getSymName());
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, host);
  Value count = arith::ConstantIndexOp::create(builder, *xetile::bytesOf(global.getType()));
  Value kept = func::CallOp::create(builder, kKeepFunction, TypeRange{bytes},
                                    ValueRange{owner, address, count})
                   .getResult(0);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  ++numKept;
  return memref::ViewOp::create(builder, global.getType(), kept, zero, ValueRange());
}

void KeepConstants::keepIn(func::FuncOp func, SymbolTableCollection &symbols) {
  // Equal constants of several kernels are one.
  llvm::SmallDenseMap<std::pair<Attribute, Type>, Value> copies;
  func.walk([&](gpu::LaunchFuncOp launch) {
    Operation *kernel = symbols.lookupNearestSymbolFrom(launch, launch.getKernel());
    for (auto [number, operand] : llvm::enumerate(launch.getKernelOperandsMutable())) {
      if (!isa<MemRefType>(operand.get().getType()) || xetile::kernelMayWrite(kernel, number))
        continue;
      ViewChain chain;
      Value root = findRoot(operand.get(), chain);
      memref::GlobalOp global = constantOf(root, symbols);
      if (!global)
        continue;
      Value &copy = copies[{*global.getInitialValue(), global.getType()}];
      if (!copy)
        copy = keep(func, global);
      // Views of launches in other blocks may not be visible here.
      IRMapping mapping;
      mapping.map(root, copy);
      setRoot(operand, chain, mapping);
    }
  });
}

void KeepConstants::addOwner() {
  ModuleOp module = getOperation();
  ImplicitLocOpBuilder builder(module.getLoc(), module.getBody(), module.getBody()->end());
  MLIRContext *context = &getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto index = builder.getIndexType();
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  auto keep = func::FuncOp::create(builder, kKeepFunction,
                                   builder.getFunctionType({index, index, index}, {bytes}));
  keep.setPrivate();
  keep->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), builder.getUnitAttr());
  LLVM::GlobalOp::create(builder, builder.getI8Type(), /*isConstant=*/false,
                         LLVM::Linkage::Internal, kOwner, builder.getI8IntegerAttr(0));
  auto none = LLVM::LLVMVoidType::get(context);
  LLVM::LLVMFuncOp::create(builder, kForget, LLVM::LLVMFunctionType::get(none, {pointer}));
  auto forget = LLVM::LLVMFuncOp::create(builder, kForgetAll, LLVM::LLVMFunctionType::get(none, {}),
                                         LLVM::Linkage::Internal);
  LLVM::GlobalDtorsOp::create(builder, builder.getArrayAttr(FlatSymbolRefAttr::get(forget)),
                              builder.getI32ArrayAttr({65535}),
                              builder.getArrayAttr(LLVM::ZeroAttr::get(context)));
  builder.setInsertionPointToStart(forget.addEntryBlock(builder));
  Value owner = LLVM::AddressOfOp::create(builder, pointer, kOwner);
  LLVM::CallOp::create(builder, TypeRange(), kForget, owner);
  LLVM::ReturnOp::create(builder, ValueRange());
}

} // namespace
