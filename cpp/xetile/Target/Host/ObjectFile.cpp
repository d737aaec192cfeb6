//===- ObjectFile.cpp - machine code of host code, as a file -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module in the LLVM dialect, gpu.binaries included. Out: the object file that LLVM makes of
// it, as an execution engine would, but with its constructors, or the same as assembly: nothing is
// loaded or run. Refused: what has no translation to LLVM IR.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/ObjectFile.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace {

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(unsigned optLevel) {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeGenOptLevel(static_cast<llvm::CodeGenOptLevel>(optLevel));
  return builder->createTargetMachine();
}

llvm::FailureOr<std::string> makeFile(ModuleOp module, unsigned optLevel,
                                      llvm::CodeGenFileType type) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  StringRef what = type == llvm::CodeGenFileType::ObjectFile ? "an object file" : "assembly";
  auto refuse = [&](llvm::Error error) {
    return module.emitError("cannot make ") << what << ": " << llvm::toString(std::move(error));
  };
  auto machine = makeTargetMachine(optLevel);
  if (!machine)
    return refuse(machine.takeError());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return module.emitError("cannot make ") << what << ": it has no translation to LLVM IR";
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  if (llvm::Error error = makeOptimizingTransformer(optLevel, 0, machine->get())(code.get()))
    return refuse(std::move(error));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, type))
    return module.emitError("cannot make ") << what << ": LLVM writes none for this machine";
  passes.run(*code);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace

llvm::FailureOr<std::string> xetile::makeObjectFile(ModuleOp module, unsigned optLevel) {
  return makeFile(module, optLevel, llvm::CodeGenFileType::ObjectFile);
}

llvm::FailureOr<std::string> xetile::makeAssembly(ModuleOp module, unsigned optLevel) {
  return makeFile(module, optLevel, llvm::CodeGenFileType::AssemblyFile);
}
