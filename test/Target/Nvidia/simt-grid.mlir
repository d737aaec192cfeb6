// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More workgroups along y or z than a launch takes are numbered along x.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-plan-ring))" | FileCheck %s

// CHECK-LABEL: gpu.func @many
// CHECK-SAME: known_grid_size = array<i32: 600000, 1, 1>
// CHECK-SAME: flat
// CHECK: %[[ALL:.*]] = gpu.block_id x
// CHECK: %[[ROWS:.*]] = arith.divui %[[ALL]], %c2{{.*}}
// CHECK: %[[X:.*]] = arith.remui %[[ALL]], %c2{{.*}}
// CHECK: %[[Y:.*]] = arith.remui %[[ROWS]], %c3{{.*}}
// CHECK: %[[Z:.*]] = arith.divui %[[ROWS]], %c3{{.*}}
// CHECK-NOT: gpu.block_id
// CHECK: memref.subview %{{.*}}[%[[Z]], %[[Y]], %[[X]], 0, 0]
// CHECK-LABEL: gpu.func @few
// CHECK-NOT: flat
// CHECK: gpu.block_id z
gpu.module @kernels {
  gpu.func @many(%D: memref<100000x3x2x4x8xf32>) kernel attributes {known_grid_size = array<i32: 2, 3, 100000>} {
    %x = gpu.block_id x
    %y = gpu.block_id y
    %z = gpu.block_id z
    %zero = arith.constant dense<0.0> : vector<4x8xf32>
    %d = memref.subview %D[%z, %y, %x, 0, 0] [1, 1, 1, 4, 8] [1, 1, 1, 1, 1] : memref<100000x3x2x4x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %dt = xetile.init_tile %d[0, 0] : memref<4x8xf32, strided<[8, 1], offset: ?>> -> !xetile.tile<4x8xf32>
    xetile.store_tile %zero, %dt : vector<4x8xf32>, !xetile.tile<4x8xf32>
    gpu.return
  }
  gpu.func @few(%D: memref<10x4x8xf32>) kernel attributes {known_grid_size = array<i32: 1, 1, 10>} {
    %z = gpu.block_id z
    %zero = arith.constant dense<0.0> : vector<4x8xf32>
    %d = memref.subview %D[%z, 0, 0] [1, 4, 8] [1, 1, 1] : memref<10x4x8xf32> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %dt = xetile.init_tile %d[0, 0] : memref<4x8xf32, strided<[8, 1], offset: ?>> -> !xetile.tile<4x8xf32>
    xetile.store_tile %zero, %dt : vector<4x8xf32>, !xetile.tile<4x8xf32>
    gpu.return
  }
}
