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

// Each of the subgroups would load and add the whole vector.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @vector_of_no_tile(%A: memref<64x64xf32>, %i: index) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<64x64xf32, #attr>
  // expected-error @+1 {{'vector.load' op has a value of type 'vector<64xf32>' without a wg_map in a kernel of 4 subgroups, each of which would do all of it; expected its elements to come from xetile.load_tile, or wg_map at an operation of xetile that it depends on}}
  %v = vector.load %A[%i, %i] : memref<64x64xf32>, vector<64xf32>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @constants_that_nothing_distributes(%A: memref<64x64xf32>, %i: index, %f: f32) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<64x64xf32, #attr>
  // A number is the same in each subgroup.
  %one = vector.broadcast %f : f32 to vector<1xf32>
  %two = arith.addf %one, %one : vector<1xf32>
  %c = arith.constant dense<1.0> : vector<64xf32>
  // expected-error @+1 {{'vector.store' op has a value of type 'vector<64xf32>' without a wg_map in a kernel of 4 subgroups}}
  vector.store %c, %A[%i, %i] : memref<64x64xf32>, vector<64xf32>
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
func.func @no_rule(%A: memref<64x64xf32>, %z: vector<64xf32>) -> vector<64xf32> {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
  // expected-error @+1 {{'vector.multi_reduction' op has no rule to distribute it over subgroups; expected xetile operations, scf.for, scf.if, scf.while, elementwise operations, vector.shape_cast between a row and a column, vector.extract_strided_slice, vector.extract of an element, vector.broadcast of a scalar, masks or constants on workgroup-level values}}
  %row = vector.multi_reduction <add>, %v, %z [0] : vector<64x64xf32> to vector<64xf32>
  return %row : vector<64xf32>
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @row(%A: memref<64x64xf32>) -> vector<64xf32> {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
  // expected-error @+1 {{'vector.extract' op takes a row, or an element at a place that only a run knows, of what is distributed over subgroups; expected a vector.extract_strided_slice, or an element at a known place}}
  %row = vector.extract %v[0] : vector<64xf32> from vector<64x64xf32>
  return %row : vector<64xf32>
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @element_of_one(%A: memref<64x64xf32>) -> f32 {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
  // expected-error @+1 {{'vector.extract' op takes an element of 'vector<64x64xf32>' that some subgroups do not have under #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>; expected a tile_reduce before it, or a map that gives each subgroup all elements}}
  %e = vector.extract %v[0, 0] : f32 from vector<64x64xf32>
  return %e : f32
}

// -----

// Rows 16 to 48 are of subgroups 1 and 2 alone.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>
func.func @cut(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
  // expected-error @+1 {{'vector.extract_strided_slice' op cuts what each subgroup has under #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 32]>; expected offsets and sizes of rows and columns that are multiples of 64 and 32, or a tile_conv_layout before it}}
  %x = vector.extract_strided_slice %v {offsets = [16], sizes = [32], strides = [1]} : vector<64x64xf32> to vector<32x64xf32>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [16, 32]>, inner_blocks = [8, 16]>
func.func @slice_of_blocks(%A: memref<32x32xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<32x32xf16> -> !xetile.tile<32x32xf16, #attr>
  %v = xetile.load_tile %t : !xetile.tile<32x32xf16, #attr> -> vector<4x2x8x16xf16>
  // expected-error @+1 {{'vector.extract_strided_slice' op slices blocks, which belong to one subgroup each; expected a 2D vector, as tile_unpack makes}}
  %x = vector.extract_strided_slice %v {offsets = [0, 0], sizes = [4, 1], strides = [1, 1]} : vector<4x2x8x16xf16> to vector<4x1x8x16xf16>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [1, 2]>>
func.func @constant_that_is_elsewhere(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<2x2xf32, #attr>
  // expected-error @+1 {{'arith.constant' op cannot be distributed: expected dense<..>, got dense_resource<elsewhere> : vector<2x2xf32>}}
  %v = arith.constant dense_resource<elsewhere> : vector<2x2xf32>
  xetile.store_tile %v, %t : vector<2x2xf32>, !xetile.tile<2x2xf32, #attr>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [4, 2], sg_data = [16, 16]>, inner_blocks = [8, 16]>
func.func @reduction_of_blocks(%A: memref<64x32xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x32xf16> -> !xetile.tile<64x32xf16, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x32xf16, #attr> -> vector<8x2x8x16xf16>
  // expected-error @+1 {{'xetile.tile_reduce' op has a value of type 'vector<8x1x8x1xf16>' without a wg_map}}
  %r = xetile.tile_reduce <add> %v, [1, 3] : vector<8x2x8x16xf16> -> vector<8x1x8x1xf16>
  return
}

// -----

// expected-error @+1 {{'func.func' op has argument #0 of type 'vector<256x256xf16>' with the workgroup map #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 256]>, which cannot be distributed: expected a workgroup's tiles and vectors to be made where they are used, by init_tile and load_tile, or to be carried by scf.for or scf.while}}
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

// -----

// A value under two maps where a loop makes it one.
#rows = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>
func.func @regions_disagree(%A: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the first map is stated here}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #rows>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #rows> -> vector<64x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v) -> (vector<64x64xf32>) {
    // expected-error @+1 {{'xetile.tile_transpose' op needs two workgroup maps for one value of type 'vector<64x64xf32>': #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 64]> and #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>; load it once for each, give its users one map, or put a tile_conv_layout between}}
    %y = xetile.tile_transpose %x, [1, 0] {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>} : vector<64x64xf32> -> vector<64x64xf32>
    scf.yield %y : vector<64x64xf32>
  }
  return
}

// -----

// Subgroups that part cannot meet at a barrier.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
#map = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 64]>
func.func @exchange_in_a_divergent_branch(%A: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
  %id = gpu.subgroup_id : index
  %first = arith.cmpi eq, %id, %c0 : index
  // expected-note @+1 {{not all subgroups of a workgroup may run this alike}}
  scf.if %first {
    // expected-error @+1 {{'xetile.tile_conv_layout' op brings elements to other subgroups, which needs a barrier, where not all subgroups may meet; expected it outside of branches and loops that depend on the subgroup, or maps under which each subgroup has the elements it needs}}
    %w = xetile.tile_conv_layout %v {wg_map = #map} : vector<64x64xf32>
  }
  return
}

// -----

// How often a loop runs may depend on the subgroup, too.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @exchange_in_a_divergent_loop(%A: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %id = gpu.thread_id x
  %n = arith.addi %id, %c1 : index
  // expected-note @+1 {{not all subgroups of a workgroup may run this alike}}
  scf.for %i = %c0 to %n step %c1 {
    %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
    // expected-error @+1 {{'xetile.tile_reduce' op brings elements to other subgroups}}
    %w = xetile.tile_reduce <add> %v, [1] : vector<64x64xf32> -> vector<64x1xf32>
  }
  return
}

// -----

// A number that a branch chooses is the subgroup's, too, though each of those that it chooses from is all subgroups' own.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @exchange_in_a_chosen_branch(%A: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %id = gpu.subgroup_id : index
  %first = arith.cmpi eq, %id, %c0 : index
  %n = scf.if %first -> index {
    scf.yield %c0 : index
  } else {
    scf.yield %c1 : index
  }
  // expected-note @+1 {{not all subgroups of a workgroup may run this alike}}
  scf.for %i = %c0 to %n step %c1 {
    %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
    // expected-error @+1 {{'xetile.tile_reduce' op brings elements to other subgroups}}
    %w = xetile.tile_reduce <add> %v, [1] : vector<64x64xf32> -> vector<64x1xf32>
  }
  return
}

// -----

// No part of this fits beside the kernel's own memory.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [31, 64]>>
#map = #xetile.wg_map<sg_layout = [1, 2], sg_data = [62, 1]>
gpu.module @kernels {
  gpu.func @slm_overflow(%A: memref<62x64xf64>) workgroup(%own: memref<1024x16xf64, 3>) kernel {
    %t = xetile.init_tile %A[0, 0] : memref<62x64xf64> -> !xetile.tile<62x64xf64, #attr>
    %v = xetile.load_tile %t : !xetile.tile<62x64xf64, #attr> -> vector<62x64xf64>
    // expected-error @+1 {{'xetile.tile_conv_layout' op needs 1024 bytes of shared local memory to bring elements to other subgroups, expected at most 0 beside the kernel's own}}
    %w = xetile.tile_conv_layout %v {wg_map = #map} : vector<62x64xf64>
    gpu.return
  }
}

// -----

// Each part fits, but there are hundreds of them.
#attr = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [64, 16]>>
#map = #xetile.wg_map<sg_layout = [4, 8], sg_data = [128, 32]>
gpu.module @kernels {
  gpu.func @many_parts(%A: memref<65536x256xf32>) kernel {
    %t = xetile.init_tile %A[0, 0] : memref<65536x256xf32> -> !xetile.tile<65536x256xf32, #attr>
    %v = xetile.load_tile %t : !xetile.tile<65536x256xf32, #attr> -> vector<65536x256xf32>
    // expected-error @+1 {{'xetile.tile_conv_layout' op brings 524288 slices of its vector to and from 131072 bytes of shared local memory in each subgroup, expected at most 16384: make the vector smaller, or choose maps with larger pieces or under which each subgroup has the elements it needs}}
    %w = xetile.tile_conv_layout %v {wg_map = #map} : vector<65536x256xf32>
    gpu.return
  }
}

// -----

// Elements that no tile has.
#map = #xetile.wg_map<sg_layout = [2, 1], sg_data = [32, 64]>
#other = #xetile.wg_map<sg_layout = [1, 2], sg_data = [64, 32]>
func.func @elements_of_four_bits() {
  %v = arith.constant dense<1> : vector<64x64xi4>
  // expected-error @+1 {{'xetile.tile_conv_layout' op moves elements of type 'i4' between subgroups, which shared local memory cannot hold; expected integers of 1, 8, 16, 32 or 64 bits, index, f16, bf16, f32 or f64}}
  %w = xetile.tile_conv_layout %v {wg_map = #other, source_wg_map = #map} : vector<64x64xi4>
  return
}

// -----

#attr = #xetile.tile_attr<wg_map = <sg_layout = [16, 8], sg_data = [8, 8]>>
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has wg_maps for 128 subgroups of 16 = 2048 work-items, but a workgroup has at most 1024; expected an sg_layout of at most 64 subgroups}}
  gpu.func @more_subgroups_than_threads(%A: memref<128x64xf32>) kernel {
    %t = xetile.init_tile %A[0, 0] : memref<128x64xf32> -> !xetile.tile<128x64xf32, #attr>
    gpu.return
  }
}

// -----

// The element type stays.
func.func @conversion_of_elements(%v: vector<64x64xf32>) {
  // expected-error @+1 {{'xetile.tile_conv_layout' op requires the same type for all operands and results}}
  %w = "xetile.tile_conv_layout"(%v) {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>} : (vector<64x64xf32>) -> vector<64x64xf16>
  return
}

// -----

// Both rows of subgroups would add the updates.
#shared = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [1, 32]>, scatter = true>
func.func @updates_of_several_owners(%a: i64, %i: vector<1x32xindex>, %v: vector<1x32xf32>, %m: vector<1x32xi1>) {
  %t = xetile.init_tile %a, %i : i64, vector<1x32xindex> -> !xetile.tile<1x32xf32, #shared>
  // expected-error @+1 {{'xetile.atomic_rmw_scatter' op has a tile of 1 x 32 elements that several subgroups own; expected a wg_map under which each piece has one owner}}
  xetile.atomic_rmw_scatter <addf> %v, %m, %t : vector<1x32xf32>, vector<1x32xi1>, !xetile.tile<1x32xf32, #shared>
  return
}
