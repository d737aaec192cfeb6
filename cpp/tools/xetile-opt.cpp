//===- xetile-opt.cpp - mlir-opt with XeTile built in ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Reduction.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "xetile/Registration.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <string>
#include <vector>

/// The file that keeps what fails, where XETILE_REPRODUCERS=DIR asks for it; "" where it does not,
/// or the command line names a file itself.
static std::string reproducerFor(llvm::ArrayRef<char *> arguments) {
  const char *folder = std::getenv("XETILE_REPRODUCERS");
  bool named = llvm::any_of(arguments, [](const char *argument) {
    return llvm::StringRef(argument).contains("crash-reproducer");
  });
  if (!folder || !*folder || named || llvm::sys::fs::create_directories(folder))
    return {};
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "xetile-opt-" + std::to_string(llvm::sys::Process::getProcessId()) +
                                    ".mlir");
  return std::string(path);
}

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::registerReducerPasses(); // mlir-reduce's own, for `xetile reduce`
  xetile::registerPasses();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  xetile::registerDialects(registry);
  // Only then: the dialects that it loads would hide those that a pass forgot to declare.
  bool reduces = llvm::any_of(llvm::ArrayRef(argv, argc), [](const char *argument) {
    return llvm::StringRef(argument).contains("reduction-tree");
  });
  if (reduces)
    xetile::registerReduction(registry);
  std::vector<char *> arguments(argv, argv + argc);
  std::string reproducer = reproducerFor(arguments);
  std::string option = "--mlir-pass-pipeline-crash-reproducer=" + reproducer;
  if (!reproducer.empty())
    arguments.push_back(option.data());
  llvm::LogicalResult done = mlir::MlirOptMain(static_cast<int>(arguments.size()), arguments.data(),
                                               "XeTile optimizer driver\n", registry);
  if (failed(done) && !reproducer.empty() && llvm::sys::fs::exists(reproducer))
    llvm::errs() << "xetile-opt: it is kept: xetile reduce " << reproducer << " -o small.mlir\n";
  return mlir::asMainReturnCode(done);
}
