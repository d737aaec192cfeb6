// RUN: xetile-opt %s --verify-diagnostics --pass-pipeline="builtin.module(xetile-attach-target{chip=pvc},gpu.module(xetile-assign-lane-layouts,xetile-distribute-to-lanes{print-costs}))"

#from = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>
#to = #xegpu.layout<lane_layout = [8, 2], lane_data = [1, 2]>

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

  // Many shuffles, unless the workgroup's size tells how much memory each subgroup has.
  gpu.func @memory(%a: memref<48x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %v = vector.load %a[%c0, %c0] {layout_result_0 = #from} : memref<48x32xf32>, vector<48x32xf32>
    // expected-remark @below {{moves elements with 0 shuffles and 0 selects, and 144 messages to and from shared local memory}}
    %w = xegpu.convert_layout %v <{input_layout = #from, target_layout = #to}> : vector<48x32xf32>
    vector.store %w, %a[%c0, %c0] : memref<48x32xf32>, vector<48x32xf32>
    gpu.return
  }

  gpu.func @shuffles(%a: memref<48x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = vector.load %a[%c0, %c0] {layout_result_0 = #from} : memref<48x32xf32>, vector<48x32xf32>
    // expected-remark @below {{moves elements with 768 shuffles and 800 selects}}
    %w = xegpu.convert_layout %v <{input_layout = #from, target_layout = #to}> : vector<48x32xf32>
    vector.store %w, %a[%c0, %c0] : memref<48x32xf32>, vector<48x32xf32>
    gpu.return
  }

  // Sixteen rows are halved four times, then each result is sent to all lanes: 15 + 16 shuffles. On
  // the way down bytes travel four in a word and i16 two; f16 goes alone, as Intel's compiler shuffles
  // it in place.
  gpu.func @reductions(%a: memref<16x16xi8>, %b: memref<16x16xi16>, %c: memref<16x16xf16>, %d: memref<16xi8>, %e: memref<16xi16>, %f: memref<16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %z8 = arith.constant dense<0> : vector<16xi8>
    %z16 = arith.constant dense<0> : vector<16xi16>
    %zf = arith.constant dense<0.0> : vector<16xf16>
    %t8 = xegpu.create_nd_tdesc %a : memref<16x16xi8> -> !xegpu.tensor_desc<16x16xi8>
    %v8 = xegpu.load_nd %t8[0, 0] : !xegpu.tensor_desc<16x16xi8> -> vector<16x16xi8>
    %t16 = xegpu.create_nd_tdesc %b : memref<16x16xi16> -> !xegpu.tensor_desc<16x16xi16>
    %v16 = xegpu.load_nd %t16[0, 0] : !xegpu.tensor_desc<16x16xi16> -> vector<16x16xi16>
    %tf = xegpu.create_nd_tdesc %c : memref<16x16xf16> -> !xegpu.tensor_desc<16x16xf16>
    %vf = xegpu.load_nd %tf[0, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
    // expected-remark @below {{moves elements with 21 shuffles}}
    %r8 = vector.multi_reduction <maxsi>, %v8, %z8 [1] : vector<16x16xi8> to vector<16xi8>
    // expected-remark @below {{moves elements with 24 shuffles}}
    %r16 = vector.multi_reduction <maxsi>, %v16, %z16 [1] : vector<16x16xi16> to vector<16xi16>
    // expected-remark @below {{moves elements with 31 shuffles}}
    %rf = vector.multi_reduction <maxnumf>, %vf, %zf [1] : vector<16x16xf16> to vector<16xf16>
    vector.store %r8, %d[%c0] : memref<16xi8>, vector<16xi8>
    vector.store %r16, %e[%c0] : memref<16xi16>, vector<16xi16>
    vector.store %rf, %f[%c0] : memref<16xf16>, vector<16xf16>
    gpu.return
  }
}
