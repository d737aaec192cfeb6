// RUN: xetile-opt %s --verify-diagnostics --pass-pipeline="builtin.module(xetile-attach-target{chip=pvc},gpu.module(xetile-assign-lane-layouts,xetile-distribute-to-lanes{print-costs}))"

gpu.module @k {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<16x16xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
    %s = math.sqrt %v : vector<16x16xf32>
    // expected-remark @below {{moves elements with 32 shuffles and 96 selects}}
    xegpu.store_nd %s, %t[16, 0] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    // Its lanes hold rows then; the store wants columns.
    // expected-remark @below {{moves elements with 0 shuffles and 0 selects}}
    %w = vector.transpose %v, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    xegpu.store_nd %w, %t[0, 16] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    gpu.return
  }
}
