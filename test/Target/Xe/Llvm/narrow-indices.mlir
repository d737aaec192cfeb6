// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What vector engines have in 32 bits only is computed so where all numbers are known to fit, and what it reads or is
// read by with it.
// RUN: xetile-opt %s --xetile-narrow-indices --cse | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @last_tile
  // CHECK: %[[BLOCK:.*]] = gpu.block_id x
  // CHECK: %[[NARROW:.*]] = arith.index_castui %[[BLOCK]] : index to i32
  // CHECK: %[[FIRST:.*]] = arith.muli %[[NARROW]], %{{.*}} overflow<nsw> : i32
  // CHECK: %[[MIN:.*]] = arith.minui %[[FIRST]], %{{.*}} : i32
  // CHECK: %[[SUM:.*]] = arith.addi %[[MIN]], %[[NARROW]] : i32
  // CHECK: %[[AT:.*]] = arith.index_castui %[[SUM]] : i32 to index
  // CHECK: memref.load %{{.*}}[%[[AT]]]
  // Where nothing costs more, nothing is converted.
  // CHECK: %[[TWICE:.*]] = arith.muli %[[BLOCK]], %{{.*}} : index
  // CHECK: %[[NEXT:.*]] = arith.addi %[[TWICE]], %[[BLOCK]] : index
  // CHECK: memref.store %{{.*}}[%[[NEXT]]]
  gpu.func @last_tile(%A: memref<4096xf32>) kernel attributes {known_grid_size = array<i32: 65, 1, 1>} {
    %c16 = arith.constant 16 : index
    %c1015 = arith.constant 1015 : index
    %block = gpu.block_id x
    %first = arith.muli %block, %c16 overflow<nsw> : index
    %last = arith.minui %first, %c1015 : index
    %sum = arith.addi %last, %block : index
    %x = memref.load %A[%sum] : memref<4096xf32>
    %c2 = arith.constant 2 : index
    %twice = arith.muli %block, %c2 : index
    %next = arith.addi %twice, %block : index
    memref.store %x, %A[%next] : memref<4096xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @each
  // CHECK-DAG: arith.divui %{{.*}} : i32
  // CHECK-DAG: arith.remui %{{.*}} : i32
  // CHECK-DAG: arith.divsi %{{.*}} : i32
  // CHECK-DAG: arith.remsi %{{.*}} : i32
  // CHECK-DAG: arith.minsi %{{.*}} : i32
  // CHECK-DAG: arith.maxsi %{{.*}} : i32
  // CHECK-DAG: arith.maxui %{{.*}} : i32
  // CHECK-DAG: arith.cmpi slt, %{{.*}} : i32
  // CHECK: gpu.return
  gpu.func @each(%A: memref<4096xindex>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c7 = arith.constant 7 : index
    %id = gpu.thread_id x
    %0 = arith.divui %id, %c7 : index
    %1 = arith.remui %id, %c7 : index
    %2 = arith.divsi %id, %c7 : index
    %3 = arith.remsi %id, %c7 : index
    %4 = arith.minsi %0, %1 : index
    %5 = arith.maxsi %2, %3 : index
    %6 = arith.maxui %4, %5 : index
    %7 = arith.cmpi slt, %id, %c7 : index
    %8 = arith.select %7, %6, %id : index
    memref.store %8, %A[%id] : memref<4096xindex>
    gpu.return
  }

  // An argument may be any number, and the product of two that fit may be none; -1 is 2^64 - 1 without a sign.
  // CHECK-LABEL: gpu.func @kept
  // CHECK-NOT: to i32
  // CHECK: arith.minui %{{.*}} : index
  // CHECK: arith.muli %{{.*}} : index
  // CHECK: arith.cmpi ult, %{{.*}} : index
  // CHECK: arith.maxsi %{{.*}} : index
  // CHECK: arith.muli %{{.*}} : i64
  // CHECK: gpu.return
  gpu.func @kept(%A: memref<4096xindex>, %n: index, %m: i64) kernel attributes {known_grid_size = array<i32: 65536, 1, 1>} {
    %c65536 = arith.constant 65536 : index
    %c-1 = arith.constant -1 : index
    %block = gpu.block_id x
    %0 = arith.minui %block, %n : index
    %1 = arith.muli %block, %c65536 : index
    %2 = arith.cmpi ult, %block, %c-1 : index
    %3 = arith.maxsi %block, %c-1 : index
    %4 = arith.muli %m, %m : i64
    %5 = arith.index_cast %4 : i64 to index
    %6 = arith.select %2, %0, %1 : index
    %7 = arith.addi %6, %3 : index
    %8 = arith.addi %7, %5 : index
    memref.store %8, %A[%block] : memref<4096xindex>
    gpu.return
  }

  // What is added to a loop's counter keeps its 64 bits.
  // CHECK-LABEL: gpu.func @loop
  // CHECK: %[[MIN:.*]] = arith.minui %{{.*}} : i32
  // CHECK: %[[WIDE:.*]] = arith.index_castui %[[MIN]] : i32 to index
  // CHECK: scf.for
  // CHECK-NEXT: arith.addi %{{.*}}, %[[WIDE]] : index
  gpu.func @loop(%A: memref<4096xf32>) kernel attributes {known_grid_size = array<i32: 65, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c60 = arith.constant 60 : index
    %x = arith.constant 0.0 : f32
    %block = gpu.block_id x
    %min = arith.minui %block, %c60 : index
    scf.for %i = %c0 to %c60 step %c1 {
      %at = arith.addi %i, %min : index
      memref.store %x, %A[%at] : memref<4096xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @products
  // CHECK: arith.minui %{{.*}} : index
  gpu.func @products(%A: memref<4096xf32>, %a: vector<8xi16>, %b: vector<8xi32>, %c: vector<8xf32>) kernel attributes {known_grid_size = array<i32: 65, 1, 1>} {
    %c60 = arith.constant 60 : index
    %block = gpu.block_id x
    %min = arith.minui %block, %c60 : index
    %d = xevm.mma %a, %b, %c {shape = <m = 8, n = 16, k = 16>, types = <d = f32, a = f16, b = f16, c = f32>} : (vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
    %x = vector.extract %d[0] : f32 from vector<8xf32>
    memref.store %x, %A[%min] : memref<4096xf32>
    gpu.return
  }
}
