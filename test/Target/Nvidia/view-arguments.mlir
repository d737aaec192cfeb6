// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices of arguments whose batch a reshape splits or joins are those of the arguments, which TMA knows.
// RUN: xetile-opt %s --xetile-plan-ring | FileCheck %s

#a = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @splits
  // CHECK: %[[Z:.*]] = gpu.block_id z
  // CHECK: %[[H:.*]] = arith.remui %[[Z]], %c8
  // CHECK: %[[B:.*]] = arith.divui %[[Z]], %c8
  // CHECK: %[[ALL:.*]] = arith.muli %[[B]], %c8{{.*}}
  // CHECK: %[[AT:.*]] = arith.addi %[[ALL]], %[[H]]
  // CHECK: memref.subview %arg0[%[[AT]], 0, 0] [1, 512, 64] [1, 1, 1] : memref<32x512x64xbf16>
  // CHECK-NOT: memref.expand_shape
  // The other way round: of two dimensions that are one.
  // CHECK: %[[R:.*]] = arith.remui %[[Z]], %c8{{.*}}
  // CHECK: %[[Q:.*]] = arith.divui %[[Z]], %c8{{.*}}
  // CHECK: memref.subview %arg1[%[[Q]], %[[R]], 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x8x64x64xbf16>
  // CHECK-NOT: memref.collapse_shape
  gpu.func @splits(%A: memref<32x512x64xbf16>, %B: memref<4x8x64x64xbf16>, %D: memref<32x512x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %y = gpu.block_id y
    %z = gpu.block_id z
    %row = arith.muli %y, %c64 : index
    %h = arith.remui %z, %c8 : index
    %b = arith.divui %z, %c8 : index
    %heads = memref.expand_shape %A [[0, 1], [2], [3]] output_shape [4, 8, 512, 64] : memref<32x512x64xbf16> into memref<4x8x512x64xbf16>
    %a = memref.subview %heads[%b, %h, 0, 0] [1, 1, 512, 64] [1, 1, 1, 1] : memref<4x8x512x64xbf16> to memref<512x64xbf16, strided<[64, 1], offset: ?>>
    %all = memref.collapse_shape %B [[0, 1], [2], [3]] : memref<4x8x64x64xbf16> into memref<32x64x64xbf16>
    %w = memref.subview %all[%z, 0, 0] [1, 64, 64] [1, 1, 1] : memref<32x64x64xbf16> to memref<64x64xbf16, strided<[64, 1], offset: ?>>
    %d = memref.subview %D[%z, 0, 0] [1, 512, 64] [1, 1, 1] : memref<32x512x64xf32> to memref<512x64xf32, strided<[64, 1], offset: ?>>
    %sum = scf.for %k = %c0 to %c64 step %c64 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
      %at = xetile.init_tile %a[%row, %k] : memref<512x64xbf16, strided<[64, 1], offset: ?>> -> !xetile.tile<64x64xbf16, #a>
      %av = xetile.load_tile %at : !xetile.tile<64x64xbf16, #a> -> vector<64x64xbf16>
      %bt = xetile.init_tile %w[%k, 0] : memref<64x64xbf16, strided<[64, 1], offset: ?>> -> !xetile.tile<64x64xbf16, #a>
      %bv = xetile.load_tile %bt : !xetile.tile<64x64xbf16, #a> -> vector<64x64xbf16>
      %far = arith.addi %k, %c64 : index
      %ft = xetile.init_tile %a[%row, %far] : memref<512x64xbf16, strided<[64, 1], offset: ?>> -> !xetile.tile<64x64xbf16, #a>
      xetile.prefetch_tile %ft locality<3> : !xetile.tile<64x64xbf16, #a>
      %next = xetile.tile_mma %av, %bv, %acc {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>} : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %next : vector<64x64xf32>
    }
    %dt = xetile.init_tile %d[%row, 0] : memref<512x64xf32, strided<[64, 1], offset: ?>> -> !xetile.tile<64x64xf32, #a>
    xetile.store_tile %sum, %dt : vector<64x64xf32>, !xetile.tile<64x64xf32, #a>
    gpu.return
  }
}
