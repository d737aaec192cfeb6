// Guards of upstream's pass from lanes to XeVM: what it crashes on or lowers wrongly is an error at the op. They are
// xetile-check-xegpu-support, which runs first there.
//
// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-lower-xegpu-to-xevm="xegpu-op-level=lane" -o /dev/null

gpu.module @matrix {
  gpu.func @f(%v: f32) kernel {
    %c0 = arith.constant 0 : index
    %m = memref.alloca() : memref<1024xi8, 3>
    // expected-error @below {{'xegpu.create_mem_desc' op has no lowering at level lane: its pointers to shared memory would have 32 bits; expected memref.load and memref.store on the memref in shared memory}}
    %d = xegpu.create_mem_desc %m : memref<1024xi8, 3> -> !xegpu.mem_desc<16x16xf32>
    xegpu.store_matrix %v, %d[%c0, %c0] : f32, !xegpu.mem_desc<16x16xf32>, index, index
    gpu.return
  }
}

// -----

gpu.module @update {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    // expected-error @below {{'xegpu.update_nd_offset' op has no lowering at level lane: expected the offsets on the access, computed by arith}}
    %u = xegpu.update_nd_offset %t, [%c0, %c0] : !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %u[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
    xegpu.store_nd %v, %t[%c0, %c0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @narrow_row {
  gpu.func @f(%a: memref<1024xf16>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{has a 1D tile of 32 'f16', expected 32, 64 or 128 elements of f32 or i32; write other rows of N elements as 1xN}}
    %t = xegpu.create_nd_tdesc %a : memref<1024xf16> -> !xegpu.tensor_desc<32xf16>
    %v = xegpu.load_nd %t[%c0] : !xegpu.tensor_desc<32xf16> -> vector<2xf16>
    xegpu.store_nd %v, %t[%c0] : vector<2xf16>, !xegpu.tensor_desc<32xf16>
    gpu.return
  }
}

// -----

gpu.module @no_rows {
  gpu.func @f(%a: memref<0x1001xf16>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{has a matrix of type 'memref<0x1001xf16>', expected one with elements}}
    %t = xegpu.create_nd_tdesc %a : memref<0x1001xf16> -> !xegpu.tensor_desc<8x16xf16>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
    xegpu.store_nd %v, %t[%c0, %c0] : vector<8xf16>, !xegpu.tensor_desc<8x16xf16>
    gpu.return
  }
}
