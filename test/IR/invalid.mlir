// RUN: xetile-opt %s --split-input-file --verify-diagnostics

// wg_map_c1
// expected-error @+1 {{expected sg_layout to have two elements, rows and columns, got 3}}
#map = #xetile.wg_map<sg_layout = [8, 4, 1], sg_data = [32, 32]>

// -----

// wg_map_c1
// expected-error @+1 {{expected sg_data to have two elements, rows and columns, got 1}}
#map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32]>

// -----

// wg_map_c2
// expected-error @+1 {{expected the elements of sg_layout to be positive, got 0}}
#map = #xetile.wg_map<sg_layout = [8, 0], sg_data = [32, 32]>

// -----

// wg_map_c2
// expected-error @+1 {{expected the elements of sg_data to be positive, got -32}}
#map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [-32, 32]>

// -----

// tile_attr_c1
// expected-error @+1 {{expected order to be [1, 0] (row-major) or [0, 1] (column-major), got [1, 1]}}
#attr = #xetile.tile_attr<order = [1, 1]>

// -----

// expected-error @+1 {{expected wg_map, order, inner_blocks, memory_space or scatter, once each, got 'layout'}}
#attr = #xetile.tile_attr<layout = [1, 0]>

// -----

// expected-error @+1 {{expected wg_map, order, inner_blocks, memory_space or scatter, once each, got 'order'}}
#attr = #xetile.tile_attr<order = [1, 0], order = [1, 0]>

// -----

// tile_c1
// expected-error @+1 {{expected a tile of two dimensions, got 1}}
func.func private @tile_c1_rank(!xetile.tile<64xf16>)

// -----

// tile_c1
// expected-error @+1 {{expected a tile of two dimensions, got 0}}
func.func private @tile_c1_rank_0(!xetile.tile<f16>)

// -----

// tile_c1
// expected-error @+1 {{expected the sizes of a tile to be static and positive, got ?}}
func.func private @tile_c1_dynamic(!xetile.tile<?x32xf16>)

// -----

// tile_c1
// expected-error @+1 {{expected the sizes of a tile to be static and positive, got 0}}
func.func private @tile_c1_zero(!xetile.tile<64x0xf16>)

// -----

// tile_c2
// expected-error @+1 {{expected tile elements of type i8, i16, i32, i64, f16, bf16, tf32, f32 or f64, got 'index'}}
func.func private @tile_c2(!xetile.tile<64x32xindex>)

// -----

// tile_c3
// expected-error @+2 {{expected sg_data to divide the tile in each dimension, got sg_data = 24 for 64 elements in dimension 0}}
func.func private @tile_c3(
    !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [24, 32]>>>)

// -----

// tile_c4
// expected-error @+2 {{expected sg_layout * sg_data to divide the tile or to be a multiple of it, got 3 * 32 = 96 for 256 elements in dimension 1}}
func.func private @tile_c4(
    !xetile.tile<64x256xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 3], sg_data = [32, 32]>>>)

// -----

// tile_c4
// expected-error @+2 {{expected fewer than 2^31 subgroups, got sg_layout = [9223372036854775807, 1]}}
func.func private @wg_map_c3_overflow(
    !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [9223372036854775807, 1], sg_data = [64, 32]>>>)

// -----

func.func @init_tile_c1(%A: memref<64x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op expected 2 offsets, rows and columns, got 3}}
  %t = xetile.init_tile %A[0, 0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c2(%A: memref<64x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op expected a memref with the tile's element type 'bf16', got 'memref<64x64xf16>'}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xbf16>
  return
}

// -----

func.func @init_tile_c3(%A: memref<?x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op expected base shape and strides after the offsets, as in '%base[0, 0], [%rows, %columns], [%pitch, 1]', for a memref of dynamic shape}}
  %t = xetile.init_tile %A[0, 0] : memref<?x64xf16> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c3_address(%address: i64) {
  // expected-error @+1 {{'xetile.init_tile' op expected base shape and strides after the offsets, as in '%base[0, 0], [%rows, %columns], [%pitch, 1]', for an address}}
  %t = xetile.init_tile %address[0, 0] : i64 -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c3_strides(%address: i64) {
  // expected-error @+1 {{'xetile.init_tile' op expected 2 base strides, rows and columns, got 1}}
  %t = xetile.init_tile %address[0, 0], [64, 64], [64] : i64 -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c4(%A: memref<64x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op takes no base shape and strides for a memref of static shape, whose own are used}}
  %t = xetile.init_tile %A[0, 0], [64, 64], [64, 1] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c5(%A: memref<64x64xf16, strided<[1, 64]>>) {
  // expected-error @+1 {{'xetile.init_tile' op expected stride 1 in dimension 1, the fastest-changing one of a row-major tile, got 64; order = [0, 1] describes the other layout}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[1, 64]>> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c5_order(%A: memref<64x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op expected stride 1 in dimension 0, the fastest-changing one of a column-major tile, got 64; order = [1, 0] describes the other layout}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16, #xetile.tile_attr<order = [0, 1]>>
  return
}

// -----

func.func @init_tile_c5_dynamic(%A: memref<64x64xf16, strided<[64, ?]>>) {
  // expected-error @+1 {{'xetile.init_tile' op expected a static stride of 1 in dimension 1, got 'memref<64x64xf16, strided<[64, ?]>>'}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[64, ?]>> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c6(%address: i64) {
  // expected-error @+1 {{'xetile.init_tile' op expected base sizes to be positive, got 0}}
  %t = xetile.init_tile %address[0, 0], [64, 0], [64, 1] : i64 -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_rank(%A: memref<64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op operand #0 must be 2D memref of any type values or 64-bit signless integer, but got 'memref<64xf16>'}}
  %t = xetile.init_tile %A[0, 0] : memref<64xf16> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @update_tile_offset_c1(%t: !xetile.tile<8x16xf16>) {
  // expected-error @+1 {{'xetile.update_tile_offset' op expected 2 deltas, rows and columns, got 1}}
  %u = xetile.update_tile_offset %t, [32] : !xetile.tile<8x16xf16>
  return
}

// -----

func.func @load_tile_c1(%t: !xetile.tile<64x32xf16>) {
  // expected-error @+1 {{'xetile.load_tile' op expected a vector of the tile's shape and element type, 'vector<64x32xf16>', got 'vector<32x64xf16>'}}
  %v = xetile.load_tile %t : !xetile.tile<64x32xf16> -> vector<32x64xf16>
  return
}

// -----

func.func @load_tile_c2(%t: !xetile.tile<64x32xf16>) {
  // expected-error @+1 {{'xetile.load_tile' op expected padding of the element type 'f16', got 'f32'}}
  %v = xetile.load_tile %t {padding = 1.0 : f32} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
  return
}

// -----

func.func @store_tile_c1(%v: vector<64x32xf32>, %t: !xetile.tile<64x32xf16>) {
  // expected-error @+1 {{'xetile.store_tile' op expected a vector of the tile's shape and element type, 'vector<64x32xf16>', got 'vector<64x32xf32>'}}
  xetile.store_tile %v, %t : vector<64x32xf32>, !xetile.tile<64x32xf16>
  return
}

// -----

func.func @prefetch_tile_c1(%t: !xetile.tile<64x32xf16>) {
  // expected-error @+1 {{'xetile.prefetch_tile' op attribute 'locality' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 0 whose maximum value is 3}}
  xetile.prefetch_tile %t locality<4> : !xetile.tile<64x32xf16>
  return
}

// -----

func.func @tile_mma_c1(%a: vector<64x32xf16>, %b: vector<64x128xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op expected as many columns of a as rows of b, got 32 and 64}}
  %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<64x128xf16> -> vector<64x128xf32>
  return
}

// -----

func.func @tile_mma_c2(%a: vector<64x32xf16>, %b: vector<32x128xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op expected a result of shape 64x128 (rows of a, columns of b), got 128x64}}
  %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x128xf16> -> vector<128x64xf32>
  return
}

// -----

func.func @tile_mma_c3(%a: vector<64x32xf16>, %b: vector<32x128xf16>, %c: vector<64x128xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op expected c to have the result's type 'vector<64x128xf32>', got 'vector<64x128xf16>'}}
  %d = xetile.tile_mma %a, %b, %c : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf16> -> vector<64x128xf32>
  return
}

// -----

func.func @tile_mma_c4(%a: vector<64x32xf16>, %b: vector<32x128xbf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op expected element types (f16, f16) -> f32 or f16, (bf16, bf16) -> f32 or bf16, (f32, f32) or (tf32, tf32) -> f32, or (i8, i8) -> i32, got ('f16', 'bf16') -> 'f32'}}
  %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x128xbf16> -> vector<64x128xf32>
  return
}

// -----

func.func @tile_mma_c5(%a: vector<64x32xf16>, %b: vector<32x128xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op wg_map: expected sg_data to divide the tile in each dimension, got sg_data = 48 for 64 elements in dimension 0}}
  %d = xetile.tile_mma %a, %b {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [48, 64]>}
      : vector<64x32xf16>, vector<32x128xf16> -> vector<64x128xf32>
  return
}
