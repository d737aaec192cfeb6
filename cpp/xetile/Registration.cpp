//===- Registration.cpp - everything that a tool registers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "xetile/Conversion/Passes.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Compile.h"
#include "xetile/Target/Host/Passes.h"
#include "xetile/Target/Passes.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/XeGPUToBinaryPipeline.h"
#include "xetile/Target/Xe/XeTarget.h"
#include "xetile/Target/Xe/XeTileToXeGPUPipeline.h"
#include "xetile/Transforms/Passes.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/Debug.h"
#include <cstdlib>
#ifdef XETILE_ENABLE_CPU
#include "xetile/Schedule/DeepTileTransformOps.h"
#include "xetile/Target/Cpu/CpuPipeline.h"
#include "xetile/Target/Cpu/CpuTarget.h"
#include "xetile/Target/Cpu/Passes.h"
#endif
#ifdef XETILE_ENABLE_NVIDIA
#include "xetile/Target/Nvidia/NvidiaTarget.h"
#include "xetile/Target/Nvidia/Passes.h"
#endif

void xetile::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<XeTileDialect>();
  registerTransformExtension(registry);
#ifdef XETILE_ENABLE_CPU
  registerDeepTileTransformExtension(registry);
#endif
}

/// LLVM's option -debug-only, which its releases lack, by the environment variable XETILE_DEBUG.
static void readDebugTypes() {
  static const std::string given = std::getenv("XETILE_DEBUG") ? std::getenv("XETILE_DEBUG") : "";
  if (given.empty())
    return;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(given).split(names, ',');
  std::vector<std::string> types(names.begin(), names.end());
  llvm::SmallVector<const char *> pointers =
      llvm::map_to_vector(types, [](const std::string &type) { return type.c_str(); });
  llvm::DebugFlag = true;
  llvm::setCurrentDebugTypes(pointers.data(), pointers.size());
}

void xetile::registerPasses() {
  readDebugTypes();
  registerXeTileLinalgPasses();
  registerXeTileTransformsPasses();
  registerXeTileConversionPasses();
  registerXeTileTargetPasses();
  registerXeTileHostPasses();
  registerXeTileXePasses();
  registerXeTilePipelines();
  registerXeGPUToBinaryPipelines();
  registerXeTargets();
#ifdef XETILE_ENABLE_CPU
  registerXeTileCpuPasses();
  registerCpuPipelines();
  registerCpuTarget();
#endif
#ifdef XETILE_ENABLE_NVIDIA
  registerXeTileNvidiaPasses();
  registerNvidiaTarget();
#endif
  registerCompilePipeline();
}
