// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that begin before their matrix, or end behind it where results do not, read zeros there.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(convert-xetile-to-nvvm,canonicalize,cse))" | FileCheck %s

#a = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 32]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [32, 64]>>
#c = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @before
  // CHECK: arith.cmpi ult, %{{.*}}, %c8
  // CHECK: scf.if
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  gpu.func @before(%A: memref<8x32xf32>, %D: memref<8x32xf32>) kernel
      attributes {xetile.ring = {stages = 0 : i64, stage_bytes = 0 : i64, shared_bytes = 0 : i64, threads = 32 : i64, pipeline = "threads", aligned = array<i64: 1, 16, 0, 16>, written = array<i64: 1>}} {
    %at = xetile.init_tile %A[-1, 0] : memref<8x32xf32> -> !xetile.tile<8x32xf32>
    %a = xetile.load_tile %at : !xetile.tile<8x32xf32> -> vector<8x32xf32>
    %dt = xetile.init_tile %D[0, 0] : memref<8x32xf32> -> !xetile.tile<8x32xf32>
    xetile.store_tile %a, %dt : vector<8x32xf32>, !xetile.tile<8x32xf32>
    gpu.return
  }

  // What has the edges of the results is read without a question; of a smaller matrix, or elsewhere, zeros are added.
  // CHECK-LABEL: gpu.func @added
  // CHECK-DAG: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
  // CHECK-DAG: arith.cmpi ult, %{{.*}}, %c60
  // CHECK-DAG: arith.cmpi ult, %{{.*}}, %c50
  // CHECK-DAG: arith.cmpi ult, %{{.*}}, %c512
  // CHECK-DAG: scf.if %{{.*}} -> (f32) {
  // CHECK-DAG: scf.yield %cst{{.*}} : f32
  gpu.func @added(%A: memref<512x512xf32>, %B: memref<512x512xf32>, %C: memref<512x512xf32>, %S: memref<60x50xf32>, %D: memref<512x512xf32>) kernel
      attributes {xetile.ring = {stages = 2 : i64, stage_bytes = 16384 : i64, shared_bytes = 49184 : i64, threads = 128 : i64, pipeline = "simple", written = array<i64: 4>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c512 = arith.constant 512 : index
    %d = scf.for %k = %c0 to %c512 step %c32 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf32> -> !xetile.tile<64x32xf32, #a>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf32, #a> -> vector<64x32xf32>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf32> -> !xetile.tile<32x64xf32, #b>
      %b = xetile.load_tile %bt : !xetile.tile<32x64xf32, #b> -> vector<32x64xf32>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x32xf32>, vector<32x64xf32>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #c>
    %same = xetile.load_tile %ct : !xetile.tile<64x64xf32, #c> -> vector<64x64xf32>
    %st = xetile.init_tile %S[0, 0] : memref<60x50xf32> -> !xetile.tile<64x64xf32, #c>
    %smaller = xetile.load_tile %st : !xetile.tile<64x64xf32, #c> -> vector<64x64xf32>
    %nt = xetile.init_tile %C[-1, 2] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #c>
    %near = xetile.load_tile %nt : !xetile.tile<64x64xf32, #c> -> vector<64x64xf32>
    %x = arith.addf %d, %same : vector<64x64xf32>
    %y = arith.addf %x, %smaller : vector<64x64xf32>
    %z = arith.addf %y, %near : vector<64x64xf32>
    %dt = xetile.init_tile %D[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #c>
    xetile.store_tile %z, %dt : vector<64x64xf32>, !xetile.tile<64x64xf32, #c>
    gpu.return
  }
}
