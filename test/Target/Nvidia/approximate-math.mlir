// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-approximate-math))" | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @functions
  // CHECK-NOT: math.
  // One choice by the argument, not one for each coefficient.
  // CHECK: arith.select
  // CHECK-NOT: arith.select
  // CHECK: memref.store
  // CHECK: llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (vector<2xf32>) -> vector<2xf32>
  // CHECK: gpu.return
  gpu.func @functions(%x: vector<2xf32>, %y: vector<2xbf16>, %out: memref<4xvector<2xf32>>, %narrow: memref<vector<2xbf16>>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %erf = math.erf %x : vector<2xf32>
    memref.store %erf, %out[%c0] : memref<4xvector<2xf32>>
    %tanh = math.tanh %x : vector<2xf32>
    memref.store %tanh, %out[%c1] : memref<4xvector<2xf32>>
    %rsqrt = math.rsqrt %x : vector<2xf32>
    memref.store %rsqrt, %out[%c2] : memref<4xvector<2xf32>>
    %root = math.sqrt %x : vector<2xf32>
    memref.store %root, %out[%c3] : memref<4xvector<2xf32>>
    %exp = math.exp %y : vector<2xbf16>
    memref.store %exp, %narrow[] : memref<vector<2xbf16>>
    gpu.return
  }
}
