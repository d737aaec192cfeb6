// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-split-descriptors))" | FileCheck %s

gpu.module @k {
  // CHECK-LABEL: gpu.func @shared
  // CHECK-COUNT-2: xegpu.create_nd_tdesc
  // CHECK: xegpu.prefetch_nd %[[PREFETCHED:[0-9]+]][
  // CHECK-NOT: xegpu.load_nd %[[PREFETCHED]][
  // CHECK: xegpu.load_nd
  gpu.func @shared(%a: memref<256x256xf16>, %x: index) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<256x256xf16> -> !xegpu.tensor_desc<32x32xf16>
    xegpu.prefetch_nd %t[%x, %x] : !xegpu.tensor_desc<32x32xf16>
    %v = xegpu.load_nd %t[%x, %x] : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @alone
  // CHECK-COUNT-1: xegpu.create_nd_tdesc
  // CHECK-NOT: xegpu.create_nd_tdesc
  gpu.func @alone(%a: memref<256x256xf16>, %x: index) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<256x256xf16> -> !xegpu.tensor_desc<32x32xf16>
    %v = xegpu.load_nd %t[%x, %x] : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    gpu.return
  }
}
