// RUN: xetile-opt %s --xetile-wg-to-sg --split-input-file --verify-diagnostics

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @unmapped_beside_mapped(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  // expected-error @+1 {{'xetile.init_tile' op has a value of type '!xetile.tile<64x64xf32>' without a wg_map, and none follows from the other maps of the kernel; set wg_map on its tile or tile_mma, or run xetile-infer-wg-map before}}
  %u = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<64x64xf32, #attr>
  return
}

// -----

#four = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
#two = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [32, 64]>>
func.func @different_numbers_of_subgroups(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #four>
  // expected-error @+1 {{'xetile.init_tile' op has wg_map #xetile.wg_map<sg_layout = [2, 1], sg_data = [32, 64]> for 2 subgroups, but the kernel also has #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]> for 4}}
  %u = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #two>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op is launched with workgroups of 128 work-items (known_block_size), but its wg_maps need 4 subgroups of 16 = 64}}
  gpu.func @launch(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
    gpu.return
  }
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @no_rule(%A: memref<64x64xf32>) -> vector<64xf32> {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
  // expected-error @+1 {{'vector.extract' op has no rule to distribute it over subgroups; expected xetile operations, scf.for, scf.if, elementwise operations or constants on workgroup-level values}}
  %row = vector.extract %v[0] : vector<64xf32> from vector<64x64xf32>
  return %row : vector<64xf32>
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [1, 2]>>
func.func @constant_of_different_elements(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<2x2xf32, #attr>
  // expected-error @+1 {{'arith.constant' op cannot be distributed: expected a constant with equal elements}}
  %v = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : vector<2x2xf32>
  xetile.store_tile %v, %t : vector<2x2xf32>, !xetile.tile<2x2xf32, #attr>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>
func.func @no_rule_yet(%t: !xetile.tile<256x32xf16, #attr>) {
  %v = xetile.load_tile %t : !xetile.tile<256x32xf16, #attr> -> vector<256x32xf16>
  // expected-error @+1 {{'xetile.tile_transpose' op has no rule to distribute it over subgroups yet; expected init_tile, update_tile_offset, load_tile, store_tile, prefetch_tile or tile_mma beside workgroup maps}}
  %w = xetile.tile_transpose %v, [1, 0] : vector<256x32xf16> -> vector<32x256xf16>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>, inner_blocks = [8, 16]>
func.func @blocked_tile(%A: memref<256x32xf16>) {
  // expected-error @+1 {{has a tile that has no rule to distribute it yet: '!xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>, inner_blocks = [8, 16]>>'; expected one without scatter and inner_blocks}}
  %t = xetile.init_tile %A[0, 0] : memref<256x32xf16> -> !xetile.tile<256x32xf16, #attr>
  return
}

// -----

// expected-error @+1 {{'func.func' op has argument #0 of type 'vector<256x256xf16>' with the workgroup map #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 256]>, which cannot be distributed: expected a workgroup's tiles and vectors to be made where they are used, by init_tile and load_tile, or to be carried by scf.for}}
func.func @mma_of_arguments(%a: vector<256x256xf16>, %b: vector<256x256xf16>, %c: vector<256x256xf32>) {
  %r = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>}
     : vector<256x256xf16>, vector<256x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has argument #1 of type '!xetile.tile<256x256xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>>' with the workgroup map}}
  gpu.func @tile_argument(%x: index, %t: !xetile.tile<256x256xf16, #attr>) {
    %u = xetile.update_tile_offset %t, [0, %x] : !xetile.tile<256x256xf16, #attr>
    gpu.return
  }
}

// -----

// A block that a branch passes pieces to.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>
func.func @branch(%A: memref<256x256xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<256x256xf16> -> !xetile.tile<256x256xf16, #attr>
  // expected-error @+1 {{'cf.br' op has no rule to distribute it over subgroups}}
  cf.br ^next(%t : !xetile.tile<256x256xf16, #attr>)
^next(%u: !xetile.tile<256x256xf16, #attr>):
  xetile.prefetch_tile %u locality<3> : !xetile.tile<256x256xf16, #attr>
  return
}

// -----

// expected-error @+1 {{'func.func' op has a workgroup's tile in its signature, '!xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>>', which cannot be distributed; expected memrefs or addresses}}
func.func private @declaration(!xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>>)

// -----

// Two billion pieces would be two billion operations.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [1, 32]>>
func.func @too_many_pieces(%A: memref<16777216x32xf16>) {
  // expected-error @+1 {{wg_map #xetile.wg_map<sg_layout = [1, 1], sg_data = [1, 32]> gives each subgroup 16777216 pieces of '!xetile.tile<16777216x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [1, 32]>>>'; expected at most 1024: make sg_data or sg_layout larger, or the tile smaller}}
  %t = xetile.init_tile %A[0, 0] : memref<16777216x32xf16> -> !xetile.tile<16777216x32xf16, #attr>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<16777216x32xf16, #attr>
  return
}

// -----

// Elementwise operations take no map; one that is written on them would be ignored.
func.func @map_on_an_elementwise_operation(%v: vector<64x64xf32>) -> vector<64x64xf32> {
  // expected-error @+1 {{'arith.addf' op has the workgroup map "wg_map" = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>, which only operations of XeTile take}}
  %w = arith.addf %v, %v {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>} : vector<64x64xf32>
  return %w : vector<64x64xf32>
}
