// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that a Hopper GPU does not take, as a user asks for them.
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=workgroup_m=96})" 2>&1 | FileCheck %s --check-prefix=C0
// C0: workgroup_m = 96 over subgroups_m = 1 gives each warpgroup 96 rows; expected a multiple of 64, the rows of wgmma
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=workgroup_n=96})" 2>&1 | FileCheck %s --check-prefix=C1
// C1: workgroup_n = 96: expected 64, 128, 192 or 256, the columns of wgmma
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=workgroup_m=320,subgroups_m=1})" 2>&1 | FileCheck %s --check-prefix=C2
// C2: workgroup_m = 320: expected at most 256, what one TMA loads
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=k_step=32})" 2>&1 | FileCheck %s --check-prefix=C3
// C3: k_step = 32: expected a multiple of 64 of at most 256, rows of 128 bytes of bf16
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=prefetch=0})" 2>&1 | FileCheck %s --check-prefix=C4
// C4: prefetch = 0: expected at least 1, the stages of the ring but one
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=subgroups_n=2})" 2>&1 | FileCheck %s --check-prefix=C5
// C5: subgroups_n = 2: expected 1 on sm_90a, where warpgroups share a tile by rows
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=subgroups_m=8,workgroup_m=512})" 2>&1 | FileCheck %s --check-prefix=C6
// C6: subgroups_m = 8: expected 1, 2 or 4 warpgroups on sm_90a
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=workgroup_m=128,workgroup_n=256,subgroups_m=1})" 2>&1 | FileCheck %s --check-prefix=C7
// C7: sums take 256 registers of a thread; expected at most 199 of 255: make workgroup_m or workgroup_n smaller, or subgroups_m larger
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=1-xetile-workgroup set=workgroup_n=256,prefetch=4})" 2>&1 | FileCheck %s --check-prefix=C8
// C8: bytes of shared memory; expected at most 232448 on sm_90a: prefetch = 3 fits
func.func @matmul(%A: tensor<4096x4096xbf16>, %B: tensor<4096x4096xbf16>, %C: tensor<4096x4096xf32>)
    -> tensor<4096x4096xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                     outs(%C : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %D : tensor<4096x4096xf32>
}
