// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-begin-target=target=lnl | FileCheck %s
// RUN: not xetile-opt %s --xetile-begin-target=target=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not xetile-opt %s --xetile-begin-target=target=dg2 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK: gpu.module @kernels [#xevm.target<flags = {xetile.chip = "lnl"}>]
// NONE: error: unknown target 'none'; known: bmg,
// REFUSED: error: chip 'dg2' (Arc A-Series (Alchemist)) has no 2D block messages
gpu.module @kernels {
}
