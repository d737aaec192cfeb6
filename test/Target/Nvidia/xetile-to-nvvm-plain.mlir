// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that TMA does not take: A's are 1002 bytes apart, B's 1004, those of the results 2004.
// RUN: xetile-opt %s --convert-xetile-to-nvvm --canonicalize --cse | FileCheck %s

// CHECK-NOT: xetile.tensor_map
// CHECK-LABEL: gpu.func @copies
// Each of 128 threads says that its part of a stage is there, one of the other warpgroup that it has read it.
// CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c128_i32
// CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c1_i32
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// A: units of 2 bytes by registers, eight on their way at a time.
// CHECK: scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<3>
// B: units of 4 bytes.
// CHECK: scf.for
// CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %{{.*}}
// One stage may be on its way when the one before it is full.
// CHECK: nvvm.cp.async.commit.group
// CHECK-NEXT: nvvm.cp.async.wait.group 1
// CHECK: scf.if
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: nvvm.mbarrier.arrive %
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: nvvm.mbarrier.arrive %
// The results leave row by row, no element beyond the edges.
// CHECK: nvvm.wgmma.mma_async
// CHECK: scf.for
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NOT: nvvm.cp.async.bulk.tensor
#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @copies(%A: memref<512x501xf16>, %B: memref<501x502xf16>, %C: memref<512x501xf32>) kernel
      attributes {xetile.ring = {pipeline = "specialized", stages = 3 : i64, stage_bytes = 16384 : i64, shared_bytes = 65584 : i64, threads = 256 : i64, written = array<i64: 2>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %cK = arith.constant 64 : index
    %end = arith.constant 502 : index
    %d = scf.for %k = %c0 to %end step %cK iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %cK : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x501xf16> -> !xetile.tile<64x64xf16, #map>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %A[0, %k] : memref<512x501xf16> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %B[%k, 0] : memref<501x502xf16> -> !xetile.tile<64x64xf16, #map>
      %b = xetile.load_tile %bt : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x501xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}
