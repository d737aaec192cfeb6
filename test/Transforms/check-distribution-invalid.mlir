// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-check-distribution
// RUN: not xetile-opt %s --split-input-file --pass-pipeline='builtin.module(xetile-lower-to-xegpu{chip=pvc})' 2>&1 | FileCheck %s
// CHECK-COUNT-3: would do all of it
// CHECK: but its wg_maps need 4 subgroups

gpu.module @kernels {
  gpu.func @no_map(%a: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
    // expected-error @+1 {{'xetile.init_tile' op has no wg_map, and neither has any other value of @no_map, which is launched with workgroups of 64 work-items: each of its 4 subgroups would do all of it; expected a wg_map (on a tile's type or a tile_mma), a launch of one subgroup of 16 work-items, or code for one subgroup that asks gpu.subgroup_id}}
    %t = xetile.init_tile %a[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
    %v = arith.constant dense<1.0> : vector<64x64xf32>
    %old = xetile.atomic_rmw_tile <addf> %v, %t : vector<64x64xf32>, !xetile.tile<64x64xf32> -> vector<64x64xf32>
    gpu.barrier
    gpu.return
  }
}

// -----

// A second subgroup that is not full.
gpu.module @kernels {
  gpu.func @one_work_item_more(%a: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 17, 1, 1>} {
    // expected-error @+1 {{each of its 2 subgroups would do all of it}}
    %t = xetile.init_tile %a[0, 0] : memref<16x16xf32> -> !xetile.tile<16x16xf32>
    gpu.return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @size_of_the_launch(%a: memref<16x16xf32>) kernel {
      // expected-error @+1 {{each of its 2 subgroups would do all of it}}
      %t = xetile.init_tile %a[0, 0] : memref<16x16xf32> -> !xetile.tile<16x16xf32>
      gpu.return
    }
  }
  func.func @main(%a: memref<16x16xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    // expected-note @+1 {{launched here}}
    gpu.launch_func @kernels::@size_of_the_launch blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a : memref<16x16xf32>)
    return
  }
}

// -----

#tile = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [16, 16]>>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @map_for_more(%a: memref<32x32xf32>) kernel {
      %t = xetile.init_tile %a[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32, #tile>
      xetile.prefetch_tile %t locality<3> : !xetile.tile<32x32xf32, #tile>
      gpu.return
    }
  }
  func.func @main(%a: memref<32x32xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    // expected-error @+1 {{'gpu.launch_func' op launches @map_for_more with workgroups of 32 work-items, but its wg_maps need 4 subgroups of 16 = 64}}
    gpu.launch_func @kernels::@map_for_more blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a : memref<32x32xf32>)
    return
  }
}

// -----

// 2^69 work-items are no number of 64 bits.
#tile = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [16, 16]>>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @too_large(%a: memref<32x32xf32>) kernel {
      %t = xetile.init_tile %a[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32, #tile>
      xetile.prefetch_tile %t locality<3> : !xetile.tile<32x32xf32, #tile>
      gpu.return
    }
  }
  func.func @main(%a: memref<32x32xf32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %large = arith.constant 4294967296 : index
    // expected-error @+1 {{'gpu.launch_func' op launches @too_large with workgroups of 9223372036854775807 work-items, but its wg_maps need 4 subgroups of 16 = 64}}
    gpu.launch_func @kernels::@too_large blocks in (%c1, %c1, %c1) threads in (%c32, %large, %large) args(%a : memref<32x32xf32>)
    return
  }
}
