//===- SpirvCodegen.cpp - LLVM IR to validated SPIR-V -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an LLVM module of kernels. Out: SPIR-V 1.4 for OpenCL.
// Refused: what the backend cannot select, with its own message; SPIR-V that the validator rejects.
#include "xetile/Target/Xe/Llvm/SpirvCodegen.h"
#include "spirv-tools/libspirv.h"
#include "xetile/Target/LlvmErrors.h"
#include "xetile/Target/Xe/Llvm/AddressPayloads.h"
#include "xetile/Target/Xe/Llvm/AddressSums.h"
#include "xetile/Target/Xe/Llvm/CacheControls.h"
#include "xetile/Target/Xe/Llvm/CallLdexp.h"
#include "xetile/Target/Xe/Llvm/ExtendNegated.h"
#include "xetile/Target/Xe/Llvm/FreshBlockNumbers.h"
#include "xetile/Target/Xe/Llvm/LineTables.h"
#include "xetile/Target/Xe/Llvm/LoopControls.h"
#include "xetile/Target/Xe/Llvm/Loops/LoopPasses.h"
#include "xetile/Target/Xe/Llvm/OddIntegers.h"
#include "xetile/Target/Xe/Llvm/SpellOutAbs.h"
#include "xetile/Target/Xe/Llvm/SubtractNegated.h"
#include "xetile/Target/Xe/Llvm/WideVectors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include <cstring>
#include <mutex>
#include <vector>

extern "C" {
void LLVMInitializeSPIRVTarget();
void LLVMInitializeSPIRVTargetInfo();
void LLVMInitializeSPIRVTargetMC();
void LLVMInitializeSPIRVAsmPrinter();
}

namespace llvm {
// LLVM exports this entry point for tools that embed the SPIR-V backend but installs no header for
// it. It takes the extensions per call; the command line options it stands for are global.
extern "C" bool SPIRVTranslate(Module *module, std::string &spirv, std::string &error,
                               const std::vector<std::string> &extensions, CodeGenOptLevel level,
                               Triple triple);
} // namespace llvm

using namespace llvm;

namespace {

// Each extension is declared in the module only where it is used. SPV_INTEL_subgroups: 1D and SLM
// block reads and writes. Never "all": that adds integers of arbitrary width, which consumers
// reject.
const std::vector<std::string> extensions = {"SPV_INTEL_subgroups"};
const std::vector<std::string> cacheExtensions = {"SPV_INTEL_subgroups",
                                                  "SPV_INTEL_cache_controls"};

void initializeBackend() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeSPIRVTargetInfo();
    LLVMInitializeSPIRVTarget();
    LLVMInitializeSPIRVTargetMC();
    LLVMInitializeSPIRVAsmPrinter();
    xetile::numberBlocksAfresh();
  });
}

// SPIR-V variables belong to the function. XeVM's private buffers are allocated where they are
// used, in loops too: SROA and the backend want them in the entry block.
void moveAllocasToEntry(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    BasicBlock &entry = function.getEntryBlock();
    for (BasicBlock &block : drop_begin(function))
      for (Instruction &inst : make_early_inc_range(block))
        if (auto *alloca = dyn_cast<AllocaInst>(&inst);
            alloca && isa<ConstantInt>(alloca->getArraySize()))
          alloca->moveBefore(entry, entry.getFirstInsertionPt());
  }
}

// XeVM names signed bytes of matrix multiplications s8; the OpenCL extension, and so GPU drivers,
// name them i8. The mangled names differ in these letters only.
void useOpenCLNames(Module &module) {
  for (Function &function : module) {
    if (!function.isDeclaration() || !function.getName().contains("_matrix_mad_k"))
      continue;
    std::string name = function.getName().str();
    for (size_t at; (at = name.find("_s8_")) != std::string::npos;)
      name.replace(at, 4, "_i8_");
    function.setName(name);
  }
}

/// The expansion of a cast, null if the backend knows it.
Value *spellOutCast(CastInst &cast) {
  IRBuilder<> builder(&cast);
  Value *source = cast.getOperand(0);
  Type *from = source->getType(), *to = cast.getType();
  bool fromBit = from->isIntOrIntVectorTy(1), toBit = to->isIntOrIntVectorTy(1);
  switch (cast.getOpcode()) {
  case Instruction::Trunc: { // The last bit, by an operation on 32 bits whatever type `from` is.
    if (!toBit)
      return nullptr;
    Value *bit = builder.CreateAnd(source, ConstantInt::get(from, 1));
    return builder.CreateICmpNE(bit, Constant::getNullValue(from));
  }
  case Instruction::SIToFP: // 1.0 for a signed bit that is set, which is -1.
    return fromBit
               ? builder.CreateSelect(source, ConstantFP::get(to, -1.0), Constant::getNullValue(to))
               : nullptr;
  case Instruction::FPToSI: // No rule at all.
  case Instruction::FPToUI:
    return toBit ? builder.CreateFCmpUNE(builder.CreateUnaryIntrinsic(Intrinsic::trunc, source),
                                         Constant::getNullValue(from))
                 : nullptr;
  case Instruction::ZExt: {
    auto *inner = dyn_cast<SExtInst>(source);
    if (!inner || !to->isVectorTy())
      return nullptr;
    APInt low = APInt::getLowBitsSet(to->getScalarSizeInBits(), from->getScalarSizeInBits());
    return builder.CreateAnd(builder.CreateSExt(inner->getOperand(0), to),
                             ConstantInt::get(to, low));
  }
  default:
    return nullptr;
  }
}

// LLVM's SPIR-V backend miscompiles casts from and to i1, or writes invalid code for them; a zext
// of a sext of a vector it cannot select.
void spellOutCasts(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : make_early_inc_range(instructions(function)))
      if (auto *cast = dyn_cast<CastInst>(&inst))
        if (Value *value = spellOutCast(*cast)) {
          cast->replaceAllUsesWith(value);
          cast->eraseFromParent();
        }
}

// The backend gives a pointer the type of what it was made of: of an array, say. OpenCL's block
// accesses take one to words, and drivers find them by that type. What comes from a number has it.
void pointToWords(Module &module) {
  for (Function &function : module) {
    if (!function.isDeclaration() || !function.getName().contains("intel_sub_group_block_"))
      continue;
    for (User *user : function.users()) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledFunction() != &function)
        continue;
      Value *pointer = call->getArgOperand(0);
      if (!pointer->getType()->isPointerTy() || isa<IntToPtrInst>(pointer))
        continue;
      // Not by a builder, which would fold them.
      auto *number =
          new PtrToIntInst(pointer, Type::getInt64Ty(module.getContext()), "", call->getIterator());
      call->setArgOperand(0, new IntToPtrInst(number, pointer->getType(), "", call->getIterator()));
    }
  }
}

/// Transformations of loops and addresses beyond LLVM's pipelines.
void addLoopPasses(ModulePassManager &passes, const xetile::SpirvOptions &options) {
  FunctionPassManager function;
  function.addPass(LoopSimplifyPass());
  function.addPass(LCSSAPass());
  // Where messages carry offsets, the second step's need no addresses of their own.
  function.addPass(xetile::LoopCounters());
  if (options.hasMessageOffsets)
    function.addPass(xetile::UnrollSteps());
  if (options.prefetchPayloads)
    function.addPass(xetile::PrefetchPayloads(options.hasMessageOffsets));
  if (options.blockPayloads) {
    function.addPass(xetile::BlockPayloads(options.hasMessageOffsets));
    // The private arrays of messages become registers.
    function.addPass(SROAPass(SROAOptions::PreserveCFG));
  }
  function.addPass(xetile::AddressSums());
  function.addPass(xetile::ExtendNegated());
  function.addPass(EarlyCSEPass());
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(function)));
}

void runPipeline(Module &module, TargetMachine &machine, const xetile::SpirvOptions &options) {
  const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1,
                                      OptimizationLevel::O2, OptimizationLevel::O3};
  OptimizationLevel level = levels[std::min(options.level, 3u)];
  // A lane's code is scalar to LLVM: vectorizers would undo the choice of registers, and unrolling
  // is the schedule's.
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  ModulePassManager passes = level == OptimizationLevel::O0
                                 ? builder.buildO0DefaultPipeline(level)
                                 : builder.buildPerModuleDefaultPipeline(level);
  if (level != OptimizationLevel::O0)
    addLoopPasses(passes, options);
  passes.run(module, modules);
}

} // namespace

std::optional<std::string> xetile::optimizeForSpirv(Module &module, StringRef triple,
                                                    const SpirvOptions &options) {
  initializeBackend();
  std::string error;
  Triple parsed(triple);
  const Target *target = TargetRegistry::lookupTarget(parsed, error);
  if (!target)
    return "no code generator for the triple '" + triple.str() + "': " + error +
           " (expected spirv64-unknown-unknown)";
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(parsed, "", "", TargetOptions(), std::nullopt));
  module.setTargetTriple(parsed);
  module.setDataLayout(machine->createDataLayout());

  moveAllocasToEntry(module);
  useOpenCLNames(module);
  runPipeline(module, *machine, options);
  if (std::optional<std::string> why = widenOddIntegers(module))
    return why;
  spellOutCasts(module);
  callLdexp(module);
  pointToWords(module);
  spellOutAbs(module);
  subtractNegated(module);
  if (std::optional<std::string> why = splitWideVectors(module))
    return why;
  raw_string_ostream stream(error);
  if (verifyModule(module, &stream))
    return "the LLVM IR is broken after optimization: " + error;
  return std::nullopt;
}

namespace {

/// Rewrites `module` on the way.
std::optional<std::string> translate(Module &module, std::string &spirv, bool withCacheControls) {
  initializeBackend();
  // The backend ends the process on what it cannot select. The recovery context brings control back
  // here; what it had allocated is lost, which an error path can afford. Signal handlers and the
  // fatal error handler are global.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);

  std::string fatal, diagnosed, error;
  LLVMContext &context = module.getContext();
  std::unique_ptr<DiagnosticHandler> previous = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<xetile::ErrorCollector>(diagnosed));
  bool ok = false, survived = false;
  {
    CrashRecoveryContext::Enable();
    ScopedFatalErrorHandler handler(
        [](void *text, const char *reason, bool) {
          *static_cast<std::string *>(text) = reason;
          CrashRecoveryContext::GetCurrent()->HandleExit(1);
        },
        &fatal);
    CrashRecoveryContext recovery;
    // No optimization in code generation: its loop strength reduction yields operands of different
    // widths. The IR is optimized already and the GPU's compiler optimizes again.
    survived = recovery.RunSafely([&] {
      ok = SPIRVTranslate(&module, spirv, error, withCacheControls ? cacheExtensions : extensions,
                          CodeGenOptLevel::None, module.getTargetTriple());
    });
    CrashRecoveryContext::Disable();
  }
  context.setDiagnosticHandler(std::move(previous));
  if (!survived)
    return fatal.empty() ? std::string("LLVM's SPIR-V backend crashed") : fatal;
  if (!diagnosed.empty())
    return StringRef(diagnosed).rtrim().str();
  if (!ok)
    return error;
  if (spirv.empty() || spirv.size() % 4)
    return "LLVM's SPIR-V backend wrote " + std::to_string(spirv.size()) +
           " bytes, expected a positive multiple of 4";
  xetile::forbidUnrolling(spirv);
  return std::nullopt;
}

} // namespace

std::optional<std::string> xetile::translateToSpirv(const Module &module, std::string &spirv,
                                                    bool withCacheControls) {
  std::unique_ptr<Module> copy = CloneModule(module);
  if (withCacheControls)
    decorateCacheControls(*copy);
  if (!hasLineTables(*copy))
    return translate(*copy, spirv, withCacheControls);
  LineTables lines(*copy);
  if (std::optional<std::string> why = translate(*copy, spirv, withCacheControls))
    return why;
  return lines.write(spirv);
}

std::optional<std::string> xetile::validateSpirv(StringRef spirv) {
  std::vector<uint32_t> words(spirv.size() / 4);
  std::memcpy(words.data(), spirv.data(), words.size() * 4);
  spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_4);
  spv_const_binary_t binary = {words.data(), words.size()};
  spv_diagnostic diagnostic = nullptr;
  std::optional<std::string> why;
  if (spvValidate(context, &binary, &diagnostic) != SPV_SUCCESS) {
    why = "the validator gave no reason";
    if (diagnostic)
      why = "word " + std::to_string(diagnostic->position.index) + ": " +
            StringRef(diagnostic->error).rtrim().str();
  }
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  return why;
}
