//===- BlockLoops.h - the loops of one thread --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_BLOCKLOOPS_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_BLOCKLOOPS_H

#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadNest.h"

namespace xetile {

/// Loops over the blocks of a thread's part; returns the thread's result.
mlir::Value emitBlockLoops(const ThreadNest &nest);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_BLOCKLOOPS_H
