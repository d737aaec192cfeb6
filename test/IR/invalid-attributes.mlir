// RUN: xetile-opt %s --split-input-file --verify-diagnostics

// tile_attr_c2
// expected-error @+1 {{expected inner_blocks to be two positive numbers, rows and columns, got [16]}}
#attr = #xetile.tile_attr<inner_blocks = [16]>

// -----

// tile_attr_c2
// expected-error @+1 {{expected inner_blocks to be two positive numbers, rows and columns, got [16, 0]}}
#attr = #xetile.tile_attr<inner_blocks = [16, 0]>

// -----

// tile_attr_c2
// expected-error @+1 {{expected inner_blocks to be two positive numbers, rows and columns, got [-8, 16]}}
#attr = #xetile.tile_attr<inner_blocks = [-8, 16]>

// -----

// tile_attr_c3
// expected-error @+1 {{expected neither order, inner_blocks nor memory_space = slm with scatter, whose elements have global addresses of their own}}
#attr = #xetile.tile_attr<order = [1, 0], scatter = true>

// -----

// tile_attr_c3
// expected-error @+1 {{expected neither order, inner_blocks nor memory_space = slm with scatter, whose elements have global addresses of their own}}
#attr = #xetile.tile_attr<inner_blocks = [1, 16], scatter = true>

// -----

// tile_attr_c3
// expected-error @+1 {{expected neither order, inner_blocks nor memory_space = slm with scatter, whose elements have global addresses of their own}}
#attr = #xetile.tile_attr<memory_space = slm, scatter = true>

// -----

// expected-error @+1 {{expected memory_space to be global or slm, got 'local'}}
#attr = #xetile.tile_attr<memory_space = local>

// -----

// expected-error @+1 {{expected scatter to be true or false, got 'yes'}}
#attr = #xetile.tile_attr<scatter = yes>

// -----

// expected-error @+1 {{expected '['}}
#attr = #xetile.tile_attr<inner_blocks = 16>

// -----

// expected-error @+1 {{integer value too large}}
#attr = #xetile.tile_attr<inner_blocks = [99999999999999999999, 1]>

// -----

// expected-error @+1 {{expected valid keyword}}
#attr = #xetile.tile_attr<7>

// -----

// tile_c5
// expected-error @+1 {{expected inner_blocks to divide the tile in each dimension, got 24 for 64 elements in dimension 0}}
func.func private @tile_c5(!xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [24, 16]>>)

// -----

// tile_c5
// expected-error @+1 {{expected inner_blocks to divide sg_data in each dimension, got 32 for 16 elements in dimension 1}}
func.func private @tile_c5_piece(!xetile.tile<64x32xf16,
    #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 16]>, inner_blocks = [16, 32]>>)

// -----

func.func private @tile_garbage(
    // expected-error @+1 {{expected '>'}}
    !xetile.tile<64x32xf16 garbage>)

// -----

// expected-error @+1 {{invalid kind of attribute specified}}
func.func private @tile_wrong_attribute(!xetile.tile<64x32xf16, #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 32]>>)

// -----

// wg_map_c3
// expected-error @+1 {{expected fewer than 2^31 subgroups, got sg_layout = [1099511627776, 1099511627776]}}
#map = #xetile.wg_map<sg_layout = [1099511627776, 1099511627776], sg_data = [1, 1]>

// -----

// tile_c6
// expected-error @+1 {{expected a tile of fewer than 2^31 elements, got 4611686018427387904x32}}
func.func private @huge_tile() -> !xetile.tile<4611686018427387904x32xbf16>

// -----

// tile_c6: no more than that, even where the product is small again after an overflow.
// expected-error @+1 {{expected a tile of fewer than 2^31 elements, got 65536x32768}}
func.func private @just_too_large() -> !xetile.tile<65536x32768xi8>

// -----

func.func @huge_vector(%a: vector<4611686018427387904x4xf16>, %b: vector<4x16xf16>) {
  // expected-error @+1 {{'xetile.tile_mma' op operand #0 must be fixed-length vector of any type values of ranks 2/4 with fewer than 2^31 elements, but got 'vector<4611686018427387904x4xf16>'}}
  %d = xetile.tile_mma %a, %b : vector<4611686018427387904x4xf16>, vector<4x16xf16> -> vector<4611686018427387904x16xf32>
  return
}
