// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-byte-store-layout))" | FileCheck %s

gpu.module @k {
  // CHECK-LABEL: gpu.func @stores
  gpu.func @stores(%a: memref<64x64xi8>, %b: memref<64x64xf16>, %v: vector<8x16xi8>, %w: vector<8x32xi8>, %f: vector<8x16xf16>) kernel {
    %zero = arith.constant 0 : index
    %bytes = xegpu.create_nd_tdesc %a : memref<64x64xi8> -> !xegpu.tensor_desc<8x16xi8>
    // A column for each lane.
    // CHECK: xegpu.store_nd %{{.*}} <{layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>}> : vector<8x16xi8>
    xegpu.store_nd %v, %bytes[%zero, %zero] : vector<8x16xi8>, !xegpu.tensor_desc<8x16xi8>
    // A layout that is there stays.
    // CHECK: xegpu.store_nd %{{.*}} <{layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 2]>}> : vector<8x16xi8>
    xegpu.store_nd %v, %bytes[%zero, %zero] <{layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 2]>}>
      : vector<8x16xi8>, !xegpu.tensor_desc<8x16xi8>
    // Two for each lane, and other elements, are upstream's.
    // CHECK-NOT: layout
    %wide = xegpu.create_nd_tdesc %a : memref<64x64xi8> -> !xegpu.tensor_desc<8x32xi8>
    xegpu.store_nd %w, %wide[%zero, %zero] : vector<8x32xi8>, !xegpu.tensor_desc<8x32xi8>
    %words = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    xegpu.store_nd %f, %words[%zero, %zero] : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
    // CHECK: gpu.return
    gpu.return
  }
}
