// What upstream's passes leave behind without a word is an error at the op.
//
// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-lower-xegpu-to-xevm="xegpu-op-level=instruction"

gpu.module @not_distributed {
  // expected-error @below {{'gpu.warp_execute_on_lane_0' op is left in device code after xegpu-subgroup-distribute}}
  gpu.func @k(%c: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-note @below {{it holds memref.extract_strided_metadata}}
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %c
        : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
    %t = xegpu.create_nd_tdesc %c, shape: [%sizes#0, %sizes#1], strides: [%strides#0, %c1]
        : memref<?x?xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    xegpu.store_nd %v, %t[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @surface {
  // expected-error @below {{'xevm.blockload2d' op cannot run on pvc: width of the surface is 2002 bytes, expected a multiple of 4}}
  gpu.func @k(%c: memref<64x1001xf16>, %d: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %c : memref<64x1001xf16> -> !xegpu.tensor_desc<8x16xf16>
    %u = xegpu.create_nd_tdesc %d : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    xegpu.store_nd %v, %u[%c0, %c0] : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
    gpu.return
  }
}
