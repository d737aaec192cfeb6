// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --split-input-file --verify-diagnostics

gpu.module @kernels [#xevm.target<chip = "acm9000">] {
  gpu.func @unknown_chip(%A: memref<64x64xf32>) {
    %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
    // expected-error @+1 {{'xetile.load_tile' op unknown chip 'acm9000'; known: pvc, bmg, lnl}}
    %v = xetile.load_tile %t : !xetile.tile<8x16xf32> -> vector<8x16xf32>
    gpu.return
  }
}

// -----

func.func @workgroup_map(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32>
      -> !xetile.tile<64x64xf32, #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>>
  // expected-error @+1 {{'xetile.load_tile' op has a tile with a wg_map: expected subgroup-level code, run xetile-wg-to-sg before}}
  %v = xetile.load_tile %t
      : !xetile.tile<64x64xf32, #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>> -> vector<64x64xf32>
  return
}

// -----

func.func @mma_map(%a: vector<64x32xf16>, %b: vector<32x64xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op has a wg_map: expected subgroup-level code, run xetile-wg-to-sg before}}
  %d = xetile.tile_mma %a, %b {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>}
      : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
  return
}

// -----

func.func @column_major(%A: memref<64x64xf16, strided<[1, 64]>>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[1, 64]>>
      -> !xetile.tile<16x16xf16, #xetile.tile_attr<order = [0, 1]>>
  // expected-error @+1 {{'xetile.prefetch_tile' op has a column-major tile (order = [0, 1]), which has no lowering yet; expected row-major}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<16x16xf16, #xetile.tile_attr<order = [0, 1]>>
  return
}

// -----

func.func @padding(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[60, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
  // expected-error @+1 {{'xetile.load_tile' op has padding 1.000000e+00 : f32, which has no lowering yet: 2D block messages give zero out of bounds}}
  %v = xetile.load_tile %t {padding = 1.0 : f32} : !xetile.tile<8x16xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @misaligned_pitch(%A: memref<64x1001xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x1001xf16> -> !xetile.tile<8x16xf16>
  // expected-error @+1 {{'xetile.load_tile' op has a base matrix that 2D block messages cannot take}}
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return
}

// -----

func.func @misaligned_offset(%A: memref<64x64xf16, strided<[128, 1], offset: 8>>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[128, 1], offset: 8>> -> !xetile.tile<8x16xf16>
  // expected-error @+1 {{starts 16 bytes into its buffer}}
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return
}

// -----

func.func @unknown_pitch(%address: i64, %pitch: index) {
  %t = xetile.init_tile %address[0, 0], [64, 64], [%pitch, 1] : i64 -> !xetile.tile<8x16xf16>
  // expected-error @+1 {{'xetile.load_tile' op has a base matrix with a row stride that is not a constant, so that the limits of 2D block messages cannot be checked; expected constants}}
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return
}

// -----

func.func @merged_bases(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %which: i1) {
  %a = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
  // expected-error @+1 {{'xetile.init_tile' op merges with tiles of another matrix; expected all tiles that reach one value to have one base, base shape and base strides}}
  %b = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
  %t = scf.if %which -> !xetile.tile<8x16xf32> {
    scf.yield %a : !xetile.tile<8x16xf32>
  } else {
    scf.yield %b : !xetile.tile<8x16xf32>
  }
  xetile.prefetch_tile %t locality<3> : !xetile.tile<8x16xf32>
  return
}

// -----

func.func @hidden_init(%t: !xetile.tile<8x16xf32>) {
  // expected-error @+1 {{'xetile.prefetch_tile' op has a tile whose init_tile is not visible; expected one that reaches it through scf.for, scf.if and update_tile_offset only}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<8x16xf32>
  return
}

// -----

func.func @two_blocks(%A: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<32x32xf16>
  // expected-error @+1 {{'xetile.load_tile' op has a value that is used with two block shapes, 8x16 and 16x16 (as different operands of tile_mma); load it once for each use}}
  %v = xetile.load_tile %t : !xetile.tile<32x32xf16> -> vector<32x32xf16>
  %d = xetile.tile_mma %v, %v : vector<32x32xf16>, vector<32x32xf16> -> vector<32x32xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op has a value of type 'vector<12x32xf16>', which is not a multiple of the block 8x16 that the hardware takes; choose a subgroup tile that is}}
func.func @not_a_multiple(%a: vector<12x32xf16>, %b: vector<32x16xf16>) {
  %d = xetile.tile_mma %a, %b : vector<12x32xf16>, vector<32x16xf16> -> vector<12x16xf32>
  return
}

// -----

func.func @no_dpas(%a: vector<8x16xf16>, %b: vector<16x16xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op has no lowering for ('f16', 'f16') -> 'f16'; expected (f16, f16) -> f32, (bf16, bf16) -> f32 or (i8, i8) -> i32}}
  %d = xetile.tile_mma %a, %b : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf16>
  return
}

// -----

func.func @too_many_registers(%a: vector<64x32xf16>, %b: vector<32x128xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op needs 45056 bytes of registers per subgroup for a, b and the result; pvc has 16384; choose a smaller subgroup tile or k step}}
  %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x128xf16> -> vector<64x128xf32>
  return
}

// -----

func.func @no_rule(%A: memref<64x64xf32>) -> vector<16xf32> {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf32> -> vector<8x16xf32>
  // expected-error @+1 {{'vector.extract' op has no rule to cut its vectors into hardware blocks; expected xetile operations, scf.for, scf.if, elementwise operations or constants with equal elements}}
  %row = vector.extract %v[0] : vector<16xf32> from vector<8x16xf32>
  return %row : vector<16xf32>
}

// -----

func.func @no_lowering_yet(%v: vector<16x16xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op has no lowering to XeGPU yet; expected init_tile, update_tile_offset, load_tile, store_tile, prefetch_tile or tile_mma}}
  %r = xetile.tile_reduce <add> %v, [1] : vector<16x16xf32> -> vector<16x1xf32>
  return
}

// -----

func.func @shared_local_memory(%A: memref<64x64xf16, 3>) {
  // expected-error @+1 {{'xetile.init_tile' op has a tile that has no lowering to XeGPU yet: '!xetile.tile<16x16xf16, #xetile.tile_attr<memory_space = slm>>'; expected one without scatter and inner_blocks, in global memory}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, 3> -> !xetile.tile<16x16xf16, #xetile.tile_attr<memory_space = slm>>
  return
}

// -----

func.func @blocked_vectors(%a: vector<2x2x8x16xf16>, %b: vector<2x2x16x16xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op has a blocked vector, which has no lowering to XeGPU yet: 'vector<2x2x8x16xf16>'; expected 2D vectors}}
  %d = xetile.tile_mma %a, %b : vector<2x2x8x16xf16>, vector<2x2x16x16xf16> -> vector<2x2x8x16xf32>
  return
}
