//===- BlockSizes.h - blocks of a matmul that caches keep --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_CONFIG_BLOCKSIZES_H
#define XETILE_TARGET_CPU_MATMUL_CONFIG_BLOCKSIZES_H

#include "xetile/Target/Cpu/Matmul/Config/ConfigAnalysis.h"
#include "xetile/Target/Cpu/Matmul/Config/CostModel.h"

namespace xetile {

/// Sizes of the blocks that are not given, in elements: what a thread packs, and multiplies by
/// innermost blocks, before the next. Needs the innermost blocks, the threads and what is packed.
void chooseBlocks(const CostModel &model, const PartialConfig &given, ConfigChoice &choice);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_CONFIG_BLOCKSIZES_H
