//===- CpuTarget.cpp - this machine as a target ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: a target that tiles their matmuls, takes them to memory and lowers
// them to the LLVM dialect. Refused: nothing here.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/CpuTarget.h"
#include "mlir/Pass/PassManager.h"
#include "xetile/Target/Cpu/CpuPipeline.h"
#include "xetile/Target/Cpu/Passes.h"
#include "xetile/Target/Host/Passes.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace xetile;

namespace {
struct CpuOptions : TargetOptions, CpuTilingOptions, CpuBufferizeOptions, CpuLoweringOptions {
  CpuOptions() {
    resultsAsArguments = ResultMemory::CallersWhereStatic;
    vectorBits = 0;
  }
};
} // namespace

void xetile::registerCpuTarget() {
  auto level = [](StringLiteral name, StringLiteral action,
                  std::function<void(OpPassManager &, const CpuOptions &)> add) -> Level {
    return {name, action, withOptions(add)};
  };
  Target target;
  target.name = "cpu";
  target.description = "CPU of this machine (x86-64)";
  target.binary = "object code";
  target.tilingOptions = namesOf<CpuTilingOptions>();
  target.makeOptions = [] { return std::make_unique<CpuOptions>(); };
  target.levels = {
      level("0-linalg", "prepare the function",
            [](OpPassManager &pm, const CpuOptions &) { buildPrepareForCpu(pm); }),
      level("1-tiled", "tile the matmuls",
            [](OpPassManager &pm, const CpuOptions &options) {
              TileForCpuOptions tiling;
              tiling.threads = options.threads;
              tiling.config = options.config;
              tiling.pack = options.pack;
              tiling.fuse = options.fuse;
              tiling.attention = options.attention;
              pm.addPass(createTileForCpu(tiling));
            }),
      level("2-memory", "take the function to memory",
            [](OpPassManager &pm, const CpuOptions &options) {
              buildBufferizeForCpu(pm, options, /*keepArguments=*/true);
              pm.addPass(createAddCInterface());
            }),
      level("3-llvm", "lower the function to machine code",
            [](OpPassManager &pm, const CpuOptions &options) { buildLowerToCpu(pm, options); }),
  };
  registerTarget(std::move(target));
}
