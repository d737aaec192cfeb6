// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --cse --split-input-file | FileCheck %s

// Shared memory that only whole blocks are read from and written to has the order of registers: each block is rows of a
// word of each lane; of operand B columns, each of which a lane has.
#slm = #xetile.tile_attr<memory_space = slm>
// CHECK-LABEL: gpu.func @operands
// CHECK:         %[[A:.*]] = memref.alloca() : memref<32x32xf16, 3>
// CHECK:         %[[B:.*]] = memref.alloca() : memref<32x16xf16, 3>
// CHECK:         %[[DA:.*]] = xegpu.create_mem_desc %[[A]] : memref<32x32xf16, 3> -> !xegpu.mem_desc<64x16xf16>
// CHECK:         xegpu.store_matrix %{{.*}}, %[[DA]][%c0, 0] <{subgroup_block_io}>: vector<8x16xf16>
// CHECK:         xegpu.store_matrix %{{.*}}, %[[DA]][%c8, 0] <{subgroup_block_io}>: vector<8x16xf16>
// CHECK:         %[[DB:.*]] = xegpu.create_mem_desc %[[B]] : memref<32x16xf16, 3> -> !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [1, 16]>>
// CHECK:         xegpu.store_matrix %{{.*}}, %[[DB]][0, %c0] : vector<16x16xf16>
// CHECK:         xegpu.store_matrix %{{.*}}, %[[DB]][0, %c16] : vector<16x16xf16>
// CHECK:         gpu.barrier
// CHECK:         xegpu.load_matrix %[[DA]][%c32, 0] <{subgroup_block_io}>: {{.*}} -> vector<8x16xf16>
// CHECK:         xegpu.load_matrix %[[DB]][0, %c16] : {{.*}} -> vector<16x16xf16>
// CHECK-NOT:     xegpu.load {{.*}}memref
gpu.module @m {
  gpu.func @operands(%X: memref<64x64xf16>, %C: memref<8x16xf32>) {
    %a = memref.alloca() : memref<32x32xf16, 3>
    %b = memref.alloca() : memref<32x16xf16, 3>
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %ta = xetile.init_tile %X[0, 0] : memref<64x64xf16> -> !xetile.tile<32x32xf16>
    %va = xetile.load_tile %ta : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    %wa = xetile.init_tile %a[0, 0] : memref<32x32xf16, 3> -> !xetile.tile<32x32xf16, #slm>
    xetile.store_tile %va, %wa : vector<32x32xf16>, !xetile.tile<32x32xf16, #slm>
    %tb = xetile.init_tile %X[32, 0] : memref<64x64xf16> -> !xetile.tile<32x16xf16>
    %vb = xetile.load_tile %tb : !xetile.tile<32x16xf16> -> vector<32x16xf16>
    %wb = xetile.init_tile %b[0, 0] : memref<32x16xf16, 3> -> !xetile.tile<32x16xf16, #slm>
    xetile.store_tile %vb, %wb : vector<32x16xf16>, !xetile.tile<32x16xf16, #slm>
    gpu.barrier
    %ra = xetile.init_tile %a[16, 0] : memref<32x32xf16, 3> -> !xetile.tile<8x32xf16, #slm>
    %l = xetile.load_tile %ra : !xetile.tile<8x32xf16, #slm> -> vector<8x32xf16>
    %rb = xetile.init_tile %b[0, 0] : memref<32x16xf16, 3> -> !xetile.tile<32x16xf16, #slm>
    %r = xetile.load_tile %rb : !xetile.tile<32x16xf16, #slm> -> vector<32x16xf16>
    %d = xetile.tile_mma %l, %r, %zero : vector<8x32xf16>, vector<32x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
    %tc = xetile.init_tile %C[0, 0] : memref<8x16xf32> -> !xetile.tile<8x16xf32>
    xetile.store_tile %d, %tc : vector<8x16xf32>, !xetile.tile<8x16xf32>
    gpu.return
  }
}

// -----

// A place that is none of blocks, or may be outside of the buffer, and memory that somebody else sees, stay in rows.
#slm = #xetile.tile_attr<memory_space = slm>
// CHECK-LABEL: gpu.func @rows
// CHECK-NOT:     mem_desc
gpu.module @m {
  gpu.func @rows(%X: memref<64x64xf16>, %i: index) {
    %a = memref.alloca() : memref<32x32xf16, 3>
    %b = memref.alloca() : memref<32x32xf16, 3>
    %c = memref.alloca() : memref<32x32xf16, 3>
    %c0 = arith.constant 0 : index
    %tx = xetile.init_tile %X[0, 0] : memref<64x64xf16> -> !xetile.tile<16x16xf16>
    %x = xetile.load_tile %tx : !xetile.tile<16x16xf16> -> vector<16x16xf16>
    %wa = xetile.init_tile %a[4, 0] : memref<32x32xf16, 3> -> !xetile.tile<16x16xf16, #slm>
    xetile.store_tile %x, %wa : vector<16x16xf16>, !xetile.tile<16x16xf16, #slm>
    %c16 = arith.constant 16 : index
    %row = arith.muli %i, %c16 : index
    %wb = xetile.init_tile %b[%row, 0] : memref<32x32xf16, 3> -> !xetile.tile<16x16xf16, #slm>
    xetile.store_tile %x, %wb : vector<16x16xf16>, !xetile.tile<16x16xf16, #slm>
    %wc = xetile.init_tile %c[0, 0] : memref<32x32xf16, 3> -> !xetile.tile<16x16xf16, #slm>
    xetile.store_tile %x, %wc : vector<16x16xf16>, !xetile.tile<16x16xf16, #slm>
    %y = memref.load %c[%c0, %c0] : memref<32x32xf16, 3>
    memref.store %y, %X[%c0, %c0] : memref<64x64xf16>
    gpu.return
  }
}
