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
