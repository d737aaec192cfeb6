// RUN: xetile-opt %s --xetile-lower-xegpu-to-xevm=chip=pvc --split-input-file | FileCheck %s

// Rows of shared memory with a word of each lane are the subgroup's registers: 16 bits of operand A, 32 of operand B, which
// messages bring as dwords. No lane moves an element.
// CHECK-LABEL: llvm.func spir_kernelcc @staged
// CHECK:         %[[A:.*]] = xevm.blockload2d {{.*}}pack_register = false{{.*}} -> vector<8xi16>
// CHECK:         xevm.blockstore %{{.*}}, %{{.*}} : (!llvm.ptr<3>, vector<8xi16>)
// CHECK:         %[[B:.*]] = xevm.blockload2d {{.*}}pack_register = true{{.*}} -> vector<8xi32>
// CHECK:         xevm.blockstore %{{.*}}, %[[B]] : (!llvm.ptr<3>, vector<8xi32>)
// CHECK:         xevm.blockload %{{.*}} : (!llvm.ptr<3>) -> vector<8xi16>
// CHECK:         xevm.blockload %{{.*}} : (!llvm.ptr<3>) -> vector<8xi32>
// CHECK-NOT:     llvm.load
// CHECK:         xevm.mma
gpu.module @m [#xevm.target<chip = "pvc">] {
  gpu.func @staged(%X: memref<64x64xf16>, %C: memref<8x16xf32>) kernel {
    %a = memref.alloca() : memref<8x16xf16, 3>
    %b = memref.alloca() : memref<16x16xf16, 3>
    %ma = xegpu.create_mem_desc %a : memref<8x16xf16, 3> -> !xegpu.mem_desc<8x16xf16>
    %mb = xegpu.create_mem_desc %b : memref<16x16xf16, 3> -> !xegpu.mem_desc<8x32xf16>
    %ta = xegpu.create_nd_tdesc %X : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    xegpu.store_matrix %va, %ma[0, 0] <{subgroup_block_io}> : vector<8x16xf16>, !xegpu.mem_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %X : memref<64x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %vb = xegpu.load_nd %tb[16, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
    %pairs = vector.shape_cast %vb : vector<16x16xf16> to vector<8x2x16xf16>
    %sorted = vector.transpose %pairs, [0, 2, 1] : vector<8x2x16xf16> to vector<8x16x2xf16>
    %rows = vector.shape_cast %sorted : vector<8x16x2xf16> to vector<8x32xf16>
    xegpu.store_matrix %rows, %mb[0, 0] <{subgroup_block_io}> : vector<8x32xf16>, !xegpu.mem_desc<8x32xf16>
    gpu.barrier
    %la = xegpu.load_matrix %ma[0, 0] <{subgroup_block_io}> : !xegpu.mem_desc<8x16xf16> -> vector<8x16xf16>
    %lb = xegpu.load_matrix %mb[0, 0] <{subgroup_block_io}> : !xegpu.mem_desc<8x32xf16> -> vector<8x32xf16>
    %three = vector.shape_cast %lb : vector<8x32xf16> to vector<8x16x2xf16>
    %back = vector.transpose %three, [0, 2, 1] : vector<8x16x2xf16> to vector<8x2x16xf16>
    %right = vector.shape_cast %back : vector<8x2x16xf16> to vector<16x16xf16>
    %d = xegpu.dpas %la, %right : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf32>
    %tc = xegpu.create_nd_tdesc %C : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %d, %tc[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// -----

// A lane has a column of operand B, which it moves as words of 32 bits; what is the same for all blocks comes before.
// CHECK-LABEL: llvm.func spir_kernelcc @columns
// CHECK:         %[[B:.*]] = xevm.blockload2d {{.*}}pack_register = true{{.*}} -> vector<8xi32>
// CHECK:         llvm.store %[[B]], %{{.*}} {alignment = 4 : i64} : vector<8xi32>, !llvm.ptr<3>
// CHECK:         %[[AT:.*]] = llvm.getelementptr %{{.*}}[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK:         %[[WORDS:.*]] = llvm.load %[[AT]] {alignment = 4 : i64} : !llvm.ptr<3> -> vector<8xi32>
// CHECK-NOT:     llvm.load
// CHECK:         xevm.mma
gpu.module @m [#xevm.target<chip = "pvc">] {
  gpu.func @columns(%X: memref<64x64xf16>, %C: memref<8x16xf32>) kernel {
    %b = memref.alloca() : memref<32x16xf16, 3>
    %mb = xegpu.create_mem_desc %b : memref<32x16xf16, 3> -> !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [1, 16]>>
    %ta = xegpu.create_nd_tdesc %X : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %tb = xegpu.create_nd_tdesc %X : memref<64x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %vb = xegpu.load_nd %tb[16, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
    xegpu.store_matrix %vb, %mb[0, 0] : vector<16x16xf16>, !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [1, 16]>>
    gpu.barrier
    %right = xegpu.load_matrix %mb[0, 16] : !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [1, 16]>> -> vector<16x16xf16>
    %d = xegpu.dpas %va, %right : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf32>
    %tc = xegpu.create_nd_tdesc %C : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %d, %tc[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
