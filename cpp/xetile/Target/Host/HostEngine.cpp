//===- HostEngine.cpp - host code in this process ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module in the LLVM dialect, gpu.binaries included. Out: an execution engine with its code,
// whose constructors have run and which has no tables for unwinding. Refused: what has no
// translation to LLVM IR.
//
// Nothing unwinds host code: libraries that it calls report errors otherwise. Tables would be
// registered with libgcc, which from release 13 on keeps some of those of engines that are gone,
// and reads their memory at the next C++ exception (seen with libgcc 14: one in 100 random programs
// for GPUs; without tables none). It keeps them by ranges of code that must not overlap, but the
// translation of gpu.binary puts functions into a section of their own, which may be why.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/HostEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

llvm::FailureOr<std::unique_ptr<ExecutionEngine>>
xetile::makeHostEngine(ModuleOp module, unsigned optLevel,
                       llvm::ArrayRef<llvm::StringRef> libraries) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmParser();
  llvm::InitializeNativeTargetAsmPrinter();
  auto refuse = [&](llvm::Error error) {
    return module.emitError("cannot make code of this process: ")
           << llvm::toString(std::move(error));
  };
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return refuse(builder.takeError());
  auto machine = builder->createTargetMachine();
  if (!machine)
    return refuse(machine.takeError());
  auto optimize = makeOptimizingTransformer(optLevel, /*sizeLevel=*/0, machine->get());
  auto transform = [&](llvm::Module *code) -> llvm::Error {
    for (llvm::Function &function : *code)
      if (!function.isDeclaration()) {
        function.setDoesNotThrow();
        function.removeFnAttr(llvm::Attribute::UWTable);
      }
    return optimize(code);
  };
  ExecutionEngineOptions options;
  options.transformer = transform;
  options.jitCodeGenOptLevel = static_cast<llvm::CodeGenOptLevel>(optLevel);
  options.sharedLibPaths = libraries;
  options.enableObjectDump = false;
  auto engine = ExecutionEngine::create(module, options);
  if (!engine)
    return refuse(engine.takeError());
  (*engine)->initialize();
  return std::move(*engine);
}
