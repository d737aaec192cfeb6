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
  // expected-error @+1 {{'xetile.tile_mma' op needs 45056 bytes of registers per subgroup: 32768 of the result, 4096 of a, 8192 of b; pvc has 16384; choose a smaller subgroup tile or k step, or give the tile_mma operands that it can load in slices along k: load_tiles of the same block, used only here, with no write to memory between}}
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

// -----

// Even the thinnest slices of k do not fit beside the result.
func.func @result_fills_the_registers(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>) {
  %ta = xetile.init_tile %A[0, 0] : memref<1024x1024xf16> -> !xetile.tile<64x256xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<1024x1024xf16> -> !xetile.tile<256x64xf16>
  %a = xetile.load_tile %ta : !xetile.tile<64x256xf16> -> vector<64x256xf16>
  %b = xetile.load_tile %tb : !xetile.tile<256x64xf16> -> vector<256x64xf16>
  // expected-error @+1 {{'xetile.tile_mma' op needs 20480 bytes of registers per subgroup: 16384 of the result, 2048 of a (a slice of k), 2048 of b (a slice of k); pvc has 16384; choose a smaller subgroup tile}}
  %d = xetile.tile_mma %a, %b : vector<64x256xf16>, vector<256x64xf16> -> vector<64x64xf32>
  return
}

// -----

// b stays whole: what is stored between might change its memory.
func.func @store_between(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>) {
  %ta = xetile.init_tile %A[0, 0] : memref<1024x1024xf16> -> !xetile.tile<32x256xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<1024x1024xf16> -> !xetile.tile<256x64xf16>
  %tc = xetile.init_tile %C[0, 0] : memref<1024x1024xf32> -> !xetile.tile<32x64xf32>
  %zero = arith.constant dense<0.0> : vector<32x64xf32>
  %b = xetile.load_tile %tb : !xetile.tile<256x64xf16> -> vector<256x64xf16>
  xetile.store_tile %zero, %tc : vector<32x64xf32>, !xetile.tile<32x64xf32>
  %a = xetile.load_tile %ta : !xetile.tile<32x256xf16> -> vector<32x256xf16>
  // expected-error @+1 {{'xetile.tile_mma' op needs 41984 bytes of registers per subgroup: 8192 of the result, 1024 of a (a slice of k), 32768 of b; pvc has 16384; choose a smaller subgroup tile or k step, or}}
  %d = xetile.tile_mma %a, %b : vector<32x256xf16>, vector<256x64xf16> -> vector<32x64xf32>
  return
}

// -----

// So does an operand that another operation uses.
func.func @two_uses(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>) {
  %ta = xetile.init_tile %A[0, 0] : memref<1024x1024xf16> -> !xetile.tile<32x256xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<1024x1024xf16> -> !xetile.tile<256x64xf16>
  %a = xetile.load_tile %ta : !xetile.tile<32x256xf16> -> vector<32x256xf16>
  %b = xetile.load_tile %tb : !xetile.tile<256x64xf16> -> vector<256x64xf16>
  // expected-error @+1 {{16384 of a, 2048 of b (a slice of k)}}
  %d = xetile.tile_mma %a, %b : vector<32x256xf16>, vector<256x64xf16> -> vector<32x64xf32>
  xetile.store_tile %a, %ta : vector<32x256xf16>, !xetile.tile<32x256xf16>
  return
}

// -----

func.func @load_of_more_than_the_registers(%A: memref<16777216x32xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<16777216x32xf32> -> !xetile.tile<8388608x32xf32>
  // expected-error @+1 {{'xetile.load_tile' op needs 1073741824 bytes of registers for a value of type 'vector<8388608x32xf32>'; pvc has 16384 per subgroup; choose a smaller subgroup tile}}
  %v = xetile.load_tile %t : !xetile.tile<8388608x32xf32> -> vector<8388608x32xf32>
  return
}

// -----

func.func @store_of_more_than_the_registers(%A: memref<16777216x32xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<16777216x32xf32> -> !xetile.tile<8388608x32xf32>
  %v = arith.constant dense<1.0> : vector<8388608x32xf32>
  // expected-error @+1 {{'xetile.store_tile' op needs 1073741824 bytes of registers for a value of type 'vector<8388608x32xf32>'}}
  xetile.store_tile %v, %t : vector<8388608x32xf32>, !xetile.tile<8388608x32xf32>
  return
}

// -----

func.func @huge_prefetch(%m: memref<1024x1024xbf16>) {
  %t = xetile.init_tile %m[0, 0] : memref<1024x1024xbf16> -> !xetile.tile<16777216x32xbf16>
  // expected-error @+1 {{'xetile.prefetch_tile' op has no 2D block message for '!xetile.tile<16777216x32xbf16>': shape[0] of a prefetch is 16777216, expected a power of two from 1 to 262144; use more subgroups or a smaller tile}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<16777216x32xbf16>
  return
}

// -----

// expected-error @+1 {{'func.func' op has argument #0 of type 'vector<16x16xf16>', which has no rule to cut it into hardware blocks; expected vectors to be loaded where they are used, or to be carried by scf.for}}
func.func @arguments(%a: vector<16x16xf16>, %b: vector<16x16xf16>) {
  %d = xetile.tile_mma %a, %b : vector<16x16xf16>, vector<16x16xf16> -> vector<16x16xf32>
  return
}

// -----

func.func @unused_moved_tile(%t: !xetile.tile<8x16xf32>, %i: index) {
  // expected-error @+1 {{'xetile.update_tile_offset' op has a tile whose init_tile is not visible}}
  %u = xetile.update_tile_offset %t, [0, %i] : !xetile.tile<8x16xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op has a tile in its signature, '!xetile.tile<8x16xf32>', whose init_tile is not visible; expected memrefs or addresses}}
func.func private @declaration(!xetile.tile<8x16xf32>)

// -----

// Elements that no lane of a result holds.
func.func @planner_element(%A: memref<64x64xf64>, %B: memref<64x64xf64>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf64> -> !xetile.tile<8x16xf64>
  // expected-error @+1 {{'xetile.load_tile' op has no 2D block message for '!xetile.tile<8x16xf64>': element size of C is 64, expected 8, 16 or 32 bits}}
  %v = xetile.load_tile %t : !xetile.tile<8x16xf64> -> vector<8x16xf64>
  %u = xetile.init_tile %B[0, 0] : memref<64x64xf64> -> !xetile.tile<8x16xf64>
  xetile.store_tile %v, %u : vector<8x16xf64>, !xetile.tile<8x16xf64>
  return
}

// -----

// A store has messages, too.
func.func @planner_store(%A: memref<64x64xf64>) {
  %v = arith.constant dense<0.0> : vector<8x16xf64>
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf64> -> !xetile.tile<8x16xf64>
  // expected-error @+1 {{'xetile.store_tile' op has no 2D block message for '!xetile.tile<8x16xf64>': element size of C is 64, expected 8, 16 or 32 bits}}
  xetile.store_tile %v, %t : vector<8x16xf64>, !xetile.tile<8x16xf64>
  return
}

// -----

func.func @planner_prefetch_narrow(%A: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<8x1xf16>
  // expected-error @+1 {{'xetile.prefetch_tile' op has no 2D block message for '!xetile.tile<8x1xf16>': width of a 16-bit 2D block prefetch is 1 elements, expected 16}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<8x1xf16>
  return
}

// -----

func.func @planner_prefetch_bound(%A: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<65536x32xf16>
  // expected-error @+1 {{65536x32 elements take 1 times 2048 messages, expected at most 1024 in all; use more subgroups}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<65536x32xf16>
  return
}

// -----

// A message of 32-bit elements has 16 columns, a block of 8-bit operands 32.
func.func @planner_converted(%A: memref<64x64xi32>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) {
  %ta = xetile.init_tile %A[0, 0] : memref<64x64xi32> -> !xetile.tile<8x32xi32>
  // expected-error @+1 {{'xetile.load_tile' op has messages of 8x16 elements of 32 bits for '!xetile.tile<8x32xi32>', which do not fit the blocks of 8x32 that its vector is cut into}}
  %wide = xetile.load_tile %ta : !xetile.tile<8x32xi32> -> vector<8x32xi32>
  %a = arith.trunci %wide : vector<8x32xi32> to vector<8x32xi8>
  %tb = xetile.init_tile %B[0, 0] : memref<64x64xi8> -> !xetile.tile<32x16xi8>
  %b = xetile.load_tile %tb : !xetile.tile<32x16xi8> -> vector<32x16xi8>
  %d = xetile.tile_mma %a, %b : vector<8x32xi8>, vector<32x16xi8> -> vector<8x16xi32>
  %tc = xetile.init_tile %C[0, 0] : memref<64x64xi32> -> !xetile.tile<8x16xi32>
  xetile.store_tile %d, %tc : vector<8x16xi32>, !xetile.tile<8x16xi32>
  return
}

// -----

// Slices of k fit the registers, all of them no program.
func.func @endless_k(%A: memref<1048576x1048576xf16>, %B: memref<1048576x1024xf16>) {
  %ta = xetile.init_tile %A[0, 0] : memref<1048576x1048576xf16> -> !xetile.tile<32x1048576xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<1048576x1024xf16> -> !xetile.tile<1048576x64xf16>
  %a = xetile.load_tile %ta : !xetile.tile<32x1048576xf16> -> vector<32x1048576xf16>
  %b = xetile.load_tile %tb : !xetile.tile<1048576x64xf16> -> vector<1048576x64xf16>
  // expected-error @+1 {{'xetile.tile_mma' op needs 1048576 dpas for k = 1048576; expected at most 4096: choose a smaller k step, in a loop}}
  %d = xetile.tile_mma %a, %b : vector<32x1048576xf16>, vector<1048576x64xf16> -> vector<32x64xf32>
  return
}
