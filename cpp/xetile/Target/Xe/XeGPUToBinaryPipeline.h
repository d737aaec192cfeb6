//===- XeGPUToBinaryPipeline.h - levels 4 to 6 ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_XEGPUTOBINARYPIPELINE_H
#define XETILE_TARGET_XE_XEGPUTOBINARYPIPELINE_H

#include "mlir/Pass/PassOptions.h"
#include "xetile/Target/Xe/RegisterFile.h"

namespace mlir {
class OpPassManager;
}

namespace xetile {

/// For what XeGPU ops stand.
enum class XeGPULevel {
  Workgroup,   // tiles of a workgroup, distributed by sg_layout and sg_data
  Subgroup,    // tiles of a subgroup of any size
  Instruction, // one op is one message or dpas; large loads are sliced with vector ops
  Lane,        // what each lane holds
};

// Option groups; each pipeline takes those that concern it.
struct OptimizationOptions : virtual mlir::detail::PassOptions {
  Option<int> optLevel{*this, "O",
                       llvm::cl::desc("Optimization level of the LLVM IR, 0 to 3 (-1: that of the "
                                      "module's target, else 2)"),
                       llvm::cl::init(-1)};
};

struct ChipOptions : OptimizationOptions {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("Chip to compile for"),
                           llvm::cl::init("pvc")};
};

struct LevelOptions : virtual mlir::detail::PassOptions {
  Option<XeGPULevel> level{
      *this, "xegpu-op-level", llvm::cl::desc("For what the XeGPU ops of the input stand"),
      llvm::cl::init(XeGPULevel::Subgroup),
      llvm::cl::values(
          clEnumValN(XeGPULevel::Workgroup, "workgroup", "tiles of a workgroup"),
          clEnumValN(XeGPULevel::Subgroup, "subgroup", "tiles of a subgroup of any size"),
          clEnumValN(XeGPULevel::Instruction, "instruction",
                     "one subgroup op is one message or dpas"),
          clEnumValN(XeGPULevel::Lane, "lane", "what each lane holds"))};
};

struct HostOptions : virtual mlir::detail::PassOptions {
  Option<bool> copyOperands{
      *this, "copy-operands",
      llvm::cl::desc(
          "Copy host memory to the device around launches (xetile-copy-launch-operands)"),
      llvm::cl::init(true)};
};

struct BinaryOptions : virtual mlir::detail::PassOptions {
  Option<std::string> native{*this, "native",
                             llvm::cl::desc("Machine code: auto (if ocloc is found), require, off"),
                             llvm::cl::init("auto")};
  ListOption<std::string> nativeChips{
      *this, "native-chips", llvm::cl::desc("Chips to make machine code for (default: chip)")};
  Option<RegisterFile> largeRegisterFile{
      *this,
      "large-register-file",
      llvm::cl::desc("Machine code with 256 registers per thread: true, false, or auto (where it "
                     "spills less)"),
      llvm::cl::init(RegisterFile::Auto),
      registerFileValues(),
      llvm::cl::ValueOptional};
  Option<bool> cacheControls{*this, "cache-controls",
                             llvm::cl::desc("Give machine code the cache hints of its accesses"),
                             llvm::cl::init(false)};
  Option<bool> prefetchPayloads{
      *this, "prefetch-payloads",
      llvm::cl::desc("Prefetch, store, load once by address payloads, functions of Intel's "
                     "library; false: by OpenCL's alone"),
      llvm::cl::init(true)};
  Option<bool> lineTables{
      *this, "line-tables",
      llvm::cl::desc("SPIR-V and machine code name the lines that instructions come from"),
      llvm::cl::init(false)};
  Option<std::string> ocloc{*this, "ocloc", llvm::cl::desc("Path of ocloc"), llvm::cl::init("")};
  Option<std::string> dumpDir{*this, "dump-dir",
                              llvm::cl::desc("Directory for <kernel>.ll, .spv and .<chip>.bin"),
                              llvm::cl::init("")};
};

/// Says for which chip to compile. On builtin.module.
void buildAttachTarget(mlir::OpPassManager &pm, llvm::StringRef chip, int optLevel);

/// Levels 4 to 5: lowers every gpu.module, which has a target, to XeVM and LLVM ops. On
/// builtin.module.
void buildLowerXeGPUToXeVM(mlir::OpPassManager &pm, XeGPULevel level);

/// Levels 5 to 6 and the host: every gpu.module becomes a gpu.binary, the rest LLVM dialect. On
/// builtin.module.
void buildLowerXeVMToBinary(mlir::OpPassManager &pm, const BinaryOptions &options);

/// Levels 4 to 6 and the host, modules with a target. On builtin.module.
void buildLowerXeGPUToBinary(mlir::OpPassManager &pm, XeGPULevel level, const HostOptions &host,
                             const BinaryOptions &binary);

/// xetile-lower-xegpu-to-xevm, xetile-lower-xevm-to-binary and xetile-lower-xegpu-to-binary.
void registerXeGPUToBinaryPipelines();

} // namespace xetile

#endif // XETILE_TARGET_XE_XEGPUTOBINARYPIPELINE_H
