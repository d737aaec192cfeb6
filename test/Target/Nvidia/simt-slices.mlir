// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of which rows and columns are used are copied to shared memory, and read there.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-plan-ring))" | FileCheck %s --check-prefix=PLAN
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-plan-ring,convert-xetile-to-nvvm,canonicalize,cse))" | FileCheck %s

// 8 x 2 and 2 x 32 elements of f32.
// PLAN: pipeline = "threads"{{.*}}shared_bytes = 320 : i64
// CHECK-LABEL: gpu.func @outer
// CHECK-COUNT-2: nvvm.barrier0
// CHECK: nvvm.barrier0
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK: math.fma
// CHECK: math.fma
// CHECK-NOT: vector.extract_strided_slice
gpu.module @kernels {
  gpu.func @outer(%A: memref<8x2xf32>, %B: memref<2x32xf32>, %D: memref<8x32xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<8x32xf32>
    %at = xetile.init_tile %A[0, 0] : memref<8x2xf32> -> !xetile.tile<8x2xf32>
    %a = xetile.load_tile %at : !xetile.tile<8x2xf32> -> vector<8x2xf32>
    %bt = xetile.init_tile %B[0, 0] : memref<2x32xf32> -> !xetile.tile<2x32xf32>
    %b = xetile.load_tile %bt : !xetile.tile<2x32xf32> -> vector<2x32xf32>
    %a0 = vector.extract_strided_slice %a {offsets = [0, 0], sizes = [8, 1], strides = [1, 1]} : vector<8x2xf32> to vector<8x1xf32>
    %a1 = vector.extract_strided_slice %a {offsets = [0, 1], sizes = [8, 1], strides = [1, 1]} : vector<8x2xf32> to vector<8x1xf32>
    %r0 = vector.extract %b[0] : vector<32xf32> from vector<2x32xf32>
    %r1 = vector.extract %b[1] : vector<32xf32> from vector<2x32xf32>
    %b0 = vector.shape_cast %r0 : vector<32xf32> to vector<1x32xf32>
    %b1 = vector.shape_cast %r1 : vector<32xf32> to vector<1x32xf32>
    %x0 = xetile.tile_broadcast %a0, [1] : vector<8x1xf32> -> vector<8x32xf32>
    %x1 = xetile.tile_broadcast %a1, [1] : vector<8x1xf32> -> vector<8x32xf32>
    %y0 = xetile.tile_broadcast %b0, [0] : vector<1x32xf32> -> vector<8x32xf32>
    %y1 = xetile.tile_broadcast %b1, [0] : vector<1x32xf32> -> vector<8x32xf32>
    %s0 = math.fma %x0, %y0, %zero : vector<8x32xf32>
    %s1 = math.fma %x1, %y1, %s0 : vector<8x32xf32>
    %dt = xetile.init_tile %D[0, 0] : memref<8x32xf32> -> !xetile.tile<8x32xf32>
    xetile.store_tile %s1, %dt : vector<8x32xf32>, !xetile.tile<8x32xf32>
    gpu.return
  }
}
