//===- XeTile.cpp - C API of the XeTile dialect and its passes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile-c/XeTile.h"
#include "mlir/CAPI/ExecutionEngine.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "xetile/Facts/CpuRates.h"
#include "xetile/Facts/MachineFacts.h"
#include "xetile/IR/MatmulConfig.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/Registration.h"
#include "xetile/Schedule/Programs/ExplainKernels.h"
#include "xetile/Schedule/SuggestSchedule.h"
#include "xetile/Target/Compile.h"
#include "xetile/Target/Host/HostEngine.h"
#include "xetile/Target/Host/HostFeatures.h"
#include "xetile/Target/Host/KernelEffects.h"
#include "xetile/Target/Host/ObjectFile.h"
#include "xetile/Target/Schedule.h"
#include "xetile/Target/Target.h"
#include "xetile/Target/Xe/Binary/Ocloc.h"
#include "xetile/Target/Xe/FindLevel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(XeTile, xetile, xetile::XeTileDialect)

void mlirXeTileContextPrintNoOpsInDiagnostics(MlirContext context) {
  unwrap(context)->printOpOnDiagnostic(false);
}

void mlirXeTileRegisterDialects(MlirDialectRegistry registry) {
  xetile::registerDialects(*unwrap(registry));
}

void mlirXeTileRegisterPasses() {
  // MLIR keeps one registry per process and refuses a name that comes twice with another pass.
  static const bool registered = [] {
    xetile::registerPasses();
    return true;
  }();
  (void)registered;
}

void mlirXeTileForEachMatmulField(void (*visit)(MlirStringRef, MlirStringRef, void *),
                                  void *userData) {
  for (const xetile::MatmulField &field : xetile::allMatmulFields())
    visit(wrap(field.name), wrap(field.doc), userData);
}

void mlirXeTileForEachLoopOrder(MlirStringCallback visit, void *userData) {
  for (llvm::StringRef name : xetile::loopOrderNames())
    visit(wrap(name), userData);
}

bool mlirXeTileForEachAbsentCpuFeature(MlirStringCallback visit, MlirStringCallback explain,
                                       void *userData) {
  if (!xetile::wrongHostFeatures().empty()) {
    explain(wrap(xetile::wrongHostFeatures()), userData);
    return false;
  }
  for (const llvm::StringMapEntry<bool> &feature : xetile::hostFeatures())
    if (!feature.second)
      visit(wrap(feature.first()), userData);
  return true;
}

bool mlirXeTileKnowsHostCpu(void) {
  return xetile::findRates(llvm::sys::getHostCPUName()).has_value();
}

void mlirXeTileForEachTarget(void (*visit)(const MlirXeTileTarget *, void *), void *userData) {
  llvm::SmallVector<const xetile::TargetInfo *> targets;
  for (const xetile::TargetInfo &target : xetile::allTargets())
    if (!target.checkSupported())
      targets.push_back(&target);
  llvm::sort(targets, [](auto *left, auto *right) { return left->chip < right->chip; });
  for (const xetile::TargetInfo *info : targets) {
    MlirXeTileTarget target = {wrap(info->chip),         wrap(info->description),
                               wrap(info->oclocDevice),  info->subgroupSize,
                               info->maxWorkItems,       info->registerBytes,
                               info->registersPerThread, info->largeRegisters};
    visit(&target, userData);
  }
}

bool mlirXeTileCheckChip(MlirStringRef chip, MlirStringCallback explain, void *userData) {
  std::optional<std::string> why = xetile::checkChip(unwrap(chip));
  if (why)
    explain(wrap(llvm::StringRef(*why)), userData);
  return !why;
}

bool mlirXeTileCompleteSchedule(MlirModule schedule, MlirStringRef folder) {
  return succeeded(xetile::completeSchedule(unwrap(schedule), unwrap(folder).str()));
}

bool mlirXeTileProbeSchedule(MlirContext context, MlirStringRef file) {
  return succeeded(xetile::probeSchedule(unwrap(context), unwrap(file).str()));
}

bool mlirXeTileIsPackagedSchedule(MlirStringRef file) {
  return xetile::isPackagedSchedule(unwrap(file));
}

MlirStringRef mlirXeTileSuggestSchedule(MlirModule payload, MlirModule prepared) {
  mlir::Operation *steps = mlirModuleIsNull(prepared) ? nullptr : unwrap(prepared).getOperation();
  return wrap(xetile::suggestSchedule(unwrap(payload), steps));
}

unsigned mlirXeTileFindLevel(MlirModule module) { return xetile::findLevel(unwrap(module)); }

bool mlirXeTileMayBeWritten(MlirValue address) { return xetile::mayBeWritten(unwrap(address)); }

void mlirXeTileExplainKernels(MlirModule module,
                              void (*visitOp)(const MlirXeTileOpInKernel *, void *),
                              void (*visitKernel)(const MlirXeTileKernelTraffic *, void *),
                              void *userData) {
  xetile::ExplainedKernels explained = xetile::explainKernels(unwrap(module));
  for (const xetile::OpInKernel &each : explained.ops) {
    MlirXeTileOpInKernel op = {wrap(each.op), each.kernel, wrap(each.schedule),
                               wrap(llvm::StringRef(each.reason))};
    visitOp(&op, userData);
  }
  for (const xetile::KernelTraffic &each : explained.kernels) {
    MlirXeTileKernelTraffic kernel = {each.kernel, wrap(each.schedule), each.read.value_or(-1),
                                      each.written.value_or(-1)};
    visitKernel(&kernel, userData);
  }
}

static bool tellText(const llvm::FailureOr<std::string> &text, MlirStringCallback take,
                     void *userData) {
  if (succeeded(text))
    take(wrap(llvm::StringRef(*text)), userData);
  return succeeded(text);
}

bool mlirXeTileApplySchedule(MlirModule payload, MlirModule schedule, MlirStringRef entry,
                             bool trusted) {
  return succeeded(
      xetile::applySchedule(unwrap(payload), unwrap(schedule), unwrap(entry), trusted));
}

bool mlirXeTileMakeObjectFile(MlirModule module, unsigned optLevel, MlirStringCallback take,
                              void *userData) {
  return tellText(xetile::makeObjectFile(unwrap(module), std::min(optLevel, 3u)), take, userData);
}

bool mlirXeTileMakeAssembly(MlirModule module, unsigned optLevel, MlirStringCallback take,
                            void *userData) {
  return tellText(xetile::makeAssembly(unwrap(module), std::min(optLevel, 3u)), take, userData);
}

MlirExecutionEngine mlirXeTileMakeHostEngine(MlirModule module, unsigned optLevel,
                                             intptr_t numLibraries,
                                             const MlirStringRef *libraries) {
  llvm::SmallVector<llvm::StringRef> files;
  for (intptr_t i = 0; i < numLibraries; ++i)
    files.push_back(unwrap(libraries[i]));
  auto engine = xetile::makeHostEngine(unwrap(module), std::min(optLevel, 3u), files);
  return wrap(succeeded(engine) ? engine->release() : nullptr);
}

void mlirXeTileForEachRates(void (*visit)(const MlirXeTileRates *, void *), void *userData) {
  for (const xetile::MachineFacts &facts : xetile::allMachineFacts()) {
    MlirXeTileRates rates = {wrap(facts.chip),      wrap(facts.product), facts.cores,
                             facts.operationsCycle, facts.megahertz,     facts.memoryGBs};
    visit(&rates, userData);
  }
}

void mlirXeTileForEachTargetEntry(void (*visit)(const MlirXeTileTargetEntry *, void *),
                                  void *userData) {
  for (const xetile::Target *target : xetile::registeredTargets()) {
    if (!target->refusal.empty())
      continue;
    std::unique_ptr<xetile::TargetOptions> options = target->makeOptions();
    llvm::SmallVector<MlirStringRef> levels, names, helps;
    for (const xetile::Level &level : target->levels)
      levels.push_back(wrap(level.name));
    for (llvm::StringRef name : options->names()) {
      names.push_back(wrap(name));
      helps.push_back(wrap(options->describe(name)));
    }
    MlirXeTileTargetEntry entry = {wrap(llvm::StringRef(target->name)),
                                   wrap(llvm::StringRef(target->description)),
                                   wrap(target->binary),
                                   intptr_t(levels.size()),
                                   levels.data(),
                                   intptr_t(names.size()),
                                   names.data(),
                                   helps.data()};
    visit(&entry, userData);
  }
}

bool mlirXeTileForEachLevel(MlirStringRef target, intptr_t numOptions, const MlirStringRef *names,
                            const MlirStringRef *values,
                            void (*visit)(const MlirXeTileLevel *, void *),
                            MlirStringCallback explain, void *userData) {
  std::vector<std::pair<std::string, std::string>> options;
  options.reserve(numOptions);
  for (intptr_t number = 0; number < numOptions; ++number)
    options.emplace_back(unwrap(names[number]).str(), unwrap(values[number]).str());
  std::vector<xetile::LevelStep> steps;
  if (std::optional<std::string> why = xetile::describeLevels(unwrap(target), options, steps)) {
    explain(wrap(llvm::StringRef(*why)), userData);
    return false;
  }
  for (const xetile::LevelStep &step : steps) {
    MlirXeTileLevel level = {wrap(step.name), wrap(step.action),
                             wrap(llvm::StringRef(step.pipeline))};
    visit(&level, userData);
  }
  return true;
}

bool mlirXeTileFindOcloc(MlirStringCallback tell, void *userData) {
  std::optional<std::string> path = xetile::findOcloc("");
  std::string text = path ? *path : xetile::explainNoOcloc("");
  tell(wrap(llvm::StringRef(text)), userData);
  return path.has_value();
}

bool mlirXeTileRunOcloc(MlirStringRef spirv, MlirStringRef device, MlirXeTileRegisterFile registers,
                        bool lineTables, void (*take)(const MlirXeTileNative *, void *),
                        MlirStringCallback explain, void *userData) {
  auto file = registers == MlirXeTileRegistersSmall   ? xetile::RegisterFile::Small
              : registers == MlirXeTileRegistersLarge ? xetile::RegisterFile::Large
                                                      : xetile::RegisterFile::Auto;
  std::optional<std::string> ocloc = xetile::findOcloc("");
  std::optional<std::string> why;
  xetile::NativeBinary binary;
  if (!ocloc)
    why = xetile::explainNoOcloc("");
  else
    why = xetile::runOcloc(*ocloc, {unwrap(spirv), unwrap(device), {}, file, true, lineTables},
                           binary);
  if (why) {
    explain(wrap(llvm::StringRef(*why)), userData);
    return false;
  }
  llvm::SmallVector<MlirStringRef> assembly;
  for (const std::string &text : binary.assembly)
    assembly.push_back(wrap(llvm::StringRef(text)));
  MlirXeTileNative native = {wrap(llvm::StringRef(binary.bytes)), binary.spillBytes,
                             binary.registers, intptr_t(assembly.size()), assembly.data()};
  take(&native, userData);
  return true;
}
