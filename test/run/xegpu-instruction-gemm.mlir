// A subgroup-level XeGPU GEMM in the hardware's sizes, written by hand: C = A * B with A 64x64, B 64x128, bf16 -> f32.
// Each k step reads A and B with one message of two 32x16 blocks each and cuts the dpas operands out of the registers:
// the vectors that a lane gets are longer than SPIR-V's. 2 x 4 subgroups of 32x32. The result is exact.
//
// RUN: xetile-opt %s --xetile-lower-xegpu-to-binary="xegpu-op-level=instruction native=off" \
// RUN:   | mlir-runner --entry-point-result=void --shared-libs=%runtime \
// RUN:       --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so | FileCheck %s
// REQUIRES: opencl
//
// mismatches, then C[0][0], C[41][99], C[63][127]
// CHECK:      {{^}}0{{$}}
// CHECK-NEXT: {{^}}12{{$}}
// CHECK-NEXT: {{^}}-4{{$}}
// CHECK-NEXT: {{^}}6{{$}}


!blocks = !xegpu.tensor_desc<32x16xbf16, #xegpu.block_tdesc_attr<array_length = 2>>

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @gemm(%a: memref<64x64xbf16>, %b: memref<64x128xbf16>, %c: memref<64x128xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %c24 = arith.constant 24 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %zeros = arith.constant dense<0.0> : vector<8x16xf32>
      %subgroup = gpu.subgroup_id : index
      %row = arith.divui %subgroup, %c4 : index
      %column = arith.remui %subgroup, %c4 : index
      %m0 = arith.muli %row, %c32 : index
      %n0 = arith.muli %column, %c32 : index
      %a_blocks = xegpu.create_nd_tdesc %a : memref<64x64xbf16> -> !blocks
      %b_blocks = xegpu.create_nd_tdesc %b : memref<64x128xbf16> -> !blocks
      %c_block = xegpu.create_nd_tdesc %c : memref<64x128xf32> -> !xegpu.tensor_desc<8x16xf32>
      %sum:8 = scf.for %k = %c0 to %c64 step %c32
          iter_args(%s00 = %zeros, %s01 = %zeros, %s10 = %zeros, %s11 = %zeros, 
                    %s20 = %zeros, %s21 = %zeros, %s30 = %zeros, %s31 = %zeros)
          -> (vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>,
              vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>) {
        %k_next = arith.addi %k, %c32 : index
        xegpu.prefetch_nd %a_blocks[%m0, %k_next]
            <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}>
            : !blocks
        %a32 = xegpu.load_nd %a_blocks[%m0, %k]
            <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}>
            : !blocks -> vector<2x32x16xbf16>
        %b32 = xegpu.load_nd %b_blocks[%k, %n0]
            <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}>
            : !blocks -> vector<2x32x16xbf16>
        %a0 = vector.extract %a32[0] : vector<32x16xbf16> from vector<2x32x16xbf16>
        %a1 = vector.extract %a32[1] : vector<32x16xbf16> from vector<2x32x16xbf16>
        %b0 = vector.extract %b32[0] : vector<32x16xbf16> from vector<2x32x16xbf16>
        %b1 = vector.extract %b32[1] : vector<32x16xbf16> from vector<2x32x16xbf16>
        %a0_0 = vector.extract_strided_slice %a0 {offsets = [0, 0], sizes = [8, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<8x16xbf16>
        %a0_1 = vector.extract_strided_slice %a1 {offsets = [0, 0], sizes = [8, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<8x16xbf16>
        %a1_0 = vector.extract_strided_slice %a0 {offsets = [8, 0], sizes = [8, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<8x16xbf16>
        %a1_1 = vector.extract_strided_slice %a1 {offsets = [8, 0], sizes = [8, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<8x16xbf16>
        %a2_0 = vector.extract_strided_slice %a0 {offsets = [16, 0], sizes = [8, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<8x16xbf16>
        %a2_1 = vector.extract_strided_slice %a1 {offsets = [16, 0], sizes = [8, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<8x16xbf16>
        %a3_0 = vector.extract_strided_slice %a0 {offsets = [24, 0], sizes = [8, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<8x16xbf16>
        %a3_1 = vector.extract_strided_slice %a1 {offsets = [24, 0], sizes = [8, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<8x16xbf16>
        %b0_0 = vector.extract_strided_slice %b0 {offsets = [0, 0], sizes = [16, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<16x16xbf16>
        %b1_0 = vector.extract_strided_slice %b0 {offsets = [16, 0], sizes = [16, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<16x16xbf16>
        %b0_1 = vector.extract_strided_slice %b1 {offsets = [0, 0], sizes = [16, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<16x16xbf16>
        %b1_1 = vector.extract_strided_slice %b1 {offsets = [16, 0], sizes = [16, 16], strides = [1, 1]}
            : vector<32x16xbf16> to vector<16x16xbf16>
        %t00 = xegpu.dpas %a0_0, %b0_0, %s00
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %t01 = xegpu.dpas %a0_0, %b0_1, %s01
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %t10 = xegpu.dpas %a1_0, %b0_0, %s10
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %t11 = xegpu.dpas %a1_0, %b0_1, %s11
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %t20 = xegpu.dpas %a2_0, %b0_0, %s20
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %t21 = xegpu.dpas %a2_0, %b0_1, %s21
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %t30 = xegpu.dpas %a3_0, %b0_0, %s30
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %t31 = xegpu.dpas %a3_0, %b0_1, %s31
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %u00 = xegpu.dpas %a0_1, %b1_0, %t00
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %u01 = xegpu.dpas %a0_1, %b1_1, %t01
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %u10 = xegpu.dpas %a1_1, %b1_0, %t10
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %u11 = xegpu.dpas %a1_1, %b1_1, %t11
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %u20 = xegpu.dpas %a2_1, %b1_0, %t20
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %u21 = xegpu.dpas %a2_1, %b1_1, %t21
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %u30 = xegpu.dpas %a3_1, %b1_0, %t30
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        %u31 = xegpu.dpas %a3_1, %b1_1, %t31
            : vector<8x16xbf16>, vector<16x16xbf16>, vector<8x16xf32> -> vector<8x16xf32>
        scf.yield %u00, %u01, %u10, %u11, %u20, %u21, %u30, %u31
            : vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>,
              vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>, vector<8x16xf32>
      }
      %n1 = arith.addi %n0, %c16 : index
      %m1 = arith.addi %m0, %c8 : index
      %m2 = arith.addi %m0, %c16 : index
      %m3 = arith.addi %m0, %c24 : index
      xegpu.store_nd %sum#0, %c_block[%m0, %n0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      xegpu.store_nd %sum#1, %c_block[%m0, %n1] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      xegpu.store_nd %sum#2, %c_block[%m1, %n0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      xegpu.store_nd %sum#3, %c_block[%m1, %n1] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      xegpu.store_nd %sum#4, %c_block[%m2, %n0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      xegpu.store_nd %sum#5, %c_block[%m2, %n1] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      xegpu.store_nd %sum#6, %c_block[%m3, %n0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      xegpu.store_nd %sum#7, %c_block[%m3, %n1] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      gpu.return
    }
  }

  // ((3 i + 5 j) mod 7) - 3, and ((5 i + 2 j) mod 9) - 4
  func.func private @a_value(%i: index, %j: index) -> f32 {
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %x = arith.muli %i, %c3 : index
    %y = arith.muli %j, %c5 : index
    %s = arith.addi %x, %y : index
    %r = arith.remui %s, %c7 : index
    %t = arith.subi %r, %c3 : index
    %u = arith.index_cast %t : index to i32
    %v = arith.sitofp %u : i32 to f32
    return %v : f32
  }
  func.func private @b_value(%i: index, %j: index) -> f32 {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c9 = arith.constant 9 : index
    %x = arith.muli %i, %c5 : index
    %y = arith.muli %j, %c2 : index
    %s = arith.addi %x, %y : index
    %r = arith.remui %s, %c9 : index
    %t = arith.subi %r, %c4 : index
    %u = arith.index_cast %t : index to i32
    %v = arith.sitofp %u : i32 to f32
    return %v : f32
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c41 = arith.constant 41 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c99 = arith.constant 99 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %c16_i32 = arith.constant 16 : i32
    %one = arith.constant 1 : i64
    %none = arith.constant 0 : i64
    %zero = arith.constant 0.0 : f32
    %a = memref.alloc() : memref<64x64xbf16>
    %b = memref.alloc() : memref<64x128xbf16>
    %c = memref.alloc() : memref<64x128xf32>
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        %v = func.call @a_value(%i, %j) : (index, index) -> f32
        // Small integers lose nothing when the low half is cut off.
        %w = arith.bitcast %v : f32 to i32
        %x = arith.shrui %w, %c16_i32 : i32
        %y = arith.trunci %x : i32 to i16
        %h = arith.bitcast %y : i16 to bf16
        memref.store %h, %a[%i, %j] : memref<64x64xbf16>
      }
    }
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c128 step %c1 {
        %v = func.call @b_value(%i, %j) : (index, index) -> f32
        // Small integers lose nothing when the low half is cut off.
        %w = arith.bitcast %v : f32 to i32
        %x = arith.shrui %w, %c16_i32 : i32
        %y = arith.trunci %x : i32 to i16
        %h = arith.bitcast %y : i16 to bf16
        memref.store %h, %b[%i, %j] : memref<64x128xbf16>
      }
    }

    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%a : memref<64x64xbf16>, %b : memref<64x128xbf16>, %c : memref<64x128xf32>)

    %wrong = scf.for %i = %c0 to %c64 step %c1 iter_args(%wi = %none) -> (i64) {
      %row = scf.for %j = %c0 to %c128 step %c1 iter_args(%wj = %wi) -> (i64) {
        %expected = scf.for %k = %c0 to %c64 step %c1 iter_args(%s = %zero) -> (f32) {
          %x = func.call @a_value(%i, %k) : (index, index) -> f32
          %y = func.call @b_value(%k, %j) : (index, index) -> f32
          %p = arith.mulf %x, %y : f32
          %t = arith.addf %s, %p : f32
          scf.yield %t : f32
        }
        %got = memref.load %c[%i, %j] : memref<64x128xf32>
        %differs = arith.cmpf une, %got, %expected : f32
        %more = arith.addi %wj, %one : i64
        %w = arith.select %differs, %more, %wj : i64
        scf.yield %w : i64
      }
      scf.yield %row : i64
    }
    func.call @printI64(%wrong) : (i64) -> ()
    func.call @printNewline() : () -> ()
    %p0 = memref.load %c[%c0, %c0] : memref<64x128xf32>
    func.call @printF32(%p0) : (f32) -> ()
    func.call @printNewline() : () -> ()
    %p1 = memref.load %c[%c41, %c99] : memref<64x128xf32>
    func.call @printF32(%p1) : (f32) -> ()
    func.call @printNewline() : () -> ()
    %p2 = memref.load %c[%c63, %c127] : memref<64x128xf32>
    func.call @printF32(%p2) : (f32) -> ()
    func.call @printNewline() : () -> ()
    memref.dealloc %a : memref<64x64xbf16>
    memref.dealloc %b : memref<64x128xbf16>
    memref.dealloc %c : memref<64x128xf32>
    return
  }
  func.func private @printI64(i64)
  func.func private @printF32(f32)
  func.func private @printNewline()
}
