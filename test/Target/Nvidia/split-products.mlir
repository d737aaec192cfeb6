// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --convert-xetile-to-nvvm --canonicalize | FileCheck %s
// f32 is multiplied as three products of tf32, its parts in registers; with leave to round it, by wgmma.

// What is split arrives as it is in memory, in rows of either order; what wgmma reads is rounded, and adjacent along k.
// CHECK-DAG: llvm.mlir.global external @exact_map0() {{.*}}xetile.tensor_map = {argument = 0 : i64, box = array<i64: 32, 64>, exact}
// CHECK-DAG: llvm.mlir.global external @exact_map1() {{.*}}xetile.tensor_map = {argument = 1 : i64, box = array<i64: 32, 32>, exact}
// CHECK-DAG: llvm.mlir.global external @rounded_map0() {{.*}}xetile.tensor_map = {argument = 0 : i64, box = array<i64: 32, 64>}

// CHECK-LABEL: gpu.func @exact
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// The high part has the first 11 bits of the significand.
// CHECK: %[[A:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[A]] : f32 to i32
// CHECK: %[[HIGH:.*]] = arith.andi %[[BITS]], %c-8192_i32
// CHECK: %[[CUT:.*]] = llvm.bitcast %[[HIGH]] : i32 to f32
// CHECK: %[[LOW:.*]] = arith.subf %[[A]], %[[CUT]] : f32
// Four products of 8 of k, three of each, for 8 groups of 8 columns; 4 of these in turns.
// CHECK-COUNT-48: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
// CHECK-NOT: nvvm.mma.sync
// Low parts of infinities are dropped.
// CHECK: %[[SIZE:.*]] = llvm.call_intrinsic "llvm.fabs"(%[[SUM:[0-9]+]])
// CHECK: %[[FINITE:.*]] = arith.cmpf olt, %[[SIZE]]
// CHECK: %[[REST:.*]] = arith.select %[[FINITE]]
// CHECK: arith.addf %[[SUM]], %[[REST]]
// CHECK-COUNT-48: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK-NOT: wgmma
// All have read the stage before this one, which is filled again.
// CHECK: nvvm.barrier
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.global.shared.cta

// CHECK-LABEL: gpu.func @specialized
// A stage is full when a thread's bytes have arrived, and empty when four warps have read it.
// CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c1_i32
// CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c4_i32
// CHECK: nvvm.mma.sync
// Each warp says that it has read the stage, when all of its threads have.
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
// CHECK: arith.cmpi eq, %[[LANE]], %c0_i32
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive

// CHECK-LABEL: gpu.func @rounded
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvvm.wgmma.mma_async {{.*}}<tf32
#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 32]>>
#mapb = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [32, 64]>>
#mapc = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @exact(%A: memref<512x512xf32>, %B: memref<512x512xf32>, %C: memref<512x512xf32>) kernel
      attributes {xetile.ring = {stages = 2 : i64, stage_bytes = 16384 : i64, shared_bytes = 49184 : i64, threads = 128 : i64, pipeline = "simple", written = array<i64: 2>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c512 = arith.constant 512 : index
    %d = scf.for %k = %c0 to %c512 step %c32 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf32> -> !xetile.tile<64x32xf32, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf32, #map> -> vector<64x32xf32>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf32> -> !xetile.tile<32x64xf32, #mapb>
      %b = xetile.load_tile %bt : !xetile.tile<32x64xf32, #mapb> -> vector<32x64xf32>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x32xf32>, vector<32x64xf32>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #mapc>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #mapc>
    gpu.return
  }
  gpu.func @specialized(%A: memref<512x512xf32>, %B: memref<512x512xf32>, %C: memref<512x512xf32>) kernel
      attributes {xetile.ring = {stages = 2 : i64, stage_bytes = 16384 : i64, shared_bytes = 49184 : i64, threads = 256 : i64, pipeline = "specialized", written = array<i64: 2>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c512 = arith.constant 512 : index
    %d = scf.for %k = %c0 to %c512 step %c32 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf32> -> !xetile.tile<64x32xf32, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf32, #map> -> vector<64x32xf32>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf32> -> !xetile.tile<32x64xf32, #mapb>
      %b = xetile.load_tile %bt : !xetile.tile<32x64xf32, #mapb> -> vector<32x64xf32>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x32xf32>, vector<32x64xf32>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #mapc>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #mapc>
    gpu.return
  }
  gpu.func @rounded(%A: memref<512x512xf32>, %B: memref<512x512xf32>, %C: memref<512x512xf32>) kernel
      attributes {xetile.ring = {stages = 2 : i64, stage_bytes = 16384 : i64, shared_bytes = 49184 : i64, threads = 256 : i64, pipeline = "specialized", written = array<i64: 2>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c512 = arith.constant 512 : index
    %d = scf.for %k = %c0 to %c512 step %c32 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf32> -> !xetile.tile<64x32xf32, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf32, #map> -> vector<64x32xf32>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf32> -> !xetile.tile<32x64xf32, #mapb>
      %b = xetile.load_tile %bt : !xetile.tile<32x64xf32, #mapb> -> vector<32x64xf32>
      %e = xetile.tile_mma %a, %b, %c {xetile.tf32, wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x32xf32>, vector<32x64xf32>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #mapc>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #mapc>
    gpu.return
  }
}
