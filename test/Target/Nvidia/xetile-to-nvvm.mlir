// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --convert-xetile-to-nvvm --canonicalize | FileCheck %s

// Boxes of 64 elements, 128 bytes, and of the rows of the tiles; results leave in boxes of 32 x 64 of f32.
// CHECK-DAG: llvm.mlir.global external @product_map0() {{.*}}xetile.tensor_map = {argument = 0 : i64, box = array<i64: 64, 64>}
// CHECK-DAG: llvm.mlir.global external @product_map1() {{.*}}xetile.tensor_map = {argument = 1 : i64, box = array<i64: 64, 64>}
// CHECK-DAG: llvm.mlir.global external @product_map2() {{.*}}xetile.tensor_map = {argument = 2 : i64, box = array<i64: 32, 64>}
// CHECK-DAG: llvm.mlir.global external @product_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK-LABEL: gpu.func @product
// A barrier for each of the two stages.
// CHECK-COUNT-2: nvvm.mbarrier.init
// CHECK-NOT: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// One stage is loaded ahead: 16384 bytes are expected, two boxes of 8192 arrive.
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.fence.aligned
// A row-major, B row-major: wgmma reads columns of B in rows of memory.
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
// CHECK-NOT: wgmma.mma_async
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// The product before is done, everybody's after the barrier: only then its stage is filled again.
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK-NEXT: nvvm.barrier
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// Two chunks of 32 columns.
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-NOT: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: nvvm.cp.async.bulk.wait_group 0
// CHECK-NOT: xetile.{{init|load|store}}
#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @product(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel
      attributes {xetile.ring = {stages = 2 : i64, stage_bytes = 16384 : i64, shared_bytes = 49168 : i64, threads = 128 : i64, written = array<i64: 2>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %d = scf.for %k = %c0 to %c512 step %c64 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %c64 : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %b = xetile.load_tile %bt : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}
