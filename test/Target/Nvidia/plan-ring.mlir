// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-plan-ring --split-input-file | FileCheck %s

#sums = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [64, 128]>>
#rows = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [64, 64]>>
#columns = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [64, 128]>>
gpu.module @kernels {
  // The prefetches are two steps ahead: three stages of 128 x 64 and 64 x 128 elements of 2 bytes. 32 KB of results.
  // CHECK-LABEL: gpu.func @distance
  // CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
  // CHECK-SAME: xetile.ring = {pipeline = "simple", shared_bytes = 131120 : i64, stage_bytes = 32768 : i64, stages = 3 : i64, threads = 256 : i64, written = array<i64: 2>}
  // CHECK-NOT: prefetch_tile
  // CHECK: xetile.store_tile
  gpu.func @distance(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant dense<0.0> : vector<128x128xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    %first = xetile.init_tile %A[0, 0] : memref<512x512xf16> -> !xetile.tile<128x64xf16, #rows>
    xetile.prefetch_tile %first locality<3> : !xetile.tile<128x64xf16, #rows>
    %d = scf.for %k = %c0 to %c512 step %c64 iter_args(%c = %zero) -> (vector<128x128xf32>) {
      %ahead = arith.addi %k, %c128 : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x512xf16> -> !xetile.tile<128x64xf16, #rows>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<128x64xf16, #rows>
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf16> -> !xetile.tile<128x64xf16, #rows>
      %a = xetile.load_tile %at : !xetile.tile<128x64xf16, #rows> -> vector<128x64xf16>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf16> -> !xetile.tile<64x128xf16, #columns>
      %b = xetile.load_tile %bt : !xetile.tile<64x128xf16, #columns> -> vector<64x128xf16>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [2, 1], sg_data = [64, 128]>}
          : vector<128x64xf16>, vector<64x128xf16>, vector<128x128xf32> -> vector<128x128xf32>
      scf.yield %e : vector<128x128xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<128x128xf32, #sums>
    xetile.store_tile %d, %ct : vector<128x128xf32>, !xetile.tile<128x128xf32, #sums>
    gpu.return
  }
}

// -----

#sums = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  // One step covers k, and its loop was folded: it comes back, with a ring of two stages.
  // CHECK-LABEL: gpu.func @single_step
  // CHECK-SAME: stages = 2 : i64, threads = 128 : i64
  // CHECK: scf.for %[[K:.*]] = %c0
  // CHECK: xetile.init_tile %{{.*}}[0, %[[K]]] : memref<64x40xbf16>
  // CHECK: xetile.init_tile %{{.*}}[%[[K]], 0] : memref<40x64xbf16>
  // CHECK: xetile.tile_mma
  gpu.func @single_step(%A: memref<64x40xbf16>, %B: memref<40x64xbf16>, %C: memref<64x64xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %at = xetile.init_tile %A[0, 0] : memref<64x40xbf16> -> !xetile.tile<64x64xbf16, #sums>
    %a = xetile.load_tile %at : !xetile.tile<64x64xbf16, #sums> -> vector<64x64xbf16>
    %bt = xetile.init_tile %B[0, 0] : memref<40x64xbf16> -> !xetile.tile<64x64xbf16, #sums>
    %b = xetile.load_tile %bt : !xetile.tile<64x64xbf16, #sums> -> vector<64x64xbf16>
    %d = xetile.tile_mma %a, %b, %zero {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
        : vector<64x64xbf16>, vector<64x64xbf16>, vector<64x64xf32> -> vector<64x64xf32>
    %ct = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #sums>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #sums>
    gpu.return
  }
}

// -----

// Bytes: 128 of k in a row. B lies along n, and is swapped on its way by a warpgroup of its own.
#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @bytes
  // CHECK-SAME: xetile.ring = {pipeline = "specialized", shared_bytes = 49184 : i64, stage_bytes = 16384 : i64, stages = 2 : i64, threads = 256
  gpu.func @bytes(%A: memref<512x512xi8>, %B: memref<512x512xi8>, %C: memref<512x512xi32>) kernel {
    %zero = arith.constant dense<0> : vector<64x64xi32>
    %c0 = arith.constant 0 : index
    %cK = arith.constant 128 : index
    %end = arith.constant 512 : index
    %d = scf.for %k = %c0 to %end step %cK iter_args(%c = %zero) -> (vector<64x64xi32>) {
      %ahead = arith.addi %k, %cK : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x512xi8> -> !xetile.tile<64x128xi8, #map>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<64x128xi8, #map>
      %at = xetile.init_tile %A[0, %k] : memref<512x512xi8> -> !xetile.tile<64x128xi8, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x128xi8, #map> -> vector<64x128xi8>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xi8> -> !xetile.tile<128x64xi8, #map>
      %b = xetile.load_tile %bt : !xetile.tile<128x64xi8, #map> -> vector<128x64xi8>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x128xi8>, vector<128x64xi8>, vector<64x64xi32> -> vector<64x64xi32>
      scf.yield %e : vector<64x64xi32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xi32> -> !xetile.tile<64x64xi32, #map>
    xetile.store_tile %d, %ct : vector<64x64xi32>, !xetile.tile<64x64xi32, #map>
    gpu.return
  }
}

// -----

// Rows of 1002 bytes go in units of 2, of 1004 in units of 4, which their arrays have to begin at.
#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @pitches
  // CHECK-SAME: xetile.ring = {aligned = array<i64: 1, 4>, pipeline = "specialized"
  gpu.func @pitches(%A: memref<512x501xf16>, %B: memref<501x502xf16>, %C: memref<512x502xf32>) kernel {
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
    %ct = xetile.init_tile %C[0, 0] : memref<512x502xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}

// -----

// Matrices of a batch: 5 x 8 x 8 tiles are more than multiprocessors.
#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @batch
  // CHECK-SAME: xetile.ring = {pipeline = "specialized"
  gpu.func @batch(%A: memref<5x512x512xf16>, %B: memref<5x512x512xf16>, %C: memref<5x512x512xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %cK = arith.constant 64 : index
    %end = arith.constant 512 : index
    %z = gpu.block_id z
    %a0 = memref.subview %A[%z, 0, 0] [1, 512, 512] [1, 1, 1] : memref<5x512x512xf16> to memref<512x512xf16, strided<[512, 1], offset: ?>>
    %b0 = memref.subview %B[%z, 0, 0] [1, 512, 512] [1, 1, 1] : memref<5x512x512xf16> to memref<512x512xf16, strided<[512, 1], offset: ?>>
    %c1 = memref.subview %C[%z, 0, 0] [1, 512, 512] [1, 1, 1] : memref<5x512x512xf32> to memref<512x512xf32, strided<[512, 1], offset: ?>>
    %d = scf.for %k = %c0 to %end step %cK iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %cK : index
      %next = xetile.init_tile %a0[0, %ahead] : memref<512x512xf16, strided<[512, 1], offset: ?>> -> !xetile.tile<64x64xf16, #map>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %a0[0, %k] : memref<512x512xf16, strided<[512, 1], offset: ?>> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %b0[%k, 0] : memref<512x512xf16, strided<[512, 1], offset: ?>> -> !xetile.tile<64x64xf16, #map>
      %b = xetile.load_tile %bt : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %c1[0, 0] : memref<512x512xf32, strided<[512, 1], offset: ?>> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}
