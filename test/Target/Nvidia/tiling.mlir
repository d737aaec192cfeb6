// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles, stages and the pipeline where each workgroup has a multiprocessor for itself.
// RUN: xetile-opt %s --split-input-file --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=2-ring})" | FileCheck %s
// RUN: xetile-opt %s --split-input-file --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/matmul.mlir to=2-ring set=workgroup_m=64,workgroup_n=128})" | FileCheck %s --check-prefix=SMALL

// 48 steps: all stages that fit, a warpgroup that only loads, and another that multiplies all rows.
// CHECK-LABEL: gpu.func @long_kernel
// CHECK-SAME: known_grid_size = array<i32: 6, 12, 1>
// CHECK-SAME: pipeline = "specialized"
// CHECK-SAME: stages = 8
func.func @long(%A: tensor<768x3072xbf16>, %B: tensor<3072x768xbf16>, %C: tensor<768x768xf32>) -> tensor<768x768xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<768x3072xbf16>, tensor<3072x768xbf16>) outs(%C : tensor<768x768xf32>) -> tensor<768x768xf32>
  return %D : tensor<768x768xf32>
}

// -----

// 16 steps end before that pays.
// CHECK-LABEL: gpu.func @short_kernel
// CHECK-SAME: pipeline = "simple"
// CHECK-SAME: stages = 6
func.func @short(%A: tensor<1024x1024xbf16>, %B: tensor<1024x1024xbf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}

// -----

// 24 steps fill more stages, and gain nothing by another warpgroup.
// CHECK-LABEL: gpu.func @between_kernel
// CHECK-SAME: pipeline = "simple"
// CHECK-SAME: stages = 8
func.func @between(%A: tensor<768x1536xbf16>, %B: tensor<1536x768xbf16>, %C: tensor<768x768xf32>) -> tensor<768x768xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<768x1536xbf16>, tensor<1536x768xbf16>) outs(%C : tensor<768x768xf32>) -> tensor<768x768xf32>
  return %D : tensor<768x768xf32>
}

// -----

// More tiles than multiprocessors hide each other's waits.
// CHECK-LABEL: gpu.func @many_kernel
// CHECK-SAME: pipeline = "specialized"
// SMALL-LABEL: gpu.func @many_kernel
// SMALL-SAME: stages = 6
func.func @many(%A: tensor<4096x4096xbf16>, %B: tensor<4096x1024xbf16>, %C: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<4096x4096xbf16>, tensor<4096x1024xbf16>) outs(%C : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %D : tensor<4096x1024xf32>
}
