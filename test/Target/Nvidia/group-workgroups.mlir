// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-group-workgroups=rows=4 | FileCheck %s
// RUN: xetile-opt %s --xetile-group-workgroups=rows=1 | FileCheck %s --check-prefix=NONE
// RUN: not xetile-opt %s --xetile-group-workgroups=rows=0 2>&1 | FileCheck %s --check-prefix=ZERO

// ZERO: option rows is 0, expected at least 1
// NONE-NOT: arith.divui
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @tiles
  // In 32 bits.
  // CHECK: gpu.grid_dim x
  // CHECK: %[[WIDTH:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: gpu.block_id y
  // CHECK: %[[OLD:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[ROW:.*]] = arith.muli %[[OLD]], %[[WIDTH]]
  // CHECK: gpu.block_id x
  // CHECK: %[[COLUMN:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[NUMBER:.*]] = arith.addi %[[ROW]], %[[COLUMN]]
  // CHECK: %[[ALL:.*]] = arith.muli %[[WIDTH]], %c4_i32
  // CHECK: %[[GROUP:.*]] = arith.divui %[[NUMBER]], %[[ALL]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c4_i32
  // CHECK: %[[INSIDE:.*]] = arith.remui %[[NUMBER]], %[[ALL]]
  // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]]
  // CHECK: %[[HEIGHT:.*]] = arith.minui %[[LEFT]], %c4_i32
  // CHECK: %[[X32:.*]] = arith.divui %[[INSIDE]], %[[HEIGHT]]
  // CHECK: %[[R:.*]] = arith.remui %[[INSIDE]], %[[HEIGHT]]
  // CHECK: %[[Y32:.*]] = arith.addi %[[FIRST]], %[[R]]
  // CHECK: %[[X:.*]] = arith.index_castui %[[X32]] : i32 to index
  // CHECK: %[[Y:.*]] = arith.index_castui %[[Y32]] : i32 to index
  // CHECK: memref.store %{{.*}}, %{{.*}}[%[[Y]], %[[X]]]
  gpu.func @tiles(%A: memref<?x?xf32>) kernel {
    %x = gpu.block_id x
    %y = gpu.block_id y
    %one = arith.constant 1.0 : f32
    memref.store %one, %A[%y, %x] : memref<?x?xf32>
    gpu.return
  }
  // A grid of one dimension has no rows.
  // CHECK-LABEL: gpu.func @line
  // CHECK-NOT: arith
  gpu.func @line(%A: memref<?xf32>, %v: f32) kernel {
    %x = gpu.block_id x
    memref.store %v, %A[%x] : memref<?xf32>
    gpu.return
  }
}
