// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// stage_in_slm_c1: not a load.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      // expected-note @below {{target op}}
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>>
      %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x64xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.init_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected xetile.load_tile, got xetile.init_tile}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c2: one buffer cannot be read and filled at once.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>>
      %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x64xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{buffers = 1: expected 0 to stage nothing, or 2 to 8, one of which is read while the next one is filled: the nearest is 2}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c2: more than there are.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>>
      %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x64xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 9 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{buffers = 9: expected 0 to stage nothing, or 2 to 8}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c2: negative.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>>
      %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x64xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant -1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{buffers = -1: expected at least 0}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c2: no chip.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>>
      %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x64xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "gt2" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{unknown chip 'gt2'}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c3: the same tile in each step.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %c0] : memref<64x2048xf16> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>>
      // expected-note @below {{target op}}
      %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x64xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot stage this load: it does not move with the loop}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c3: shared memory already.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    %s = memref.alloca() : memref<64x2048xf16, 3>
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %s[0, %k] : memref<64x2048xf16, 3> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a, memory_space = slm>>
      // expected-note @below {{target op}}
      %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a, memory_space = slm>> -> vector<64x64xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot stage this load: its tile is in shared local memory already}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c4: no map.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x64xf16>
      // expected-note @below {{target op}}
      %v = xetile.load_tile %t : !xetile.tile<64x64xf16> -> vector<64x64xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot stage this load: its tile has no wg_map; run xetile-infer-wg-map first}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c5: columns that are no blocks.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 20]>
gpu.module @m {
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x40xf16, #xetile.tile_attr<wg_map = #a>>
      // expected-note @below {{target op}}
      %v = xetile.load_tile %t : !xetile.tile<64x40xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x40xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{its tile of 64 x 40 elements, of which a subgroup reads 32 x 20, is no whole number of the matrix unit's blocks of 8 x 16 elements that 4 subgroups can share evenly; change the tile or the subgroup layout}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c6: more than the device has.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 256]>
gpu.module @m {
  // expected-note @below {{kernel}}
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    %own = memref.alloca() : memref<16xf32, 3>
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x512xf16, #xetile.tile_attr<wg_map = #a>>
      %v = xetile.load_tile %t : !xetile.tile<64x512xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x512xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{buffers = 2: a step's tiles need 65536 bytes, 2 x 65536 = 131072 and 64 of the kernel's own, more than the 131072 bytes of shared local memory of a workgroup on pvc; two buffers need tiles of at most 65504 bytes a step}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// stage_in_slm_c6: fewer buffers would fit.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 128]>
gpu.module @m {
  // expected-note @below {{kernel}}
  gpu.func @f(%A: memref<64x2048xf16>, %c0: index, %c1: index, %end: index) kernel {
    scf.for %k = %c0 to %end step %c1 {
      %t = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x256xf16, #xetile.tile_attr<wg_map = #a>>
      %v = xetile.load_tile %t : !xetile.tile<64x256xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x256xf16>
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 5 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{5 x 32768 = 163840, more than the 131072 bytes of shared local memory of a workgroup on pvc; the most buffers are 4}}
    transform.xetile.stage_in_slm %ops buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}
