// What cannot be lowered is an error at the op.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: xetile-opt %t/lane.mlir --verify-diagnostics --xetile-lower-xegpu-to-xevm="xegpu-op-level=lane"
// RUN: xetile-opt %t/unregistered.mlir --allow-unregistered-dialect --verify-diagnostics \
// RUN:   --xetile-lower-xegpu-to-xevm="xegpu-op-level=instruction" -o /dev/null

//--- lane.mlir
gpu.module @surface {
  gpu.func @k(%c: memref<64x1001xf16>, %d: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %c : memref<64x1001xf16> -> !xegpu.tensor_desc<8x16xf16>
    %u = xegpu.create_nd_tdesc %d : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    // expected-error @below {{'xevm.blockload2d' op cannot run on pvc: width of the surface is 2002 bytes, expected a multiple of 4}}
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
    xegpu.store_nd %v, %u[%c0, %c0] : vector<8xf16>, !xegpu.tensor_desc<8x16xf16>
    gpu.return
  }
}

//--- unregistered.mlir
gpu.module @unregistered {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    // expected-error @below {{'foo.bar' op has no lowering to lanes: expected operations of a dialect that is loaded}}
    %w = "foo.bar"(%v) : (vector<8x16xf32>) -> vector<8x16xf32>
    xegpu.store_nd %w, %t[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
