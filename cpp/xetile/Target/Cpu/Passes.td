//===- Passes.td - passes for CPUs, in the order of the levels ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_PASSES_TD
#define XETILE_TARGET_CPU_PASSES_TD

include "xetile/Target/Cpu/MatmulPasses.td"
include "xetile/Target/Cpu/TensorPasses.td"
include "xetile/Target/Cpu/LoweringPasses.td"

#endif // XETILE_TARGET_CPU_PASSES_TD
