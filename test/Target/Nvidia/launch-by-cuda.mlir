// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-launch-by-cuda | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK-NOT: gpu.binary
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, properties = {kernel = {
      maps = [{argument = 0 : i64, box = array<i64: 64, 128>}],
      ring = {stages = 2 : i64, stage_bytes = 8 : i64, shared_bytes = 49168 : i64, threads = 256 : i64,
              written = array<i64: 1>}}, array = {maps = [],
      ring = {stages = 0 : i64, stage_bytes = 0 : i64, shared_bytes = 0 : i64, threads = 32 : i64, flat,
              written = array<i64: 0>}}, windows = {maps = [],
      ring = {stages = 2 : i64, stage_bytes = 8 : i64, shared_bytes = 8 : i64, threads = 32 : i64, image = 0 : i64,
              written = array<i64>}}}, assembly = "PTX">]
  // CHECK-LABEL: func.func @launch
  // CHECK-SAME: %[[A:.*]]: memref<40x48xbf16>, %[[B:.*]]: memref<?xf32>, %[[N:.*]]: i32, %[[X:.*]]: index
  func.func @launch(%A: memref<40x48xbf16>, %B: memref<?xf32>, %n: i32, %x: index) {
    %c1 = arith.constant 1 : index
    // CHECK: %[[PTX:.*]] = llvm.mlir.addressof @kernels_ptx
    // CHECK: %[[NAME:.*]] = llvm.mlir.addressof @kernels_kernel_name
    // CHECK: %[[SLOT:.*]] = llvm.mlir.addressof @kernels_kernel_slot
    // CHECK: %[[SHARED:.*]] = arith.constant 49168 : i64
    // CHECK: %[[L:.*]] = call @xetileCudaBegin(%[[SLOT]], %[[PTX]], %[[NAME]], %[[SHARED]])
    // CHECK: %[[READ:.*]] = arith.constant 1 : i64
    // CHECK: call @xetileCudaMatrix(%[[L]], %{{.*}}, %{{.*}}, %[[READ]],
    // CHECK: %[[WRITTEN:.*]] = arith.constant 3 : i64
    // CHECK: call @xetileCudaMatrix(%[[L]], %{{.*}}, %{{.*}}, %[[WRITTEN]],
    // CHECK: %[[WIDE:.*]] = arith.extui %[[N]] : i32 to i64
    // CHECK: call @xetileCudaNumber(%[[L]], %[[WIDE]],
    // CHECK: %[[BF16:.*]] = arith.constant 9 : i64
    // CHECK: %[[INNER:.*]] = arith.constant 64 : i64
    // CHECK: %[[OUTER:.*]] = arith.constant 128 : i64
    // CHECK: call @xetileCudaMap(%[[L]], %{{.*}}, %[[BF16]], %[[INNER]], %[[OUTER]])
    // CHECK: %[[GRID:.*]] = arith.index_cast %[[X]] : index to i64
    // CHECK: %[[THREADS:.*]] = arith.constant 256 : i64
    // CHECK: call @xetileCudaLaunch(%[[L]], %[[GRID]], %{{.*}}, %{{.*}}, %[[THREADS]])
    gpu.launch_func @kernels::@kernel blocks in (%x, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%A : memref<40x48xbf16>, %B : memref<?xf32>, %n : i32)
    return
  }
  // Of more than 5 dimensions another function takes up to 8.
  // CHECK-LABEL: func.func @six
  // CHECK: %[[RANK:.*]] = arith.constant 6 : i64
  // CHECK: call @xetileCudaArray(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[RANK]], {{.*}}) : (!llvm.ptr{{(, i64)+}}) -> ()
  // All workgroups are along x where the kernel says so.
  // CHECK: %[[YZ:.*]] = arith.muli %[[Y:.*]], %[[Z:.*]] : i64
  // CHECK: %[[ALL:.*]] = arith.muli %{{.*}}, %[[YZ]] : i64
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
  // CHECK: call @xetileCudaLaunch(%{{[^,]*}}, %[[ALL]], %[[ONE]], %[[ONE]],
  func.func @six(%A: memref<2x3x4x5x6x7xf32>, %B: memref<?xf32>, %n: i32, %x: index) {
    gpu.launch_func @kernels::@array blocks in (%x, %x, %x) threads in (%x, %x, %x) args(%A : memref<2x3x4x5x6x7xf32>)
    return
  }
  // A matrix of windows is as long as the image that it is read from, which has fewer elements, and has as many dimensions.
  // CHECK-LABEL: func.func @image
  // CHECK: %[[IMAGE:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [1, 24], strides: [24, 1] : memref<2x3x4xf32> to memref<1x24xf32>
  // CHECK: memref.extract_strided_metadata %[[IMAGE]]
  // CHECK: memref.extract_aligned_pointer_as_index %[[IMAGE]]
  // CHECK: call @xetileCudaMatrix(
  func.func @image(%A: memref<2x3x4xf32>, %x: index) {
    %view = memref.reinterpret_cast %A to offset: [0], sizes: [18, 12], strides: [12, 1] : memref<2x3x4xf32> to memref<18x12xf32>
    gpu.launch_func @kernels::@windows blocks in (%x, %x, %x) threads in (%x, %x, %x) args(%view : memref<18x12xf32>)
    return
  }
  // Memory on either side: the runtime knows.
  // CHECK-LABEL: func.func @copy
  // CHECK-NOT: memref.copy
  // CHECK: call @xetileCudaCopy
  func.func @copy(%from: memref<?x8xf32>, %to: memref<?x8xf32>) {
    memref.copy %from, %to : memref<?x8xf32> to memref<?x8xf32>
    return
  }
  // CHECK: llvm.mlir.global internal constant @kernels_ptx("PTX\00")
  // CHECK: llvm.mlir.global internal constant @kernels_kernel_name("kernel\00")
  // CHECK: llvm.mlir.global internal @kernels_kernel_slot(0 : i64)
}
