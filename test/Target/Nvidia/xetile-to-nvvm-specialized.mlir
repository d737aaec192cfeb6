// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One warpgroup loads, the others multiply; workgroups walk over tiles.
// RUN: xetile-opt %s --convert-xetile-to-nvvm --canonicalize | FileCheck %s

// CHECK: llvm.mlir.global external @product_grid() {{.*}}xetile.grid} : !llvm.array<3 x i32>
// CHECK-LABEL: gpu.func @product
// Two barriers for each of the two stages.
// CHECK-COUNT-4: nvvm.mbarrier.init
// CHECK-NOT: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// CHECK-NEXT: llvm.load
// CHECK: %[[FIRST:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[STEP:.*]] = nvvm.read.ptx.sreg.nctaid.x
// The loader, one thread of the second warpgroup: tiles, then steps of k; each waits until its stage is empty. Registers stay as
// they are, as two warpgroups have as many as a thread may.
// CHECK: scf.if
// CHECK-NOT: setmaxregister
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]] iter_args
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// The others: tiles, steps, the product, and only then the stage before is empty.
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]] iter_args
// CHECK: scf.for %[[K:.*]] = %c0_i32
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-COUNT-4: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[K]], %c0_i32
// CHECK: %[[SAYS:.*]] = arith.andi %{{.*}}, %[[LATER]]
// CHECK: scf.if %[[SAYS]] {
// CHECK-NOT: }
// CHECK: nvvm.mbarrier.arrive
// The last stage of the tile, once the sums are there.
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive
// The first buffer may still be that of the tile before.
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: scf.yield
// CHECK: nvvm.cp.async.bulk.wait_group 0{{$}}
// CHECK-NOT: xetile.{{init|load|store}}
#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @product(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel
      attributes {xetile.ring = {pipeline = "specialized", stages = 2 : i64, stage_bytes = 16384 : i64, shared_bytes = 49168 : i64, threads = 256 : i64, written = array<i64: 2>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %column = arith.muli %x, %c64 : index
    %d = scf.for %k = %c0 to %c512 step %c64 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %c64 : index
      %next = xetile.init_tile %A[%row, %ahead] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %A[%row, %k] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %B[%k, %column] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %b = xetile.load_tile %bt : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[%row, %column] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}
