// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a tile that are columns of memory are no longer than they are high.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=1-xetile-workgroup})" | FileCheck %s

// CHECK-NOT: !xetile.tile<4x1024
// CHECK: !xetile.tile<128x64xf32
func.func @kernel(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %t = linalg.transpose ins(%a : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) permutation = [1, 0]
  %c = linalg.add ins(%t, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %c : tensor<4096x4096xf32>
}
