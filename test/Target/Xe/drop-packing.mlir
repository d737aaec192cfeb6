// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-drop-packing))" | FileCheck %s

// CHECK-LABEL: gpu.func @f
// CHECK: xegpu.load_nd %{{.*}}[0, 0] : !xegpu.tensor_desc<16x16xf32>
// CHECK: xegpu.load_nd %{{.*}}[0, 0] <{packed}> : !xegpu.tensor_desc<16x16xf16>
gpu.module @device {
  gpu.func @f(%a: memref<64x64xf32>, %b: memref<64x64xf16>) {
    %ta = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<16x16xf32>
    %tb = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %va = xegpu.load_nd %ta[0, 0] <{packed}> : !xegpu.tensor_desc<16x16xf32> -> vector<16xf32>
    %vb = xegpu.load_nd %tb[0, 0] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
    gpu.return
  }
}
