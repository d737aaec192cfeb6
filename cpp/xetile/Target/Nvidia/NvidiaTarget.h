//===- NvidiaTarget.h - Nvidia's GPUs as targets --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_NVIDIATARGET_H
#define XETILE_TARGET_NVIDIA_NVIDIATARGET_H

namespace xetile {
void registerNvidiaTarget();
} // namespace xetile

#endif // XETILE_TARGET_NVIDIA_NVIDIATARGET_H
