// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bf16 matmul for sm_90a, level by level.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=2-ring})" | FileCheck %s --check-prefix=RING
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=3-nvvm})" | FileCheck %s --check-prefix=NVVM
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=4-ptx})" | FileCheck %s --check-prefix=PTX
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=5-llvm})" | FileCheck %s --check-prefix=LLVM

// RING: gpu.module @matmul_kernel [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">]
// More tiles than multiprocessors: a warpgroup of its own loads.
// RING: xetile.ring = {pipeline = "specialized", shared_bytes = 229440 : i64, stage_bytes = 49152 : i64, stages = 4 : i64, threads = 384 : i64

// NVVM: llvm.func @matmul_kernel
// NVVM: nvvm.wgmma.mma_async

// Four stages, so three are loaded before the loop, each with the bytes of its boxes, and one in each step.
// PTX: expect_tx
// PTX-SAME: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16

// LLVM-NOT: gpu.launch
// LLVM: llvm.call @xetileCudaLaunch
func.func @matmul(%A: tensor<4096x4096xbf16>, %B: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4096x4096xf32>
  %C = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %D = linalg.matmul ins(%A, %B : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
                     outs(%C : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %D : tensor<4096x4096xf32>
}
