// What xetile-xegpu-wg-to-sg refuses, each at its operation.
//
// RUN: xetile-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(xetile-attach-target{chip=pvc},gpu.module(xetile-xegpu-wg-to-sg))" -o /dev/null

#four = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
#eight = #xegpu.layout<sg_layout = [8, 1], sg_data = [4, 32]>
gpu.module @numbers {
  gpu.func @f(%a: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    %v = xegpu.load_nd %t[0, 0] <{layout = #four}> : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    // expected-error @below {{has a layout for 8 subgroups, but others of the function are for 4; expected the same number everywhere}}
    xegpu.store_nd %v, %t[0, 0] <{layout = #eight}> : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [12, 32]>
gpu.module @cover {
  gpu.func @f(%a: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    // expected-error @below {{has sg_data of 12, which does not divide the 32 elements of dimension 0}}
    %v = xegpu.load_nd %t[0, 0] <{layout = #l}> : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [3, 1], sg_data = [8, 32]>
gpu.module @fraction {
  gpu.func @f(%a: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    // expected-error @below {{shares 4 pieces of 8 elements out over 3 subgroups in dimension 0, expected a multiple or a fraction of them}}
    %v = xegpu.load_nd %t[0, 0] <{layout = #l}> : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [4], sg_data = [8]>
gpu.module @rank {
  gpu.func @f(%a: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    // expected-error @below {{has a layout for 1 dimensions, expected the 2 of its value}}
    %w = arith.addf %v, %v {layout_result_0 = #l} : vector<32x32xf32>
    xegpu.store_nd %w, %t[0, 0] : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
gpu.module @nothing {
  gpu.func @f(%a: memref<32x32xf32>, %b: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32, #l>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x32xf32, #l> -> vector<32x32xf32>
    xegpu.store_nd %v, %t[0, 0] : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32, #l>
    %u = xegpu.create_nd_tdesc %b : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    // expected-error @below {{has a value of type 'vector<32x32xf32>' beside layouts for subgroups, and none follows for it; expected a layout with sg_layout on its operation (layout, or layout_result_0) or on its descriptor}}
    %w = xegpu.load_nd %u[0, 0] : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    xegpu.store_nd %w, %u[0, 0] : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
gpu.module @prefetch {
  gpu.func @f(%a: memref<32x32xf32>, %b: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    %v = xegpu.load_nd %t[0, 0] <{layout = #l}> : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    // expected-error @below {{has no layout beside layouts for subgroups; expected one with sg_layout, on it or on its descriptor}}
    xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<32x32xf32>
    gpu.return
  }
}

// -----

#a = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 32]>
#c = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 16]>
gpu.module @dpas {
  gpu.func @f(%a: memref<64x32xf16>, %b: memref<32x32xf16>, %c: memref<64x32xf32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<64x32xf16> -> !xegpu.tensor_desc<64x32xf16>
    %tb = xegpu.create_nd_tdesc %b : memref<32x32xf16> -> !xegpu.tensor_desc<32x32xf16>
    %tc = xegpu.create_nd_tdesc %c : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
    %x = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
    %y = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    // expected-error @below {{has a layout_a whose pieces along dimension 0 are not those of the result: expected sg_data = 32 for 2 subgroups there, got 16 for 2}}
    %z = xegpu.dpas %x, %y {layout_a = #a, layout_cd = #c} : vector<64x32xf16>, vector<32x32xf16> -> vector<64x32xf32>
    xegpu.store_nd %z, %tc[0, 0] : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
gpu.module @rule {
  gpu.func @f(%a: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    %v = xegpu.load_nd %t[0, 0] <{layout = #l}> : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    // expected-error @below {{'vector.shuffle' op has no rule to distribute it over subgroups; expected operations of XeGPU, elementwise ones}}
    %w = vector.shuffle %v, %v [1, 0] {layout_result_0 = #xegpu.layout<sg_layout = [4, 1], sg_data = [2, 8]>} : vector<32x32xf32>, vector<32x32xf32>
    gpu.return
  }
}

// -----

#rows = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
#columns = #xegpu.layout<sg_layout = [1, 4], sg_data = [32, 8]>
gpu.module @divergent {
  gpu.func @f(%a: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    %v = xegpu.load_nd %t[0, 0] <{layout = #rows}> : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    %id = gpu.subgroup_id : index
    %c2 = arith.constant 2 : index
    %low = arith.cmpi ult, %id, %c2 : index
    // expected-note @below {{not all subgroups of a workgroup may run this alike}}
    scf.if %low {
      // expected-error @below {{brings elements to other subgroups, which needs a barrier, where not all subgroups may meet}}
      %w = xegpu.convert_layout %v <{input_layout = #rows, target_layout = #columns}> : vector<32x32xf32>
      xegpu.store_nd %w, %t[0, 0] : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32>
    }
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [4, 2], sg_data = [8, 2]>
gpu.module @chunk {
  gpu.func @f(%a: memref<1024xf32>) kernel {
    %at = vector.step : vector<32xindex>
    %mask = arith.constant dense<true> : vector<32xi1>
    // expected-error @below {{has a layout that shares the 4 elements of a chunk out in pieces of 2; expected sg_data of 4 in the last dimension}}
    %v = xegpu.load %a[%at], %mask <{chunk_size = 4 : i64, layout = #l}>
        : memref<1024xf32>, vector<32xindex>, vector<32xi1> -> vector<32x4xf32>
    xegpu.store %v, %a[%at], %mask <{chunk_size = 4 : i64}>
        : vector<32x4xf32>, memref<1024xf32>, vector<32xindex>, vector<32xi1>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
gpu.module @launch {
  // expected-error @below {{is launched with workgroups of 32 work-items (known_block_size), but its layouts need 4 subgroups of 16 = 64}}
  gpu.func @f(%a: memref<32x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32, #l>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x32xf32, #l> -> vector<32x32xf32>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [2, 2], sg_data = [6, 8]>
gpu.module @cast {
  gpu.func @f(%a: memref<12x16xf32>, %c: memref<192xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<12x16xf32> -> !xegpu.tensor_desc<12x16xf32, #l>
    %u = xegpu.create_nd_tdesc %c : memref<192xf32> -> !xegpu.tensor_desc<192xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<12x16xf32, #l> -> vector<12x16xf32>
    // expected-error @below {{has a result whose layout gives no layout of 'vector<12x16xf32>' under which each subgroup keeps its elements}}
    %w = vector.shape_cast %v {layout_result_0 = #xegpu.layout<sg_layout = [4], sg_data = [24]>} : vector<12x16xf32> to vector<192xf32>
    xegpu.store_nd %w, %u[0] : vector<192xf32>, !xegpu.tensor_desc<192xf32>
    gpu.return
  }
}

// -----

#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
gpu.module @masked_permutation {
  gpu.func @f(%a: memref<32x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c9 = arith.constant 9 : index
    %pad = arith.constant 0.0 : f32
    %mask = vector.create_mask %c9, %c9 : vector<32x32xi1>
    // expected-error @below {{'vector.transfer_read' op has a mask and a permutation of dimensions; expected one of them, or vector.transpose beside it}}
    %v = vector.transfer_read %a[%c0, %c0], %pad, %mask {in_bounds = [true, true], layout_result_0 = #l,
        permutation_map = affine_map<(i, j) -> (j, i)>} : memref<32x32xf32>, vector<32x32xf32>
    vector.transfer_write %v, %a[%c0, %c0] {in_bounds = [true, true]} : vector<32x32xf32>, memref<32x32xf32>
    gpu.return
  }
}
