// RUN: xetile-opt %s --convert-xetile-to-vector --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @map_on_a_tile(%A: memref<64x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op has a tile with a wg_map: expected subgroup-level code, run xetile-wg-to-sg before}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16>
      -> !xetile.tile<16x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [8, 16]>>>
  return
}

// -----

func.func @map_on_a_vector(%v: vector<16x16xf16>) {
  // expected-error @+1 {{'xetile.tile_transpose' op has a wg_map: expected subgroup-level code, run xetile-wg-to-sg before}}
  %t = xetile.tile_transpose %v, [1, 0] {wg_map = #xetile.wg_map<sg_layout = [2, 1], sg_data = [8, 16]>} : vector<16x16xf16> -> vector<16x16xf16>
  return
}

// -----

func.func @conv_layout(%v: vector<16x16xf16>) {
  // expected-error @+1 {{'xetile.tile_conv_layout' op has a wg_map: expected subgroup-level code, run xetile-wg-to-sg before}}
  %t = xetile.tile_conv_layout %v {wg_map = #xetile.wg_map<sg_layout = [2, 1], sg_data = [8, 16]>} : vector<16x16xf16>
  return
}

// -----

func.func @tf32(%a: vector<8x8xtf32>, %b: vector<8x16xtf32>) {
  // expected-error @+1 {{'xetile.tile_mma' op has elements of type 'tf32', which the host has no arithmetic for; expected floats of IEEE's formats, bf16 or integers without a sign in their type}}
  %d = xetile.tile_mma %a, %b : vector<8x8xtf32>, vector<8x16xtf32> -> vector<8x16xf32>
  return
}

// -----

func.func @unsigned(%a: vector<8x32xui8>, %b: vector<32x16xui8>) {
  // expected-error @+1 {{'xetile.tile_mma' op has elements of type 'ui8', which the host has no arithmetic for; expected floats of IEEE's formats, bf16 or integers without a sign in their type}}
  %d = xetile.tile_mma %a, %b : vector<8x32xui8>, vector<32x16xui8> -> vector<8x16xi32>
  return
}

// -----

func.func @unknown_user(%t: !xetile.tile<8x16xf16>) {
  // expected-error @+1 {{'test.use' op has no rule for its tiles; expected xetile operations, scf.for, scf.if, scf.while, scf.index_switch, func.call or func.return}}
  "test.use"(%t) : (!xetile.tile<8x16xf16>) -> ()
  return
}

// -----

func.func @layout_map(%A: memref<64x64xf16, affine_map<(d0, d1) -> (d1, d0)>>) {
  // expected-error @+1 {{'xetile.init_tile' op has a matrix whose layout is not strided: 'memref<64x64xf16, affine_map<(d0, d1) -> (d1, d0)>>'; run normalize-memrefs before, or write it as a strided layout}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, affine_map<(d0, d1) -> (d1, d0)>> -> !xetile.tile<8x16xf16, #xetile.tile_attr<order = [0, 1]>>
  return
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has a tile as argument of a block and no rule for it; expected tiles in scf.for, scf.while or arguments of func.func}}
  gpu.func @tile_of_a_kernel(%t: !xetile.tile<8x16xf32>) {
    xetile.prefetch_tile %t locality<3> : !xetile.tile<8x16xf32>
    gpu.return
  }
}
