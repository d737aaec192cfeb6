//===- XeTileToXeGPUPipeline.h - levels 1 to 4, and all of 1 to 6 -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_XETILETOXEGPUPIPELINE_H
#define XETILE_TARGET_XE_XETILETOXEGPUPIPELINE_H

namespace mlir {
class OpPassManager;
}

namespace xetile {

/// Levels 1 to 2: completes the workgroup maps and distributes over subgroups. On builtin.module.
void buildLowerToSubgroup(mlir::OpPassManager &pm);

/// Levels 2 to 3: vectors and tiles in blocks. On builtin.module.
void buildBlocking(mlir::OpPassManager &pm);

/// Levels 3 to 4: XeGPU operations of the hardware's sizes. On builtin.module.
void buildConvertToXeGPU(mlir::OpPassManager &pm);

/// xetile-lower-to-subgroup, xetile-lower-to-xegpu and xetile-lower-to-binary.
void registerXeTilePipelines();

} // namespace xetile

#endif // XETILE_TARGET_XE_XETILETOXEGPUPIPELINE_H
