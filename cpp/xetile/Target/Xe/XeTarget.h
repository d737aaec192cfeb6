//===- XeTarget.h - Intel GPUs as targets -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_XETARGET_H
#define XETILE_TARGET_XE_XETARGET_H

namespace xetile {
/// One target for each chip of the device table.
void registerXeTargets();
} // namespace xetile

#endif // XETILE_TARGET_XE_XETARGET_H
