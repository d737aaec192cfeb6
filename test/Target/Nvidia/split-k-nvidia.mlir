// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few tiles and a long k: parts of k are workgroups, which a second kernel of the same module adds up.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=2-ring set=split_k=4})" | FileCheck %s --check-prefix=RING
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=2-ring set=split_k=4},gpu.module(convert-xetile-to-nvvm))" | FileCheck %s --check-prefix=NVVM
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir set=split_k=4})" | FileCheck %s --check-prefix=HOST

// RING: gpu.func @f_0_matmul_kernel({{.*}}memref<64x4x2048xf16>
// RING-SAME: pipeline = "specialized"
// RING: gpu.func @f_1_rows_kernel({{.*}}memref<4x64x96xf32>
// RING-SAME: pipeline = "threads"

// A part of A is a dimension between its rows and columns.
// NVVM: xetile.tensor_map = {argument = 0 : i64, box = array<i64: 64, 64>, outer_dim = 2 : i64}

// Partial sums stay on the device; each kernel has a slot of its own.
// HOST: llvm.mlir.addressof @f_0_matmul_kernel_f_1_rows_kernel_slot
// HOST: llvm.mlir.addressof @f_0_matmul_kernel_f_0_matmul_kernel_slot
// HOST: llvm.call @xetileCudaAllocate
// HOST: llvm.call @xetileCudaMapAlong
// HOST: llvm.call @xetileCudaLaunch
// HOST: llvm.call @xetileCudaLaunch
// HOST: llvm.call @xetileCudaFree
func.func @f(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
