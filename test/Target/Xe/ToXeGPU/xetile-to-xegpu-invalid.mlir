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
  // expected-error @+1 {{'xetile.prefetch_tile' op has a tile whose init_tile is not visible; expected one that reaches it through scf.for, scf.while, scf.if, scf.index_switch and update_tile_offset only}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<8x16xf32>
  return
}

// -----

func.func @not_a_multiple(%a: vector<12x32xf16>, %b: vector<32x24xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op has a value of type 'vector<12x24xf32>', which is not a multiple of the block 4x16 that the hardware takes; choose a subgroup tile that is}}
  %d = xetile.tile_mma %a, %b : vector<12x32xf16>, vector<32x24xf16> -> vector<12x24xf32>
  return
}

// -----

func.func @too_many_registers(%a: vector<64x32xf16>, %b: vector<32x128xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op needs 45056 bytes of registers per subgroup: 32768 of the result, 4096 of a, 8192 of b; pvc has 16384; choose a smaller subgroup tile or k step, or give the tile_mma operands that it can load in slices along k: load_tiles that nothing else than tile_mmas uses, with no write to memory and no barrier between}}
  %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x128xf16> -> vector<64x128xf32>
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
  // expected-error @+1 {{'xetile.prefetch_tile' op has a tile of 16777216 cache lines, expected at most 16384; use more subgroups or a smaller tile}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<16777216x32xbf16>
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

func.func @planner_prefetch_bound(%A: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<65536x32xf16>
  // expected-error @+1 {{has a tile of 65536 cache lines, expected at most 16384; use more subgroups}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<65536x32xf16>
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

// -----

// expected-error @+1 {{'func.func' op has a vector of blocks in its signature, 'vector<2x2x8x16xf32>'; expected 2D vectors, or blocks that are loaded where they are used}}
func.func @blocks_from_outside(%v: vector<2x2x8x16xf32>, %A: memref<64x64xf32>) {
  func.return
}

// -----

func.func @blocks_without_a_rule(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<16x32xf32, #xetile.tile_attr<inner_blocks = [8, 16]>>
  %v = xetile.load_tile %t : !xetile.tile<16x32xf32, #xetile.tile_attr<inner_blocks = [8, 16]>> -> vector<2x2x8x16xf32>
  // expected-error @+1 {{'vector.extract' op has no rule for vectors of blocks; expected xetile operations, scf.for, scf.while, scf.if, scf.index_switch, elementwise operations, constants or tile_unpack before}}
  %row = vector.extract %v[0] : vector<2x8x16xf32> from vector<2x2x8x16xf32>
  return
}

// -----

func.func @other_subgroups(%v: vector<64x64xf32>) {
  // expected-error @+1 {{'xetile.tile_conv_layout' op has a wg_map: expected subgroup-level code, run xetile-wg-to-sg before}}
  %w = xetile.tile_conv_layout %v {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>} : vector<64x64xf32>
  return
}
