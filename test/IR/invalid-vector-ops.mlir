// RUN: xetile-opt %s --split-input-file --verify-diagnostics

func.func @tile_mma_c1_blocked(%a: vector<8x4x8x8xbf16>, %b: vector<2x8x8x16xbf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op expected as many columns of a as rows of b, got 4 and 2}}
  %d = xetile.tile_mma %a, %b : vector<8x4x8x8xbf16>, vector<2x8x8x16xbf16> -> vector<8x8x8x16xf32>
  return
}

// -----

func.func @tile_mma_c2_blocked(%a: vector<8x4x8x8xbf16>, %b: vector<4x8x8x16xbf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op expected a result of shape 8x8x8x16 (rows of a, columns of b), got 8x8x16x8}}
  %d = xetile.tile_mma %a, %b : vector<8x4x8x8xbf16>, vector<4x8x8x16xbf16> -> vector<8x8x16x8xf32>
  return
}

// -----

func.func @tile_mma_c5_blocked(%a: vector<8x4x8x8xbf16>, %b: vector<4x8x8x16xbf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op wg_map: expected a 2D result, got 'vector<8x8x8x16xf32>'; blocked vectors belong to one subgroup}}
  %d = xetile.tile_mma %a, %b {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [4, 4]>} : vector<8x4x8x8xbf16>, vector<4x8x8x16xbf16> -> vector<8x8x8x16xf32>
  return
}

// -----

func.func @tile_mma_c6_rank(%a: vector<64x32xbf16>, %b: vector<4x8x8x16xbf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op expected a, b and the result to be all 2D or all 4D, got 'vector<64x32xbf16>', 'vector<4x8x8x16xbf16>' and 'vector<8x8x8x16xf32>'}}
  %d = xetile.tile_mma %a, %b : vector<64x32xbf16>, vector<4x8x8x16xbf16> -> vector<8x8x8x16xf32>
  return
}

// -----

func.func @tile_mma_c6_blocks(%a: vector<8x4x8x8xbf16>, %b: vector<4x8x16x16xbf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op expected blocks of a with as many columns as blocks of b have rows, got 8 and 16}}
  %d = xetile.tile_mma %a, %b : vector<8x4x8x8xbf16>, vector<4x8x16x16xbf16> -> vector<8x8x8x16xf32>
  return
}

// -----

func.func @tile_mma_rank_3(%a: vector<2x64x32xf16>, %b: vector<2x32x64xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op operand #0 must be fixed-length vector of any type values of ranks 2/4 with fewer than 2^31 elements, but got 'vector<2x64x32xf16>'}}
  %d = xetile.tile_mma %a, %b : vector<2x64x32xf16>, vector<2x32x64xf16> -> vector<2x64x64xf32>
  return
}

// -----

func.func @tile_mma_scalable(%a: vector<[64]x32xf16>, %b: vector<32x64xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op operand #0 must be fixed-length vector of any type values of ranks 2/4 with fewer than 2^31 elements, but got 'vector<[64]x32xf16>'}}
  %d = xetile.tile_mma %a, %b : vector<[64]x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
  return
}

// -----

func.func @tile_transpose_c1(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_transpose' op expected permutation to be [1, 0] or [0, 1], got [1, 1]}}
  %t = xetile.tile_transpose %v, [1, 1] : vector<64x32xf32> -> vector<32x64xf32>
  return
}

// -----

func.func @tile_transpose_c1_length(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_transpose' op expected permutation to be [1, 0] or [0, 1], got [1, 0, 2]}}
  %t = xetile.tile_transpose %v, [1, 0, 2] : vector<64x32xf32> -> vector<32x64xf32>
  return
}

// -----

func.func @tile_transpose_c1_negative(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_transpose' op expected permutation to be [1, 0] or [0, 1], got [-1, 0]}}
  %t = xetile.tile_transpose %v, [-1, 0] : vector<64x32xf32> -> vector<32x64xf32>
  return
}

// -----

func.func @tile_transpose_c2(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_transpose' op expected a result of type 'vector<32x64xf32>', got 'vector<64x32xf32>'}}
  %t = xetile.tile_transpose %v, [1, 0] : vector<64x32xf32> -> vector<64x32xf32>
  return
}

// -----

func.func @tile_transpose_c3(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_transpose' op wg_map: expected sg_data to divide the tile in each dimension, got sg_data = 64 for 32 elements in dimension 0}}
  %t = xetile.tile_transpose %v, [1, 0] {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 32]>} : vector<64x32xf32> -> vector<32x64xf32>
  return
}

// -----

func.func @tile_transpose_4d(%v: vector<4x2x16x16xf32>) {
  // expected-error @+1 {{'xetile.tile_transpose' op operand #0 must be fixed-length vector of any type values of ranks 2 with fewer than 2^31 elements, but got 'vector<4x2x16x16xf32>'}}
  %t = xetile.tile_transpose %v, [1, 0] : vector<4x2x16x16xf32> -> vector<4x2x16x16xf32>
  return
}

// -----

func.func @tile_reduce_c1_none(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op expected reduction_dims to be dimensions of a 2D vector in increasing order, got []}}
  %r = xetile.tile_reduce <add> %v, [] : vector<64x32xf32> -> vector<64x1xf32>
  return
}

// -----

func.func @tile_reduce_c1_range(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op expected reduction_dims to be dimensions of a 2D vector in increasing order, got [2]}}
  %r = xetile.tile_reduce <add> %v, [2] : vector<64x32xf32> -> vector<64x1xf32>
  return
}

// -----

func.func @tile_reduce_c1_negative(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op expected reduction_dims to be dimensions of a 2D vector in increasing order, got [-1]}}
  %r = xetile.tile_reduce <add> %v, [-1] : vector<64x32xf32> -> vector<64x1xf32>
  return
}

// -----

func.func @tile_reduce_c1_order(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op expected reduction_dims to be dimensions of a 2D vector in increasing order, got [1, 0]}}
  %r = xetile.tile_reduce <add> %v, [1, 0] : vector<64x32xf32> -> vector<64x1xf32>
  return
}

// -----

func.func @tile_reduce_c1_twice(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op expected reduction_dims to be dimensions of a 2D vector in increasing order, got [1, 1]}}
  %r = xetile.tile_reduce <add> %v, [1, 1] : vector<64x32xf32> -> vector<64x1xf32>
  return
}

// -----

func.func @tile_reduce_c2(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op expected a result of type 'vector<64x1xf32>', got 'vector<1x64xf32>'}}
  %r = xetile.tile_reduce <add> %v, [1] : vector<64x32xf32> -> vector<1x64xf32>
  return
}

// -----

func.func @tile_reduce_c3(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op expected a kind for elements of type 'f32', got minsi}}
  %r = xetile.tile_reduce <minsi> %v, [1] : vector<64x32xf32> -> vector<64x1xf32>
  return
}

// -----

func.func @tile_reduce_c3_integer(%v: vector<64x32xi32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op expected a kind for elements of type 'i32', got maximumf}}
  %r = xetile.tile_reduce <maximumf> %v, [1] : vector<64x32xi32> -> vector<64x1xi32>
  return
}

// -----

func.func @tile_reduce_c4(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_reduce' op wg_map: expected sg_data to divide the tile in each dimension, got sg_data = 32 for 1 elements in dimension 1}}
  %r = xetile.tile_reduce <add> %v, [1] {wg_map = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 32]>} : vector<64x32xf32> -> vector<64x1xf32>
  return
}

// -----

func.func @tile_broadcast_c1_none(%v: vector<1x32xf32>) {
  // expected-error @+1 {{'xetile.tile_broadcast' op expected broadcast_dims to be dimensions of a 2D vector in increasing order, got []}}
  %r = xetile.tile_broadcast %v, [] : vector<1x32xf32> -> vector<64x32xf32>
  return
}

// -----

func.func @tile_broadcast_c1_range(%v: vector<1x32xf32>) {
  // expected-error @+1 {{'xetile.tile_broadcast' op expected broadcast_dims to be dimensions of a 2D vector in increasing order, got [2]}}
  %r = xetile.tile_broadcast %v, [2] : vector<1x32xf32> -> vector<64x32xf32>
  return
}

// -----

func.func @tile_broadcast_c1_order(%v: vector<1x32xf32>) {
  // expected-error @+1 {{'xetile.tile_broadcast' op expected broadcast_dims to be dimensions of a 2D vector in increasing order, got [1, 0]}}
  %r = xetile.tile_broadcast %v, [1, 0] : vector<1x32xf32> -> vector<64x32xf32>
  return
}

// -----

func.func @tile_broadcast_c2(%v: vector<1x32xf32>) {
  // expected-error @+1 {{'xetile.tile_broadcast' op expected a vector of size 1 in the broadcast dimension 1, got 'vector<1x32xf32>'}}
  %r = xetile.tile_broadcast %v, [1] : vector<1x32xf32> -> vector<64x32xf32>
  return
}

// -----

func.func @tile_broadcast_c3(%v: vector<1x32xf32>) {
  // expected-error @+1 {{'xetile.tile_broadcast' op expected a result with the vector's rank, element type and sizes in the dimensions that are not broadcast, got 'vector<1x32xf32>' -> 'vector<64x64xf32>'}}
  %r = xetile.tile_broadcast %v, [0] : vector<1x32xf32> -> vector<64x64xf32>
  return
}

// -----

func.func @tile_broadcast_c3_rank(%v: vector<1x32xf32>) {
  // expected-error @+1 {{'xetile.tile_broadcast' op expected a result with the vector's rank, element type and sizes in the dimensions that are not broadcast, got 'vector<1x32xf32>' -> 'vector<4x2x16x16xf32>'}}
  %r = xetile.tile_broadcast %v, [0] : vector<1x32xf32> -> vector<4x2x16x16xf32>
  return
}

// -----

func.func @tile_broadcast_c4(%v: vector<1x32xf32>) {
  // expected-error @+1 {{'xetile.tile_broadcast' op wg_map: expected sg_layout * sg_data to divide the tile or to be a multiple of it, got 3 * 16 = 48 for 64 elements in dimension 0}}
  %r = xetile.tile_broadcast %v, [0] {wg_map = #xetile.wg_map<sg_layout = [3, 1], sg_data = [16, 32]>} : vector<1x32xf32> -> vector<64x32xf32>
  return
}

// -----

func.func @tile_conv_layout_c1(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_conv_layout' op wg_map: expected sg_data to divide the tile in each dimension, got sg_data = 24 for 64 elements in dimension 0}}
  %r = xetile.tile_conv_layout %v {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [24, 32]>} : vector<64x32xf32>
  return
}

// -----

func.func @tile_conv_layout_c1_source(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_conv_layout' op source_wg_map: expected sg_data to divide the tile in each dimension, got sg_data = 24 for 64 elements in dimension 0}}
  %r = xetile.tile_conv_layout %v {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 32]>, source_wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [24, 32]>} : vector<64x32xf32>
  return
}

// -----

func.func @tile_conv_layout_c2(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_conv_layout' op expected wg_map and source_wg_map for the same number of subgroups, got 2 and 4}}
  %r = xetile.tile_conv_layout %v {wg_map = #xetile.wg_map<sg_layout = [2, 1], sg_data = [32, 32]>, source_wg_map = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 32]>} : vector<64x32xf32>
  return
}

// -----

func.func @tile_conv_layout_no_map(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_conv_layout' op requires attribute 'wg_map'}}
  %r = xetile.tile_conv_layout %v : vector<64x32xf32>
  return
}

// -----

func.func @tile_pack_c1(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_pack' op expected inner_blocks to be two positive numbers that divide the rows and columns of 'vector<64x32xf32>', got [24, 16]}}
  %r = xetile.tile_pack %v {inner_blocks = array<i64: 24, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  return
}

// -----

func.func @tile_pack_c1_zero(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_pack' op expected inner_blocks to be two positive numbers that divide the rows and columns of 'vector<64x32xf32>', got [0, 16]}}
  %r = xetile.tile_pack %v {inner_blocks = array<i64: 0, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  return
}

// -----

func.func @tile_pack_c1_negative(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_pack' op expected inner_blocks to be two positive numbers that divide the rows and columns of 'vector<64x32xf32>', got [-16, 16]}}
  %r = xetile.tile_pack %v {inner_blocks = array<i64: -16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  return
}

// -----

func.func @tile_pack_c1_length(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_pack' op expected inner_blocks to be two positive numbers that divide the rows and columns of 'vector<64x32xf32>', got [16]}}
  %r = xetile.tile_pack %v {inner_blocks = array<i64: 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  return
}

// -----

func.func @tile_pack_c2(%v: vector<64x32xf32>) {
  // expected-error @+1 {{'xetile.tile_pack' op expected a result of type 'vector<4x2x16x16xf32>', got 'vector<2x4x16x16xf32>'}}
  %r = xetile.tile_pack %v {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<2x4x16x16xf32>
  return
}

// -----

func.func @tile_unpack_c1(%v: vector<1x2x64x16xf32>) {
  // expected-error @+1 {{'xetile.tile_unpack' op expected inner_blocks to be the last two dimensions of 'vector<1x2x64x16xf32>', got [16, 64]}}
  %r = xetile.tile_unpack %v {inner_blocks = array<i64: 16, 64>} : vector<1x2x64x16xf32> -> vector<64x32xf32>
  return
}

// -----

func.func @tile_unpack_c2(%v: vector<1x2x64x16xf32>) {
  // expected-error @+1 {{'xetile.tile_unpack' op expected a result of type 'vector<64x32xf32>', got 'vector<64x32xbf16>'}}
  %r = xetile.tile_unpack %v {inner_blocks = array<i64: 64, 16>} : vector<1x2x64x16xf32> -> vector<64x32xbf16>
  return
}

// -----

func.func @tile_mma_c7(%a: vector<64x32xbf16>, %b: vector<32x64xbf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op has unsigned_b, which is for bytes, on 'vector<32x64xbf16>'}}
  %d = xetile.tile_mma %a, %b {unsigned_b} : vector<64x32xbf16>, vector<32x64xbf16> -> vector<64x64xf32>
  return
}

// -----

func.func @tile_mma_c4_signs_in_types(%a: vector<64x32xui8>, %b: vector<32x64xui8>) {
  // expected-error @+1 {{or (i8, i8) -> i32, got ('ui8', 'ui8') -> 'i32'}}
  %d = xetile.tile_mma %a, %b : vector<64x32xui8>, vector<32x64xui8> -> vector<64x64xi32>
  return
}
