// RUN: xetile-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(xetile-attach-target{chip=pvc},gpu.module(xetile-assign-lane-layouts))"

gpu.module @types {
  gpu.func @k(%a: vector<8x16xf16>, %b: vector<16x16xf16>) {
    // expected-error @below {{multiplies f16 and f16 into bf16; expected f16 into f32 or f16}}
    %d = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xbf16>
    gpu.return
  }
}

// -----

gpu.module @shape {
  gpu.func @k(%a: vector<8x24xf16>, %b: vector<24x16xf16>) {
    // expected-error @below {{multiplies 8x24 and 24x16 of f16; expected n to be a multiple of 16 and k of 16}}
    %d = xegpu.dpas %a, %b : vector<8x24xf16>, vector<24x16xf16> -> vector<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @contradiction {
  gpu.func @k(%a: vector<8x16xf16>, %b: vector<16x16xf16>) {
    // expected-error @below {{has a layout_a that contradicts the instruction: expected lane_layout = [1, 16], lane_data = [1, 1], or none}}
    %d = xegpu.dpas %a, %b {layout_a = #xegpu.layout<lane_layout = [2, 8], lane_data = [1, 1]>} : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @bytes {
  gpu.func @k(%a: vector<8x32xi8>, %b: vector<32x16xi8>) {
    // expected-error @below {{has a layout_a that contradicts the instruction: expected lane_layout = [1, 16], lane_data = [1, 2], or none}}
    %d = xegpu.dpas %a, %b {layout_a = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>} : vector<8x32xi8>, vector<32x16xi8> -> vector<8x16xi32>
    gpu.return
  }
}

// -----

gpu.module @lanes {
  gpu.func @k(%a: memref<16x16xf32>) {
    %t = xegpu.create_nd_tdesc %a : memref<16x16xf32> -> !xegpu.tensor_desc<16x16xf32>
    // expected-error @below {{has a lane_layout of 8 lanes, expected the 16 of a subgroup}}
    %v = xegpu.load_nd %t[0, 0] <{layout = #xegpu.layout<lane_layout = [1, 8], lane_data = [1, 1]>}> : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @cover {
  gpu.func @k(%a: memref<24x16xf32>) {
    %t = xegpu.create_nd_tdesc %a : memref<24x16xf32> -> !xegpu.tensor_desc<24x16xf32>
    // expected-error @below {{has a layout whose lane_layout times lane_data is 16 along dimension 0, expected powers of two whose product divides 24}}
    %v = xegpu.load_nd %t[0, 0] <{layout = #xegpu.layout<lane_layout = [16, 1], lane_data = [1, 1]>}> : !xegpu.tensor_desc<24x16xf32> -> vector<24x16xf32>
    gpu.return
  }
}

// -----

gpu.module @large {
  gpu.func @f(%a: memref<64x64xf16>) kernel {
    // expected-error @below {{has a value of type '!xegpu.tensor_desc<16x2147483648xf16>', expected at most 65536 elements}}
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<16x2147483648xf16>
    gpu.return
  }
}
