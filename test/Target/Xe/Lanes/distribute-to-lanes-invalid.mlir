// RUN: xetile-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(xetile-attach-target{chip=pvc},gpu.module(xetile-assign-lane-layouts,xetile-distribute-to-lanes))"

gpu.module @divergent {
  gpu.func @k(%a: memref<64x64xf32>) kernel {
    %c4 = arith.constant 4 : index
    %l = gpu.lane_id
    %some = arith.cmpi ult, %l, %c4 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    // expected-note @below {{the control flow}}
    scf.if %some {
      // expected-error @below {{is done by all lanes of a subgroup together, but stands in control flow that differs from lane to lane}}
      xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32>
    }
    gpu.return
  }
}

// -----

// A work-item's number over 16 is that of its subgroup.
gpu.module @uniform {
  gpu.func @k(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %x = gpu.thread_id x
    %s = arith.divui %x, %c16 : index
    %first = arith.cmpi eq, %s, %c0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    scf.if %first {
      xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32>
    }
    gpu.return
  }
}

// -----

// Over 8 it is that of half a subgroup.
gpu.module @half {
  gpu.func @k(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %s = arith.divui %x, %c8 : index
    %first = arith.cmpi eq, %s, %c0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    // expected-note @below {{the control flow}}
    scf.if %first {
      // expected-error @below {{is done by all lanes of a subgroup together}}
      xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32>
    }
    gpu.return
  }
}

// -----

// Without its last four bits it is that of its subgroup, without three that of half of one.
gpu.module @shifted {
  gpu.func @k(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %s = arith.shrui %x, %c4 : index
    %first = arith.cmpi eq, %s, %c0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    scf.if %first {
      xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @shifted_less {
  gpu.func @k(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %c3 = arith.constant 3 : index
    %s = arith.shrui %x, %c3 : index
    %first = arith.cmpi eq, %s, %c0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    // expected-note @below {{the control flow}}
    scf.if %first {
      // expected-error @below {{is done by all lanes of a subgroup together}}
      xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32>
    }
    gpu.return
  }
}

// -----

// Each of two numbers is the same for all lanes; which of them a lane has is its own.
gpu.module @chosen {
  gpu.func @k(%a: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    %some = arith.cmpi eq, %x, %c0 : index
    %s = scf.if %some -> index {
      scf.yield %c0 : index
    } else {
      scf.yield %c1 : index
    }
    %first = arith.cmpi eq, %s, %c0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    // expected-note @below {{the control flow}}
    scf.if %first {
      // expected-error @below {{is done by all lanes of a subgroup together}}
      xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @bounds {
  gpu.func @k(%a: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    // expected-note @below {{the control flow}}
    scf.for %i = %c0 to %x step %c1 {
      // expected-error @below {{is done by all lanes of a subgroup together}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @unknown {
  gpu.func @k(%a: memref<64x64xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    // expected-error @below {{'vector.print' op has no lowering to lanes: expected XeGPU, elementwise operations}}
    vector.print %v : vector<8x16xf32>
    gpu.return
  }
}

// -----

gpu.module @arguments {
  // expected-error @below {{has vectors or descriptors as arguments, which a launch cannot pass; expected memrefs and numbers}}
  gpu.func @k(%v: vector<8x16xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @lane {
  gpu.func @k(%a: memref<64x64xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    // expected-error @below {{expected all of its elements: those of a subgroup, or xegpu-op-level=lane}}
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
    gpu.return
  }
}

// -----

gpu.module @bits {
  gpu.func @k(%a: memref<64xi1>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{has memory with elements of 1 bits, expected whole bytes}}
    %v = vector.load %a[%c0] : memref<64xi1>, vector<16xi1>
    gpu.return
  }
}

// -----

gpu.module @scattered_space {
  gpu.func @k(%a: memref<64xf32, 5>) kernel {
    %offsets = arith.constant dense<0> : vector<16xindex>
    %mask = arith.constant dense<true> : vector<16xi1>
    // expected-error @below {{has memory in space 5 : i64, expected global or shared memory}}
    %v = xegpu.load %a[%offsets], %mask : memref<64xf32, 5>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
    gpu.return
  }
}

// -----

gpu.module @some_subgroups {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c1 = arith.constant 1 : i8
    %c2 = arith.constant 2 : i8
    // expected-error @below {{has 2 participants, expected the 4 subgroups of the workgroup}}
    %b = xegpu.init_nbarrier %c1, %c2 : i8, i8 -> !xegpu.nbarrier
    gpu.return
  }
}

// -----

gpu.module @poisoned_tile {
  gpu.func @k() kernel {
    %zero = arith.constant dense<0.0> : vector<8x16xf16>
    // expected-error @below {{'ub.poison' op has no lowering to lanes}}
    %t = ub.poison : !xegpu.tensor_desc<8x16xf16>
    xegpu.store_nd %zero, %t[0, 0] : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
    gpu.return
  }
}

// -----

gpu.module @chosen_tile {
  gpu.func @k(%a: memref<8x16xf16>, %b: memref<8x16xf16>, %first: i1) kernel {
    %zero = arith.constant dense<0.0> : vector<8x16xf16>
    %x = xegpu.create_nd_tdesc %a : memref<8x16xf16> -> !xegpu.tensor_desc<8x16xf16>
    %y = xegpu.create_nd_tdesc %b : memref<8x16xf16> -> !xegpu.tensor_desc<8x16xf16>
    // expected-error @below {{'arith.select' op has no lowering to lanes}}
    %t = arith.select %first, %x, %y : !xegpu.tensor_desc<8x16xf16>
    xegpu.store_nd %zero, %t[0, 0] : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
    gpu.return
  }
}

// -----

gpu.module @branches {
  // expected-error @below {{'func.func' op has branches that carry vectors or descriptors; expected scf.for, scf.if and scf.while}}
  func.func @f(%v: vector<16x16xf32>) -> vector<16x16xf32> {
    cf.br ^next(%v : vector<16x16xf32>)
  ^next(%w: vector<16x16xf32>):
    return %w : vector<16x16xf32>
  }
}

// -----

gpu.module @spaces_that_are_no_numbers {
  gpu.func @k(%a: memref<16xi16, #gpu.address_space<private>>) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1> : vector<16xi16>
    // expected-error @below {{'vector.store' op has memory in space #gpu.address_space<private>, expected global or shared memory}}
    vector.store %v, %a[%c0] : memref<16xi16, #gpu.address_space<private>>, vector<16xi16>
    gpu.return
  }
}

// -----

gpu.module @spaces_of_others {
  gpu.func @k(%a: memref<16xi16, "host">) kernel {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1> : vector<16xi16>
    // expected-error @below {{'vector.store' op has memory in space "host", expected global or shared memory}}
    vector.store %v, %a[%c0] : memref<16xi16, "host">, vector<16xi16>
    gpu.return
  }
}
