//===- CpuPipeline.h - from tiled matmuls on tensors to the LLVM dialect -----===//
#ifndef XETILE_TARGET_CPU_CPUPIPELINE_H
#define XETILE_TARGET_CPU_CPUPIPELINE_H

namespace xetile {
/// Registers xetile-bufferize-for-cpu and xetile-lower-to-cpu.
void registerCpuPipelines();
} // namespace xetile

#endif // XETILE_TARGET_CPU_CPUPIPELINE_H
