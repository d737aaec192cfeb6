// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scattered tiles: one access for each element whose mask is true; of what is the same in a row, by the row's first thread.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-plan-ring))" | FileCheck %s --check-prefix=PLAN
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-plan-ring,convert-xetile-to-nvvm,canonicalize,cse))" | FileCheck %s

// PLAN: gpu.func @gather
// PLAN-SAME: pipeline = "threads"{{.*}}threads = 32{{.*}}written = array<i64: 1>
// CHECK-LABEL: gpu.func @gather
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NOT: llvm.load
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32 : i32
// CHECK: scf.if %[[FIRST]]
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
gpu.module @kernels {
  gpu.func @gather(%A: memref<64x64xf32>, %D: memref<8xf32>, %mask: i1) kernel {
    %steps = vector.step : vector<16xindex>
    %column = vector.shape_cast %steps : vector<16xindex> to vector<1x16xindex>
    %by = arith.constant dense<3> : vector<1x16xindex>
    %moved = arith.muli %column, %by : vector<1x16xindex>
    %all = xetile.tile_broadcast %moved, [0] : vector<1x16xindex> -> vector<8x16xindex>
    %some = vector.broadcast %mask : i1 to vector<8x16xi1>
    %a = memref.extract_aligned_pointer_as_index %A : memref<64x64xf32> -> index
    %from = arith.index_cast %a : index to i64
    %at = xetile.init_tile %from, %all : i64, vector<8x16xindex> -> !xetile.tile<8x16xf32, #xetile.tile_attr<scatter = true>>
    %x = xetile.load_gather %at, %some {padding = 1.0 : f32}
        : !xetile.tile<8x16xf32, #xetile.tile_attr<scatter = true>>, vector<8x16xi1> -> vector<8x16xf32>
    %r = xetile.tile_reduce <add> %x, [1] : vector<8x16xf32> -> vector<8x1xf32>
    %rows = vector.step : vector<8xindex>
    %row = vector.shape_cast %rows : vector<8xindex> to vector<8x1xindex>
    %yes = arith.constant dense<true> : vector<8x1xi1>
    %d = memref.extract_aligned_pointer_as_index %D : memref<8xf32> -> index
    %to = arith.index_cast %d : index to i64
    %dt = xetile.init_tile %to, %row : i64, vector<8x1xindex> -> !xetile.tile<8x1xf32, #xetile.tile_attr<scatter = true>>
    xetile.store_scatter %r, %yes, %dt : vector<8x1xf32>, vector<8x1xi1>, !xetile.tile<8x1xf32, #xetile.tile_attr<scatter = true>>
    gpu.return
  }
}
