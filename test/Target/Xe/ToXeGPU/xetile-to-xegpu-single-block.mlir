// RUN: xetile-opt %s --convert-xetile-to-xegpu | FileCheck %s

gpu.module @k [#xevm.target<chip = "pvc">] {
  // A sum of one block has the type of its block: the loop carries it as it is.
  // CHECK-LABEL: gpu.func @one_block_in_a_loop
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<8x16xf32>)
  // CHECK: %[[SUM:.*]] = xegpu.dpas %{{.*}}, %{{.*}}, %[[ACC]] : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32>
  // CHECK: scf.yield %[[SUM]]
  // CHECK: xegpu.store_nd
  // CHECK-NOT: xetile.
  gpu.func @one_block_in_a_loop(%a: memref<8x64xf16>, %b: memref<64x32xf16>, %c: memref<8x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %tc = xetile.init_tile %c[0, 0] : memref<8x32xf32> -> !xetile.tile<8x16xf32>
    %start = xetile.load_tile %tc : !xetile.tile<8x16xf32> -> vector<8x16xf32>
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %start) -> (vector<8x16xf32>) {
      %ta = xetile.init_tile %a[0, %k] : memref<8x64xf16> -> !xetile.tile<8x16xf16>
      %va = xetile.load_tile %ta : !xetile.tile<8x16xf16> -> vector<8x16xf16>
      %tb = xetile.init_tile %b[%k, 0] : memref<64x32xf16> -> !xetile.tile<16x16xf16>
      %vb = xetile.load_tile %tb : !xetile.tile<16x16xf16> -> vector<16x16xf16>
      %next = xetile.tile_mma %va, %vb, %acc
          : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
      scf.yield %next : vector<8x16xf32>
    }
    xetile.store_tile %sum, %tc : vector<8x16xf32>, !xetile.tile<8x16xf32>
    gpu.return
  }

  // Messages of 24 rows are beyond XeVM's operations.
  // CHECK-LABEL: gpu.func @rows_that_are_no_power_of_two
  // CHECK-COUNT-3: xegpu.load_nd {{.*}} -> vector<8x16xf32>
  // CHECK-NOT: xegpu.load_nd
  gpu.func @rows_that_are_no_power_of_two(%c: memref<24x16xf32>, %d: memref<24x16xf32>) kernel {
    %tc = xetile.init_tile %c[0, 0] : memref<24x16xf32> -> !xetile.tile<24x16xf32>
    %v = xetile.load_tile %tc : !xetile.tile<24x16xf32> -> vector<24x16xf32>
    %td = xetile.init_tile %d[0, 0] : memref<24x16xf32> -> !xetile.tile<24x16xf32>
    xetile.store_tile %v, %td : vector<24x16xf32>, !xetile.tile<24x16xf32>
    gpu.return
  }
}
