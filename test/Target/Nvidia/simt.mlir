// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels without products: threads have chunks of 16 bytes of a workgroup's tile.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-plan-ring))" | FileCheck %s --check-prefix=PLAN
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-plan-ring,convert-xetile-to-nvvm,canonicalize,cse))" | FileCheck %s

// 256 x 16 elements of f32 are 1024 chunks of 4: 256 threads have 4 each, and exchange a number a warp.
// PLAN: gpu.func @softmax
// PLAN-SAME: xetile.ring = {aligned = array<i64: 1, 16, 0, 16>, pipeline = "threads", shared_bytes = 4096 : i64, stage_bytes = 0 : i64, stages = 0 : i64, threads = 256 : i64, written = array<i64: 1>}
// 24 x 20 elements of bf16 are chunks of 4, as 8 do not divide 20: 120 of them, some threads have none of the last ones.
// PLAN: gpu.func @edges
// PLAN-SAME: threads = 32 : i64

#wg_map = #xetile.wg_map<sg_layout = [4, 1], sg_data = [64, 16]>
#tile = #xetile.tile_attr<wg_map = #wg_map>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @softmax
  // Tiles are whole: nothing is compared.
  // CHECK-NOT: arith.cmpi ult
  // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // Rows and columns are reduced in one step: what a thread has, what its warp has, what the others have.
  // CHECK-COUNT-5: nvvm.shfl.sync bfly
  // CHECK: nvvm.barrier0
  // CHECK: llvm.store {{.*}} : vector<1xf32>, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> vector<1xf32>
  // CHECK-COUNT-4: arith.subf {{.*}} : vector<4xf32>
  // CHECK-COUNT-4: math.exp {{.*}} : vector<4xf32>
  // CHECK-COUNT-5: nvvm.shfl.sync bfly
  // CHECK-COUNT-4: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
  gpu.func @softmax(%A: memref<4096x4096xf32>, %D: memref<4096x4096xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 4096, 1>} {
    %y = gpu.block_id y
    %a = memref.expand_shape %A [[0], [1, 2]] output_shape [4096, 256, 16] : memref<4096x4096xf32> into memref<4096x256x16xf32>
    %row = memref.subview %a[%y, 0, 0] [1, 256, 16] [1, 1, 1] : memref<4096x256x16xf32> to memref<256x16xf32, strided<[16, 1], offset: ?>>
    %from = xetile.init_tile %row[0, 0] : memref<256x16xf32, strided<[16, 1], offset: ?>> -> !xetile.tile<256x16xf32, #tile>
    %x = xetile.load_tile %from : !xetile.tile<256x16xf32, #tile> -> vector<256x16xf32>
    %m0 = xetile.tile_reduce <maxnumf> %x, [0] : vector<256x16xf32> -> vector<1x16xf32>
    %m1 = xetile.tile_reduce <maxnumf> %m0, [1] : vector<1x16xf32> -> vector<1x1xf32>
    %mc = xetile.tile_broadcast %m1, [0] : vector<1x1xf32> -> vector<256x1xf32>
    %m = xetile.tile_broadcast %mc, [1] : vector<256x1xf32> -> vector<256x16xf32>
    %s = arith.subf %x, %m : vector<256x16xf32>
    %e = math.exp %s : vector<256x16xf32>
    %t0 = xetile.tile_reduce <add> %e, [0] : vector<256x16xf32> -> vector<1x16xf32>
    %t1 = xetile.tile_reduce <add> %t0, [1] : vector<1x16xf32> -> vector<1x1xf32>
    %tc = xetile.tile_broadcast %t1, [0] : vector<1x1xf32> -> vector<256x1xf32>
    %t = xetile.tile_broadcast %tc, [1] : vector<256x1xf32> -> vector<256x16xf32>
    %q = arith.divf %e, %t : vector<256x16xf32>
    %d = memref.expand_shape %D [[0], [1, 2]] output_shape [4096, 256, 16] : memref<4096x4096xf32> into memref<4096x256x16xf32>
    %out = memref.subview %d[%y, 0, 0] [1, 256, 16] [1, 1, 1] : memref<4096x256x16xf32> to memref<256x16xf32, strided<[16, 1], offset: ?>>
    %to = xetile.init_tile %out[0, 0] : memref<256x16xf32, strided<[16, 1], offset: ?>> -> !xetile.tile<256x16xf32, #tile>
    xetile.store_tile %q, %to : vector<256x16xf32>, !xetile.tile<256x16xf32, #tile>
    gpu.return
  }

  // A thread adds up its own part of a column, then its warp, then those threads of all warps that have the same columns.
  // CHECK-LABEL: gpu.func @columns
  // CHECK-COUNT-3: nvvm.shfl.sync bfly
  // CHECK: nvvm.barrier0
  // CHECK: llvm.store
  // CHECK: nvvm.barrier0
  // CHECK: %[[SAME:.*]] = arith.andi %{{.*}}, %c31_i32
  // CHECK-COUNT-7: arith.addi %[[SAME]], %c{{[0-9]+}}_i32
  gpu.func @columns(%A: memref<256x16xf32>, %D: memref<256x16xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %from = xetile.init_tile %A[0, 0] : memref<256x16xf32> -> !xetile.tile<256x16xf32, #tile>
    %x = xetile.load_tile %from : !xetile.tile<256x16xf32, #tile> -> vector<256x16xf32>
    %s = xetile.tile_reduce <add> %x, [0] : vector<256x16xf32> -> vector<1x16xf32>
    %b = xetile.tile_broadcast %s, [0] : vector<1x16xf32> -> vector<256x16xf32>
    %to = xetile.init_tile %D[0, 0] : memref<256x16xf32> -> !xetile.tile<256x16xf32, #tile>
    xetile.store_tile %b, %to : vector<256x16xf32>, !xetile.tile<256x16xf32, #tile>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @edges
  // Rows that hang over are padded, element by element where a chunk crosses the last column. Chunks are as wide as all of
  // them are aligned: rows are 36 bytes apart.
  // CHECK: arith.cmpi ult
  // CHECK: scf.if
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xbf16>
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> bf16
  // CHECK: llvm.store %{{.*}} : vector<2xbf16>, !llvm.ptr<1>
  gpu.func @edges(%A: memref<100x18xbf16>, %D: memref<100x18xbf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 5, 1>} {
    %c24 = arith.constant 24 : index
    %y = gpu.block_id y
    %first = arith.muli %y, %c24 : index
    %from = xetile.init_tile %A[%first, 0] : memref<100x18xbf16> -> !xetile.tile<24x20xbf16>
    %x = xetile.load_tile %from {padding = 1.0 : bf16} : !xetile.tile<24x20xbf16> -> vector<24x20xbf16>
    // Layouts of subgroups are nothing to threads.
    %l = xetile.tile_conv_layout %x {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [24, 20]>} : vector<24x20xbf16>
    %n = arith.negf %l : vector<24x20xbf16>
    %to = xetile.init_tile %D[%first, 0] : memref<100x18xbf16> -> !xetile.tile<24x20xbf16>
    xetile.store_tile %n, %to : vector<24x20xbf16>, !xetile.tile<24x20xbf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @scan
  // A thread's chunk, warps by shuffles to the lanes behind, and what warps have through shared memory, once.
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-COUNT-5: nvvm.shfl.sync up
  // CHECK: nvvm.barrier0
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier0
  // CHECK-NOT: nvvm.barrier0
  // CHECK: nvvm.shfl.sync idx
  // CHECK: scf.yield %{{.*}} : vector<4xf32>
  gpu.func @scan(%A: memref<3x4096xf32>, %D: memref<3x4096xf32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 1, 3, 1>} {
    %c0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : index
    %c4096 = arith.constant 4096 : index
    %zero = arith.constant dense<0.0> : vector<1x1xf32>
    %y = gpu.block_id y
    %end = scf.for %n = %c0 to %c4096 step %c1024 iter_args(%s = %zero) -> (vector<1x1xf32>) {
      %from = xetile.init_tile %A[%y, %n] : memref<3x4096xf32> -> !xetile.tile<1x1024xf32>
      %x = xetile.load_tile %from : !xetile.tile<1x1024xf32> -> vector<1x1024xf32>
      %start = vector.shape_cast %s : vector<1x1xf32> to vector<1xf32>
      %all, %last = vector.scan <add>, %x, %start {inclusive = true, reduction_dim = 1 : i64} : vector<1x1024xf32>, vector<1xf32>
      %to = xetile.init_tile %D[%y, %n] : memref<3x4096xf32> -> !xetile.tile<1x1024xf32>
      xetile.store_tile %all, %to : vector<1x1024xf32>, !xetile.tile<1x1024xf32>
      %next = vector.shape_cast %last : vector<1xf32> to vector<1x1xf32>
      scf.yield %next : vector<1x1xf32>
    }
    gpu.return
  }
}
