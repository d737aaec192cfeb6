// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What threads that share a tile do not compute.
// RUN: xetile-opt %s --xetile-plan-ring --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @two_sizes(%A: memref<64x64xf32>, %B: memref<64x32xf32>, %D: memref<64x64xf32>) kernel {
    %at = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<8x64xf32>
    %a = xetile.load_tile %at : !xetile.tile<8x64xf32> -> vector<8x64xf32>
    %bt = xetile.init_tile %B[0, 0] : memref<64x32xf32> -> !xetile.tile<8x32xf32>
    // expected-error@+1 {{computes with 'vector<8x32xf32>' in a kernel of tiles of 8 x 64; expected vectors of that size, or with one row or column of it}}
    %b = xetile.load_tile %bt : !xetile.tile<8x32xf32> -> vector<8x32xf32>
    %dt = xetile.init_tile %D[0, 0] : memref<64x64xf32> -> !xetile.tile<8x64xf32>
    xetile.store_tile %a, %dt : vector<8x64xf32>, !xetile.tile<8x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @transposes(%A: memref<64x64xf32>, %D: memref<64x64xf32>) kernel {
    %at = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<16x16xf32>
    %a = xetile.load_tile %at : !xetile.tile<16x16xf32> -> vector<16x16xf32>
    // expected-error@+1 {{has no lowering for sm_90a beside matmuls and attentions}}
    %t = xetile.tile_transpose %a, [1, 0] : vector<16x16xf32> -> vector<16x16xf32>
    %dt = xetile.init_tile %D[0, 0] : memref<64x64xf32> -> !xetile.tile<16x16xf32>
    xetile.store_tile %t, %dt : vector<16x16xf32>, !xetile.tile<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @own_memory(%D: memref<64x64xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %own = memref.alloca() : memref<64x64xf32>
    // expected-error@+1 {{is a tile of memory that the kernel does not take as argument}}
    %dt = xetile.init_tile %own[0, 0] : memref<64x64xf32> -> !xetile.tile<16x16xf32>
    xetile.store_tile %zero, %dt : vector<16x16xf32>, !xetile.tile<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @own_address(%address: i64) kernel {
    %zero = arith.constant dense<0.0> : vector<1x1xf32>
    %yes = arith.constant dense<true> : vector<1x1xi1>
    %first = arith.constant dense<0> : vector<1x1xindex>
    // expected-error@+1 {{is a tile of memory that the kernel does not take as argument; expected a memref among its arguments, a view of one, or an address in one}}
    %t = xetile.init_tile %address, %first : i64, vector<1x1xindex> -> !xetile.tile<1x1xf32, #xetile.tile_attr<scatter = true>>
    xetile.store_scatter %zero, %yes, %t : vector<1x1xf32>, vector<1x1xi1>, !xetile.tile<1x1xf32, #xetile.tile_attr<scatter = true>>
    gpu.return
  }
}

// -----

// A scan of columns: threads exchange along rows.
gpu.module @m [#nvvm.target<chip = "sm_90a", features = "+ptx86">] {
  gpu.func @columns(%A: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %from = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
    %x = xetile.load_tile %from : !xetile.tile<64x64xf32> -> vector<64x64xf32>
    %zero = arith.constant dense<0.0> : vector<64xf32>
    // expected-error@+1 {{scans 'vector<64x64xf32>'; expected rows of numbers of 8 to 64 bits, each element with those before it and itself, on sm_90a}}
    %all, %last = vector.scan <add>, %x, %zero {inclusive = true, reduction_dim = 0 : i64} : vector<64x64xf32>, vector<64xf32>
    xetile.store_tile %all, %from : vector<64x64xf32>, !xetile.tile<64x64xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a", features = "+ptx86">] {
  gpu.func @odd(%A: memref<64x96xf32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %from = xetile.init_tile %A[0, 0] : memref<64x96xf32> -> !xetile.tile<64x96xf32>
    %x = xetile.load_tile %from : !xetile.tile<64x96xf32> -> vector<64x96xf32>
    %zero = arith.constant dense<0.0> : vector<64xf32>
    // expected-error@+1 {{scans rows of 96 elements, 4 of them a chunk, with 256 threads; expected a power of two of chunks in a row, and as many for each thread: make workgroup_n a power of two}}
    %all, %last = vector.scan <add>, %x, %zero {inclusive = true, reduction_dim = 1 : i64} : vector<64x96xf32>, vector<64xf32>
    xetile.store_tile %all, %from : vector<64x96xf32>, !xetile.tile<64x96xf32>
    gpu.return
  }
}
