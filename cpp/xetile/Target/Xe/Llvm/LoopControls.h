//===- LoopControls.h - what a SPIR-V consumer may do to loops ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_LOOPCONTROLS_H
#define XETILE_TARGET_XE_LLVM_LOOPCONTROLS_H

#include <string>

namespace xetile {

/// Marks every loop of one block in a SPIR-V module as not to be unrolled.
///
/// Unrolling is the schedule's choice, which knows the register pressure. Intel's compiler does
/// not: it unrolls a k loop of 16 steps completely and spills (512^3, 32 x 64 tiles: 4096 bytes,
/// and none with this mark). LLVM's backend writes loop controls for shaders only.
void forbidUnrolling(std::string &spirv);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_LOOPCONTROLS_H
