// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-emit-ptx | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">,
  // CHECK-SAME: properties = {kernel = {maps = [], ring = {shared_bytes = 16 : i64,
  // CHECK-SAME: assembly = "{{.*}}.version 8.6{{.*}}.target sm_90a
  // CHECK-SAME: .visible .entry kernel(
  // CHECK-SAME: .reqntid 128, 1, 1
  // CHECK-SAME: wgmma.fence.sync.aligned
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
    llvm.func @kernel(%A: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>,
        xetile.ring = {stages = 2 : i64, stage_bytes = 8 : i64, shared_bytes = 16 : i64, threads = 128 : i64,
                       written = array<i64>}} {
      nvvm.wgmma.fence.aligned
      %one = llvm.mlir.constant(1.0 : f32) : f32
      llvm.store %one, %A : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
