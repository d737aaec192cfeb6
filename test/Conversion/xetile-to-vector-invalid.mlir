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

func.func @unsigned(%a: vector<8x32xui8>) {
  // expected-error @+1 {{'xetile.tile_transpose' op has elements of type 'ui8', which the host has no arithmetic for; expected floats of IEEE's formats, bf16 or integers without a sign in their type}}
  %d = xetile.tile_transpose %a, [1, 0] : vector<8x32xui8> -> vector<32x8xui8>
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

// -----

// Operands that are constants are as well known as what stands in the operation.
func.func @constant_stride(%address: i64) -> vector<8x16xf16> {
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  // expected-error @+1 {{'xetile.init_tile' op expected stride 1 in dimension 1, the fastest-changing one of a row-major tile, got 1024; order = [0, 1] describes the other layout}}
  %t = xetile.init_tile %address[0, 0], [%c1024, %c1024], [%c1, %c1024] : i64 -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}

// -----

func.func @constant_stride_of_columns(%A: memref<?x?xf16>) -> vector<8x16xf16> {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-error @+1 {{expected stride 1 in dimension 0, the fastest-changing one of a column-major tile, got 64; order = [1, 0] describes the other layout}}
  %t = xetile.init_tile %A[0, 0], [%c64, %c64], [%c64, %c1] : memref<?x?xf16> -> !xetile.tile<8x16xf16, #xetile.tile_attr<order = [0, 1]>>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16, #xetile.tile_attr<order = [0, 1]>> -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}

// -----

func.func @constant_sizes(%address: i64) -> vector<8x16xf16> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-error @+1 {{expected base sizes to be positive, got 0}}
  %t = xetile.init_tile %address[0, 0], [%c64, %c0], [%c64, 1] : i64 -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}

// -----

func.func @constant_pitch(%address: i64) -> vector<8x16xf16> {
  %negative = arith.constant -64 : index
  // expected-error @+1 {{expected base strides to be positive, got -64}}
  %t = xetile.init_tile %address[0, 0], [64, 64], [%negative, 1] : i64 -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}
