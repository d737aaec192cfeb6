// The registers of 64 bytes that vectors of a subgroup need at once: what is loaded in a step besides what the loop
// carries; parts lie in what they are parts of, constants and numbers of one lane count nothing.
// RUN: xetile-opt %s --xetile-assign-lane-layouts --xetile-distribute-to-lanes | FileCheck %s

// 2 x 8 of C, 8 of A, 8 of B. A part of A is no value of its own.
// CHECK-LABEL: gpu.func @loop(
// CHECK-SAME: xetile.register_estimate = {registers = 32 : i32, values = "2 x vector<8x16xf32> (16 registers), 2 x vector<16x16xf16> (16 registers)"}
gpu.module @kernels [#xevm.target<chip = "pvc">] {
  gpu.func @loop(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %at = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %bt = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %zero, %t = %zero) -> (vector<8x16xf32>, vector<8x16xf32>) {
      %av = xegpu.load_nd %at[%c0, %k] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
      %top = vector.extract_strided_slice %av {offsets = [0, 0], sizes = [8, 16], strides = [1, 1]} : vector<16x16xf16> to vector<8x16xf16>
      %low = vector.extract_strided_slice %av {offsets = [8, 0], sizes = [8, 16], strides = [1, 1]} : vector<16x16xf16> to vector<8x16xf16>
      %bv = xegpu.load_nd %bt[%k, %c0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
      %d = xegpu.dpas %top, %bv, %s : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
      %e = xegpu.dpas %low, %bv, %t : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
      scf.yield %d, %e : vector<8x16xf32>, vector<8x16xf32>
    }
    %ct = xegpu.create_nd_tdesc %c : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %r#0, %ct[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %r#1, %ct[%c16, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
