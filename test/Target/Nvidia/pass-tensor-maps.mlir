// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-pass-tensor-maps | FileCheck %s

gpu.module @kernels {
  // CHECK-NOT: @map
  llvm.mlir.global external @map0() {xetile.tensor_map = {argument = 0 : i64, box = array<i64: 64, 128>}} : !llvm.array<128 x i8>
  llvm.mlir.global external @map1() {xetile.tensor_map = {argument = 1 : i64, box = array<i64: 64, 64>}} : !llvm.array<128 x i8>
  // CHECK: llvm.func @kernel(%{{.*}}: !llvm.ptr<1>,
  // CHECK-SAME: %[[FIRST:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
  // CHECK-SAME: %[[SECOND:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
  // CHECK-SAME: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 256, 1, 1>
  // CHECK-SAME: xetile.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 128>}, {argument = 1 : i64, box = array<i64: 64, 64>}]
  // CHECK: nvvm.prefetch tensormap, %[[SECOND]]
  // CHECK: nvvm.prefetch tensormap, %[[FIRST]]
  llvm.func @kernel(%A: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 32, 1, 1>,
      xetile.ring = {stages = 2 : i64, stage_bytes = 16384 : i64, shared_bytes = 49168 : i64, threads = 256 : i64,
                     written = array<i64>}} {
    %1 = llvm.mlir.addressof @map1 : !llvm.ptr
    nvvm.prefetch tensormap, %1 : !llvm.ptr
    %0 = llvm.mlir.addressof @map0 : !llvm.ptr
    nvvm.prefetch tensormap, %0 : !llvm.ptr
    llvm.return
  }
}
