// What upstream's passes crash on is refused at the operation before they run.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: xetile-opt %t/subgroup.mlir --split-input-file --verify-diagnostics \
// RUN:   --xetile-lower-xegpu-to-xevm="xegpu-op-level=subgroup" -o /dev/null
// RUN: xetile-opt %t/instruction.mlir --split-input-file --verify-diagnostics \
// RUN:   --xetile-lower-xegpu-to-xevm="xegpu-op-level=instruction" -o /dev/null
// RUN: xetile-opt %t/workgroup.mlir --split-input-file --verify-diagnostics \
// RUN:   --xetile-lower-xegpu-to-xevm="xegpu-op-level=workgroup" -o /dev/null
// RUN: xetile-opt %t/lane.mlir --split-input-file --verify-diagnostics \
// RUN:   --xetile-lower-xegpu-to-xevm="xegpu-op-level=lane" -o /dev/null
// RUN: xetile-opt %t/unregistered.mlir --allow-unregistered-dialect --verify-diagnostics \
// RUN:   --xetile-lower-xegpu-to-xevm="xegpu-op-level=instruction" -o /dev/null
// RUN: not xetile-opt %t/unregistered.mlir --allow-unregistered-dialect \
// RUN:   --pass-pipeline="builtin.module(xetile-attach-target,gpu.module(xetile-check-xegpu-support{level=x}))" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LEVEL

// LEVEL: error: option level is 'x', expected workgroup, subgroup, instruction or lane

//--- unregistered.mlir
gpu.module @k {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    // expected-error @below {{'foo.bar' op has no lowering at level instruction: expected operations of a dialect that is loaded}}
    %w = "foo.bar"(%v) : (vector<8x16xf32>) -> vector<8x16xf32>
    xegpu.store_nd %w, %t[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

//--- subgroup.mlir
// Aborts in half of the runs without the check.
gpu.module @bitcast {
  gpu.func @f(%b: memref<16x16xi32>, %c: memref<16x32xi16>) kernel {
    %c0 = arith.constant 0 : index
    %tb = xegpu.create_nd_tdesc %b : memref<16x16xi32> -> !xegpu.tensor_desc<8x16xi32>
    %vb = xegpu.load_nd %tb[%c0, %c0] : !xegpu.tensor_desc<8x16xi32> -> vector<8x16xi32>
    // expected-error @below {{'vector.bitcast' op has no lowering at level subgroup: expected elements of one width on both sides}}
    %i = vector.bitcast %vb : vector<8x16xi32> to vector<8x32xi16>
    %tc = xegpu.create_nd_tdesc %c : memref<16x32xi16> -> !xegpu.tensor_desc<8x32xi16>
    xegpu.store_nd %i, %tc[%c0, %c0] : vector<8x32xi16>, !xegpu.tensor_desc<8x32xi16>
    gpu.return
  }
}

// -----

gpu.module @columns {
  gpu.func @f(%a: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<8x12xf16>
    // expected-error @below {{has a tile of 8x12, expected columns in multiples of 16 and 1, 2, 4 or multiples of 8 rows}}
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x12xf16> -> vector<8x12xf16>
    xegpu.store_nd %v, %t[%c0, %c0] : vector<8x12xf16>, !xegpu.tensor_desc<8x12xf16>
    gpu.return
  }
}

// -----

// Exhausts memory without the check.
gpu.module @large {
  gpu.func @f(%a: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'xegpu.create_nd_tdesc' op has no lowering at level subgroup: has a value of type '!xegpu.tensor_desc<16x2147483648xf16>', expected at most 65536 elements together}}
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<16x2147483648xf16>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<16x2147483648xf16> -> vector<16x2147483648xf16>
    xegpu.store_nd %v, %t[%c0, %c0] : vector<16x2147483648xf16>, !xegpu.tensor_desc<16x2147483648xf16>
    gpu.return
  }
}

// -----

gpu.module @one_dimension {
  gpu.func @f(%a: memref<64xf16>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{has a tile of 1 dimensions, expected 2: write a row of N elements as 1xN}}
    %t = xegpu.create_nd_tdesc %a : memref<64xf16> -> !xegpu.tensor_desc<16xf16>
    %v = xegpu.load_nd %t[%c0] : !xegpu.tensor_desc<16xf16> -> vector<16xf16>
    xegpu.store_nd %v, %t[%c0] : vector<16xf16>, !xegpu.tensor_desc<16xf16>
    gpu.return
  }
}

// -----

gpu.module @element {
  gpu.func @f(%a: memref<64x64xi4>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{has elements of type 'i4', expected f16, bf16, f32, i8, i16 or i32}}
    %t = xegpu.create_nd_tdesc %a : memref<64x64xi4> -> !xegpu.tensor_desc<8x16xi4>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xi4> -> vector<8x16xi4>
    xegpu.store_nd %v, %t[%c0, %c0] : vector<8x16xi4>, !xegpu.tensor_desc<8x16xi4>
    gpu.return
  }
}

// -----

gpu.module @transposed_load {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<16x16xf32>
    // expected-error @below {{'xegpu.load_nd' op has no lowering at level subgroup: expected a load without transpose and packed}}
    %v = xegpu.load_nd %t[%c0, %c0] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
    xegpu.store_nd %v, %t[%c0, %c0] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @gather {
  gpu.func @g(%a: memref<1024xf32>) kernel {
    %o = arith.constant dense<1> : vector<16xindex>
    %m = arith.constant dense<1> : vector<16xi1>
    // expected-error @below {{'xegpu.load' op has no lowering at level subgroup: expected scattered accesses at level lane}}
    %v = xegpu.load %a[%o], %m <{chunk_size = 2 : i64}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16x2xf32>
    xegpu.store %v, %a[%o], %m <{chunk_size = 2 : i64}> : vector<16x2xf32>, memref<1024xf32>, vector<16xindex>, vector<16xi1>
    gpu.return
  }
}

// -----

gpu.module @dpas {
  gpu.func @f(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %ta = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %tb = xegpu.create_nd_tdesc %b : memref<64x64xf32> -> !xegpu.tensor_desc<16x16xf32>
    %va = xegpu.load_nd %ta[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    %vb = xegpu.load_nd %tb[%c0, %c0] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
    // expected-error @below {{multiplies 'f32' to 'f32', expected (f16, f16) -> f32, (bf16, bf16) -> f32 or (i8, i8) -> i32}}
    %d = xegpu.dpas %va, %vb : vector<8x16xf32>, vector<16x16xf32> -> vector<8x16xf32>
    xegpu.store_nd %d, %ta[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @named_barrier {
  gpu.func @f() kernel {
    %id = arith.constant 1 : i8
    // expected-error @below {{'xegpu.alloc_nbarrier' op has no lowering at level subgroup: expected gpu.barrier instead of named barriers}}
    xegpu.alloc_nbarrier 16
    %nb = xegpu.init_nbarrier %id, %id : i8, i8 -> !xegpu.nbarrier
    xegpu.nbarrier_arrive %nb : !xegpu.nbarrier
    xegpu.nbarrier_wait %nb : !xegpu.nbarrier
    gpu.return
  }
}

// -----

gpu.module @reduction {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %z = arith.constant dense<0.0> : vector<16xf32>
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<16x16xf32>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
    // expected-error @below {{'vector.multi_reduction' op has no lowering at level subgroup: expected elementwise operations}}
    %r = vector.multi_reduction <add>, %v, %z [0] : vector<16x16xf32> to vector<16xf32>
    %s = vector.broadcast %r : vector<16xf32> to vector<16x16xf32>
    xegpu.store_nd %s, %t[%c0, %c0] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @call {
  func.func @twice(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    return %y : f32
  }
  gpu.func @main(%a: memref<16xf32>) kernel {
    %i = gpu.lane_id
    %v = memref.load %a[%i] : memref<16xf32>
    // expected-error @below {{'func.call' op has no lowering at level subgroup: expected calls at level lane, or the function's body here}}
    %w = func.call @twice(%v) : (f32) -> f32
    memref.store %w, %a[%i] : memref<16xf32>
    gpu.return
  }
}

// -----

gpu.module @vector_argument {
  // expected-error @below {{'gpu.func' op has no lowering at level subgroup: expected a function without vectors as arguments}}
  gpu.func @f(%v: vector<16xf32>) {
    gpu.return
  }
}

// -----

// Upstream leaves the load to all lanes at once.
gpu.module @fence_between {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    // expected-error @below {{'xegpu.load_nd' op has no lowering at level lane: has a value of type 'vector<8x16xf32>', expected the 1D vector that a lane holds}}
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    xegpu.fence memory_kind = global, fence_scope = workgroup
    xegpu.store_nd %v, %t[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

//--- instruction.mlir
gpu.module @column_slice {
  gpu.func @f(%a: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    // expected-error @below {{'vector.extract_strided_slice' op has no lowering at level instruction: expected slices of whole rows}}
    %w = vector.extract_strided_slice %v {offsets = [0, 0], sizes = [8, 8], strides = [1, 1]} : vector<8x16xf16> to vector<8x8xf16>
    %u = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<8x8xf16>
    xegpu.store_nd %w, %u[%c0, %c0] : vector<8x8xf16>, !xegpu.tensor_desc<8x8xf16>
    gpu.return
  }
}

// -----

gpu.module @private_memory {
  gpu.func @f(%a: memref<64x64xf32, #gpu.address_space<private>>) kernel {
    // expected-error @below {{has no lowering at level instruction: has a matrix in memory space #gpu.address_space<private>, expected one in global memory}}
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32, #gpu.address_space<private>> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @offset_of_descriptor {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'xegpu.create_nd_tdesc' op has no lowering at level instruction: expected the offsets on load_nd, store_nd and prefetch_nd}}
    %t = xegpu.create_nd_tdesc %a[%c0, %c0] : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    xegpu.store_nd %v, %t : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @one_row {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    // expected-error @below {{'vector.extract' op has no lowering at level instruction: expected a block out of the 3D vector of a load}}
    %r = vector.extract %v[0] : vector<16xf32> from vector<8x16xf32>
    %w = vector.broadcast %r : vector<16xf32> to vector<8x16xf32>
    xegpu.store_nd %w, %t[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

//--- workgroup.mlir
#l = #xegpu.layout<sg_layout = [2, 2], sg_data = [8, 16], inst_data = [8, 16]>
gpu.module @run_time_sizes {
  gpu.func @f(%a: memref<?x?xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{has no lowering at level workgroup: expected shape and strides beside a memref of run-time sizes}}
    %t = "xegpu.create_nd_tdesc"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>}>
        : (memref<?x?xf32>) -> !xegpu.tensor_desc<16x32xf32, #l>
    %v = xegpu.load_nd %t[%c0, %c0] {layout = #l} : !xegpu.tensor_desc<16x32xf32, #l> -> vector<16x32xf32>
    xegpu.store_nd %v, %t[%c0, %c0] {layout = #l} : vector<16x32xf32>, !xegpu.tensor_desc<16x32xf32, #l>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [2, 2], sg_data = [8, 16], inst_data = [8, 16]>
#t = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 16], inst_data = [8, 16]>
gpu.module @transpose {
  gpu.func @f(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<16x32xf32, #l>
    %v = xegpu.load_nd %t[%c0, %c0] {layout = #l} : !xegpu.tensor_desc<16x32xf32, #l> -> vector<16x32xf32>
    // expected-error @below {{'vector.transpose' op has no lowering at level workgroup: expected elementwise operations}}
    %w = vector.transpose %v, [1, 0] : vector<16x32xf32> to vector<32x16xf32>
    %u = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<32x16xf32, #t>
    xegpu.store_nd %w, %u[%c0, %c0] {layout = #t} : vector<32x16xf32>, !xegpu.tensor_desc<32x16xf32, #t>
    gpu.return
  }
}

//--- lane.mlir
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
