// RUN: xetile-opt %s --xetile-check-distribution | FileCheck %s
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-to-subgroup)' | FileCheck %s --check-prefix=DISTRIBUTED
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-to-subgroup,xetile-lower-to-subgroup)' | FileCheck %s --check-prefix=DISTRIBUTED

#map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [16, 16]>
#tile = #xetile.tile_attr<wg_map = #map>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @one_subgroup
    gpu.func @one_subgroup(%a: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
      %t = xetile.init_tile %a[0, 0] : memref<16x16xf32> -> !xetile.tile<16x16xf32>
      %v = xetile.load_tile %t : !xetile.tile<16x16xf32> -> vector<16x16xf32>
      xetile.store_tile %v, %t : vector<16x16xf32>, !xetile.tile<16x16xf32>
      gpu.return
    }

    // What is left of a product with zero: nothing is read, and each subgroup may write the number.
    // CHECK-LABEL: gpu.func @one_number
    gpu.func @one_number(%a: memref<1x1xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %t = xetile.init_tile %a[0, 0] : memref<1x1xf32> -> !xetile.tile<1x1xf32>
      %v = arith.constant dense<0.0> : vector<1x1xf32>
      xetile.store_tile %v, %t : vector<1x1xf32>, !xetile.tile<1x1xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @code_of_a_subgroup
    gpu.func @code_of_a_subgroup(%a: memref<64x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %id = gpu.subgroup_id : index
      %c16 = arith.constant 16 : index
      %m = arith.muli %id, %c16 : index
      %t = xetile.init_tile %a[%m, 0] : memref<64x16xf32> -> !xetile.tile<16x16xf32>
      %v = xetile.load_tile %t : !xetile.tile<16x16xf32> -> vector<16x16xf32>
      xetile.store_tile %v, %t : vector<16x16xf32>, !xetile.tile<16x16xf32>
      gpu.return
    }

    // Nobody asks who runs it once it is distributed: each of the four stores the same.
    // DISTRIBUTED: gpu.func @all_own_the_same({{.*}}) kernel
    // DISTRIBUTED-SAME: xetile.subgroups = 4 : i64
    // DISTRIBUTED-NOT: gpu.subgroup_id
    // DISTRIBUTED: gpu.return
    gpu.func @all_own_the_same(%a: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = xetile.init_tile %a[0, 0] : memref<16x16xf32> -> !xetile.tile<16x16xf32, #tile>
      %v = xetile.load_tile %t : !xetile.tile<16x16xf32, #tile> -> vector<16x16xf32>
      xetile.store_tile %v, %t : vector<16x16xf32>, !xetile.tile<16x16xf32, #tile>
      gpu.return
    }

    gpu.func @no_tiles(%a: memref<16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %zero = arith.constant 0.0 : f32
      %i = arith.constant 0 : index
      memref.store %zero, %a[%i] : memref<16xf32>
      gpu.return
    }
  }
}
