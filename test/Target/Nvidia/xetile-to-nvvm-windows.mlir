// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// B is a matrix of windows of 3 x 3 of images of 8 x 12 x 12, with zeros around them: k is channel, row, column.
// RUN: xetile-opt %s --split-input-file --convert-xetile-to-nvvm --canonicalize --cse --verify-diagnostics | FileCheck %s

// CHECK-LABEL: gpu.func @windows
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// A by TMA.
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// What two columns say serves all rows; a row's digits of k, two of 3, are made for both.
// CHECK: arith.remui %{{.*}}, %c12_i32
// CHECK: arith.remui %{{.*}}, %c12_i32
// CHECK: scf.for
// CHECK: arith.remui %{{.*}}, %c3_i32
// CHECK: arith.remui %{{.*}}, %c3_i32
// CHECK-NOT: arith.remui
// CHECK: arith.cmpi ult, %{{.*}}, %c12_i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %{{.*}}
// CHECK-NOT: arith.remui
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %{{.*}}
#a = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 32]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [32, 64]>>
#c = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @windows(%A: memref<64x72xf32>, %B: memref<72x144xf32>, %C: memref<64x144xf32>) kernel
      attributes {xetile.ring = {image = 1 : i64, pipeline = "specialized", stages = 3 : i64, stage_bytes = 16384 : i64, shared_bytes = 65584 : i64, threads = 256 : i64, written = array<i64: 2>},
                  xetile.window = {axes = array<i64: 12, 1, 12, 12, 1, 1>, batches = array<i64>, k = array<i64: 8, 144, -1, 1, 3, 12, 0, 1, 3, 1, 1, 1>, operand = 1 : i64, pixels = array<i64: 12, 12, 0, 1, 12, 1, 1, 1>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %cK = arith.constant 32 : index
    %end = arith.constant 72 : index
    %d = scf.for %k = %c0 to %end step %cK iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %at = xetile.init_tile %A[0, %k] : memref<64x72xf32> -> !xetile.tile<64x32xf32, #a>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf32, #a> -> vector<64x32xf32>
      %bt = xetile.init_tile %B[%k, 0] : memref<72x144xf32> -> !xetile.tile<32x64xf32, #b>
      %b = xetile.load_tile %bt : !xetile.tile<32x64xf32, #b> -> vector<32x64xf32>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x32xf32>, vector<32x64xf32>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<64x144xf32> -> !xetile.tile<64x64xf32, #c>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #c>
    gpu.return
  }
}

// -----

#a = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 32]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [32, 64]>>
#c = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @other_sizes(%A: memref<64x72xf32>, %B: memref<72x144xf32>, %C: memref<64x144xf32>) kernel
      attributes {xetile.ring = {pipeline = "specialized", stages = 3 : i64, stage_bytes = 16384 : i64, shared_bytes = 65584 : i64, threads = 256 : i64, written = array<i64: 2>},
                  xetile.window = {axes = array<i64>, batches = array<i64>, k = array<i64: 8, 144, -1, 1>, operand = 1 : i64, pixels = array<i64: 12, 12, -1, 1, 12, 1, -1, 1>}} {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %cK = arith.constant 32 : index
    %end = arith.constant 72 : index
    %d = scf.for %k = %c0 to %end step %cK iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %at = xetile.init_tile %A[0, %k] : memref<64x72xf32> -> !xetile.tile<64x32xf32, #a>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf32, #a> -> vector<64x32xf32>
      %bt = xetile.init_tile %B[%k, 0] : memref<72x144xf32> -> !xetile.tile<32x64xf32, #b>
      %b = xetile.load_tile %bt : !xetile.tile<32x64xf32, #b> -> vector<32x64xf32>
      // expected-error @below {{multiplies windows of an image as 'memref<72x144xf32>'; expected f32 that is multiplied exactly, 0 dimensions of batches, and 8 x 144 elements, as xetile.window says}}
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x32xf32>, vector<32x64xf32>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<64x144xf32> -> !xetile.tile<64x64xf32, #c>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #c>
    gpu.return
  }
}
