//===- CpuPipeline.cpp - from tiled matmuls on tensors to the LLVM dialect ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors, as xetile-tile-for-cpu leaves them. Out: the LLVM dialect, parallel
// loops as OpenMP. Refused: what the passes below refuse; xetile-check-lowered names what they
// leave.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/CpuPipeline.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Target/Cpu/Passes.h"
#include "xetile/Target/Host/Passes.h"
#include "xetile/Target/Passes.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace xetile;

namespace {

/// Upstream's passes by name: the text below is what mlir-opt takes, too.
void add(OpPassManager &pm, StringRef passes) {
  if (failed(parsePassPipeline(passes, pm)))
    llvm::report_fatal_error(llvm::Twine("a pass of MLIR is not registered: ") + passes,
                             /*gen_crash_diag=*/false);
}

} // namespace

void xetile::buildPrepareForCpu(OpPassManager &pm) {
  // Upstream's inliner ends the process at bodies of ops that nobody registered.
  CheckLoweredOptions imported;
  imported.scope = "host";
  imported.forbid = {"tm_tensor"};
  imported.hint = "convert-tm-tensor-to-linalg comes before";
  pm.addPass(createCheckLowered(imported));
  add(pm, "inline{default-pipeline=}");
  pm.addPass(createBoxScalars());
  pm.addPass(createReplacePoison());
  pm.addPass(createScansToLoops());
  // Before ops are made of others that look at indices themselves.
  pm.addPass(createCheckIndices());
  pm.addPass(createCheckAsserts());
  pm.addPass(createDecomposeLinalg());
  pm.addPass(createReshapesToViews());
  pm.addPass(createCheckSizes());
}

/// Products that one op sums up in f64 within a microsecond or two.
static constexpr int64_t kFewProducts = 1 << 14;

void xetile::buildBufferizeForCpu(OpPassManager &pm, const CpuBufferizeOptions &options,
                                  bool keepArguments) {
  pm.addPass(createDropEmptyPieces());
  pm.addPass(createSplitSlices());
  pm.addPass(createReplacePoison());
  PreserveArgumentsOptions arguments;
  arguments.all = keepArguments;
  pm.addPass(createPreserveArguments(arguments));
  pm.addPass(createDropScheduleMarks());
  add(pm, "canonicalize,cse");
  WidenSumsOptions sums;
  sums.shortF32 = kFewProducts;
  pm.addPass(createWidenSums(sums));
  pm.addPass(createElementwiseToLinalg());
  pm.addPass(createBlockSums());
  // Not CSE: each level of blocks has memory of its own.
  add(pm, "canonicalize");
  // Folding made more.
  pm.addPass(createReplacePoison());
  add(pm,
      "one-shot-bufferize{bufferize-function-boundaries "
      "function-boundary-type-conversion=identity-layout-map buffer-alignment=64},"
      // CSE makes source and target of copies one value, and canonicalization drops such copies.
      "canonicalize,cse,canonicalize");
  if (options.resultsAsArguments != ResultMemory::OwnForAll) {
    ResultsToArgumentsOptions results;
    results.whereStatic = options.resultsAsArguments == ResultMemory::CallersWhereStatic;
    pm.addPass(createResultsToArguments(results));
  }
  pm.addPass(createStoreBitsAsBytes());
  pm.addPass(createFreeScratch());
  ShareRowsOptions shares;
  shares.threads = options.threads;
  pm.addPass(createShareRows(shares));
  ShareOpsOptions ops;
  ops.threads = options.threads;
  pm.addPass(createShareOps(ops));
  pm.addPass(createSplitSubviews());
  pm.addPass(createExpandDynamicShapes());
  pm.addPass(createReportExpectations());
}

void xetile::buildLowerToCpu(OpPassManager &pm, const CpuLoweringOptions &options) {
  // The conversions below would take a part of it.
  CheckLoweredOptions kernels;
  kernels.scope = "host";
  kernels.forbid = {"gpu.module"};
  kernels.hint = "expected code for the CPU only, remove it";
  pm.addPass(createCheckLowered(kernels));
  pm.addPass(createCheckTypes());
  if (options.shareScratch)
    pm.addPass(createShareScratch());
  pm.addPass(createOutlineLoops());
  LowerMicrokernelsOptions microkernels;
  microkernels.vectorBits = options.vectorBits;
  microkernels.registers = options.registers;
  microkernels.bf16Dot = options.bf16Dot;
  microkernels.int8Dot = options.int8Dot;
  microkernels.amx = options.amx;
  pm.addPass(createLowerMicrokernels(microkernels));
  pm.addPass(createOutlineTiles());
  LinalgToVectorLoopsOptions loops;
  loops.vectorBits = options.vectorBits;
  pm.addPass(createLinalgToVectorLoops(loops));
  add(pm, "func.func(convert-linalg-to-loops),scf-forall-to-parallel,"
          "convert-complex-to-standard,canonicalize,cse");
  pm.addPass(createSkipUnselected());
  InlineGeluOptions gelu;
  gelu.vectorBits = options.vectorBits;
  pm.addPass(createInlineGelu(gelu));
  LowerMathOptions functions;
  functions.vectorBits = options.vectorBits;
  functions.libmvec = options.libmvec;
  functions.hostInstructions = true;
  pm.addPass(createLowerMath(functions));
  add(pm, "convert-scf-to-openmp,convert-vector-to-scf,expand-strided-metadata,lower-affine,"
          "loop-invariant-code-motion,canonicalize,cse");
  pm.addPass(createInlineAllocaScopes());
  pm.addPass(createJoinOnce());
  add(pm,
      "convert-scf-to-cf,"
      "convert-vector-to-llvm{enable-x86vector enable-amx vector-transpose-lowering=shuffle16x16},"
      // OpenMP with all else: alone, its conversion does not know the tiles of AMX that blocks of
      // its loops take.
      "expand-strided-metadata,lower-affine,convert-to-llvm,reconcile-unrealized-casts");
  pm.addPass(createBf16AsBits());
  add(pm, "canonicalize,cse");
  pm.addPass(createStoreSingleLanes());
  pm.addPass(createStreamTiles());
  pm.addPass(createRequestTileRegisters());
  CheckLoweredOptions check;
  check.scope = "host";
  check.allow = {"llvm", "omp"};
  check.after = "xetile-lower-to-cpu";
  pm.addPass(createCheckLowered(check));
}

namespace {
struct BufferizeOptions : PassPipelineOptions<BufferizeOptions>, CpuBufferizeOptions {};
struct LoweringOptions : PassPipelineOptions<LoweringOptions>, CpuLoweringOptions {};
} // namespace

void xetile::registerCpuPipelines() {
  PassPipelineRegistration<>(
      "xetile-prepare-for-cpu",
      "One function on tensors, numbers too, and beside it the one that checks its sizes",
      buildPrepareForCpu);
  PassPipelineRegistration<BufferizeOptions>(
      "xetile-bufferize-for-cpu", "Take tiled matmuls on tensors to memory, scratch freed",
      [](OpPassManager &pm, const BufferizeOptions &options) {
        buildBufferizeForCpu(pm, options);
      });
  PassPipelineRegistration<LoweringOptions>(
      "xetile-lower-to-cpu",
      "Lower bufferized matmuls to the LLVM dialect: vector code, threads by OpenMP",
      buildLowerToCpu);
}
