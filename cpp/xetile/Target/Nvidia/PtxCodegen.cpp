//===- PtxCodegen.cpp - LLVM IR to PTX ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an LLVM module of kernels. Out: PTX 8.6 for sm_90a. Refused: what LLVM's back end reports.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/PtxCodegen.h"
#include "xetile/Target/LlvmErrors.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace llvm;
using namespace xetile;

namespace {

void initializeBackend() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

} // namespace

Result<std::string> hopper::makePtx(Module &module) {
  initializeBackend();
  Triple triple("nvptx64-nvidia-cuda");
  std::string said;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, said);
  if (!target)
    return Error("has no PTX: this LLVM was built without its back end for it: " + said);
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, kChip, kFeatures, TargetOptions(), std::nullopt,
                                  std::nullopt, CodeGenOptLevel::Aggressive));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  module.getContext().setDiagnosticHandler(std::make_unique<ErrorCollector>(said));
  optimize(module, *machine);
  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::AssemblyFile))
    return Error("has no PTX: LLVM's back end writes none");
  passes.run(module);
  if (!said.empty())
    return Error("has no PTX: " + said);
  return std::string(text);
}
