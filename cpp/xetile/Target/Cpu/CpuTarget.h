//===- CpuTarget.h - this machine as a target ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_CPUTARGET_H
#define XETILE_TARGET_CPU_CPUTARGET_H

namespace xetile {
/// The target "cpu".
void registerCpuTarget();
} // namespace xetile

#endif // XETILE_TARGET_CPU_CPUTARGET_H
