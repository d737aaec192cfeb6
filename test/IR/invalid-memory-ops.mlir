// RUN: xetile-opt %s --split-input-file --verify-diagnostics

func.func @init_tile_c7(%A: memref<64x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op expected a memref in the tile's memory space slm, got 'memref<64x64xf16>'}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16, #xetile.tile_attr<memory_space = slm>>
  return
}

// -----

func.func @init_tile_c7_global(%A: memref<64x64xf16, 3>) {
  // expected-error @+1 {{'xetile.init_tile' op expected a memref in the tile's memory space global, got 'memref<64x64xf16, 3>'}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, 3> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c7_private(%A: memref<64x64xf16, #gpu.address_space<private>>) {
  // expected-error @+1 {{'xetile.init_tile' op expected a memref in the tile's memory space global, got 'memref<64x64xf16, #gpu.address_space<private>>', whose memory space tiles cannot be in}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, #gpu.address_space<private>> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_c7_address(%address: i64) {
  // expected-error @+1 {{'xetile.init_tile' op expected an address in the tile's memory space slm, got 'i64'}}
  %t = xetile.init_tile %address[0, 0], [64, 64], [64, 1] : i64 -> !xetile.tile<8x16xf16, #xetile.tile_attr<memory_space = slm>>
  return
}

// -----

func.func @init_tile_c8_offsets(%address: i64) {
  // expected-error @+1 {{'xetile.init_tile' op expected an address and a vector of indices alone, as in '%address, %indices', for a tile with scatter}}
  %t = xetile.init_tile %address[0, 0], [64, 64], [64, 1] : i64 -> !xetile.tile<8x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @init_tile_c8_memref(%A: memref<64x64xf16>, %i: vector<8x16xindex>) {
  // expected-error @+1 {{'xetile.init_tile' op expected an address of type i64 for a tile with scatter, got 'memref<64x64xf16>'}}
  %t = xetile.init_tile %A, %i : memref<64x64xf16>, vector<8x16xindex> -> !xetile.tile<8x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @init_tile_c8_shape(%address: i64, %i: vector<16x8xindex>) {
  // expected-error @+1 {{'xetile.init_tile' op expected indices of the tile's shape, 'vector<8x16xindex>', got 'vector<16x8xindex>'}}
  %t = xetile.init_tile %address, %i : i64, vector<16x8xindex> -> !xetile.tile<8x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @init_tile_c8_indices(%address: i64, %i: vector<8x16xindex>) {
  // expected-error @+1 {{'xetile.init_tile' op takes indices only for a tile with scatter = true, got '!xetile.tile<8x16xf16>'}}
  %t = xetile.init_tile %address, %i : i64, vector<8x16xindex> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_rank_0(%A: memref<f16>) {
  // expected-error @+1 {{'xetile.init_tile' op operand #0 must be 2D memref of any type values or 64-bit signless integer, but got 'memref<f16>'}}
  %t = xetile.init_tile %A[0, 0] : memref<f16> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_rank_3(%A: memref<2x64x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op operand #0 must be 2D memref of any type values or 64-bit signless integer, but got 'memref<2x64x64xf16>'}}
  %t = xetile.init_tile %A[0, 0] : memref<2x64x64xf16> -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @init_tile_i32(%A: i32) {
  // expected-error @+1 {{'xetile.init_tile' op operand #0 must be 2D memref of any type values or 64-bit signless integer, but got 'i32'}}
  %t = xetile.init_tile %A[0, 0], [64, 64], [64, 1] : i32 -> !xetile.tile<8x16xf16>
  return
}

// -----

func.func @update_tile_offset_c2_deltas(%t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>) {
  // expected-error @+1 {{'xetile.update_tile_offset' op expected one vector of type 'vector<1x16xindex>' for a tile with scatter}}
  %u = xetile.update_tile_offset %t, [0, 1] : !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @update_tile_offset_c2_shape(%t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %i: vector<16x1xindex>) {
  // expected-error @+1 {{'xetile.update_tile_offset' op expected a vector of the tile's shape, 'vector<1x16xindex>', got 'vector<16x1xindex>'}}
  %u = xetile.update_tile_offset %t, %i : !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, vector<16x1xindex>
  return
}

// -----

func.func @update_tile_offset_c2_vector(%t: !xetile.tile<1x16xf16>, %i: vector<1x16xindex>) {
  // expected-error @+1 {{'xetile.update_tile_offset' op expected deltas as in '[%rows, %columns]', got a vector for '!xetile.tile<1x16xf16>'}}
  %u = xetile.update_tile_offset %t, %i : !xetile.tile<1x16xf16>, vector<1x16xindex>
  return
}

// -----

func.func @load_tile_c1_blocked(%t: !xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [16, 16]>>) {
  // expected-error @+1 {{'xetile.load_tile' op expected a vector of the tile's shape and element type, 'vector<4x2x16x16xf16>', got 'vector<64x32xf16>'}}
  %v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [16, 16]>> -> vector<64x32xf16>
  return
}

// -----

func.func @load_tile_c2_number(%t: !xetile.tile<64x32xf16>) {
  // expected-error @+1 {{'xetile.load_tile' op expected padding to be a number, got "one" : f16}}
  %v = xetile.load_tile %t {padding = "one" : f16} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
  return
}

// -----

func.func @load_tile_c3(%t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>) {
  // expected-error @+1 {{'xetile.load_tile' op expected a tile without scatter, got '!xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>'; load_gather, store_scatter and atomic_rmw_scatter access scattered tiles}}
  %v = xetile.load_tile %t : !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>> -> vector<1x16xf16>
  return
}

// -----

func.func @store_tile_c2(%v: vector<1x16xf16>, %t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>) {
  // expected-error @+1 {{'xetile.store_tile' op expected a tile without scatter, got '!xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>'; load_gather, store_scatter and atomic_rmw_scatter access scattered tiles}}
  xetile.store_tile %v, %t : vector<1x16xf16>, !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @prefetch_tile_c2(%t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>) {
  // expected-error @+1 {{'xetile.prefetch_tile' op expected a tile without scatter, got '!xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>'; load_gather, store_scatter and atomic_rmw_scatter access scattered tiles}}
  xetile.prefetch_tile %t locality<3> : !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @atomic_rmw_tile_c1(%v: vector<16x8xf32>, %t: !xetile.tile<8x16xf32>) {
  // expected-error @+1 {{'xetile.atomic_rmw_tile' op expected a vector of the tile's shape and element type, 'vector<8x16xf32>', got 'vector<16x8xf32>'}}
  %r = xetile.atomic_rmw_tile <addf> %v, %t : vector<16x8xf32>, !xetile.tile<8x16xf32> -> vector<16x8xf32>
  return
}

// -----

func.func @atomic_rmw_tile_c2(%v: vector<8x16xf32>, %t: !xetile.tile<8x16xf32>) {
  // expected-error @+1 {{'xetile.atomic_rmw_tile' op expected a kind for elements of type 'f32', got addi}}
  %r = xetile.atomic_rmw_tile <addi> %v, %t : vector<8x16xf32>, !xetile.tile<8x16xf32> -> vector<8x16xf32>
  return
}

// -----

func.func @atomic_rmw_tile_c2_float(%v: vector<8x16xi32>, %t: !xetile.tile<8x16xi32>) {
  // expected-error @+1 {{'xetile.atomic_rmw_tile' op expected a kind for elements of type 'i32', got maxnumf}}
  %r = xetile.atomic_rmw_tile <maxnumf> %v, %t : vector<8x16xi32>, !xetile.tile<8x16xi32> -> vector<8x16xi32>
  return
}

// -----

func.func @atomic_rmw_tile_c3(%v: vector<1x16xf16>, %t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>) {
  // expected-error @+1 {{'xetile.atomic_rmw_tile' op expected a tile without scatter, got '!xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>'; load_gather, store_scatter and atomic_rmw_scatter access scattered tiles}}
  %r = xetile.atomic_rmw_tile <addf> %v, %t : vector<1x16xf16>, !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>> -> vector<1x16xf16>
  return
}

// -----

func.func @load_gather_c1(%t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %m: vector<1x16xi1>) {
  // expected-error @+1 {{'xetile.load_gather' op expected a vector of the tile's shape and element type, 'vector<1x16xf16>', got 'vector<1x16xf32>'}}
  %v = xetile.load_gather %t, %m : !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, vector<1x16xi1> -> vector<1x16xf32>
  return
}

// -----

func.func @load_gather_c2(%t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %m: vector<1x16xi1>) {
  // expected-error @+1 {{'xetile.load_gather' op expected padding of the element type 'f16', got 'i64'}}
  %v = xetile.load_gather %t, %m {padding = 0} : !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, vector<1x16xi1> -> vector<1x16xf16>
  return
}

// -----

func.func @load_gather_c3(%t: !xetile.tile<1x16xf16>, %m: vector<1x16xi1>) {
  // expected-error @+1 {{'xetile.load_gather' op expected a tile with scatter = true, got '!xetile.tile<1x16xf16>'}}
  %v = xetile.load_gather %t, %m : !xetile.tile<1x16xf16>, vector<1x16xi1> -> vector<1x16xf16>
  return
}

// -----

func.func @load_gather_c4(%t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %m: vector<1x8xi1>) {
  // expected-error @+1 {{'xetile.load_gather' op expected a mask of the tile's shape, 'vector<1x16xi1>', got 'vector<1x8xi1>'}}
  %v = xetile.load_gather %t, %m : !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, vector<1x8xi1> -> vector<1x16xf16>
  return
}

// -----

func.func @store_scatter_c1(%v: vector<2x8xf16>, %t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %m: vector<1x16xi1>) {
  // expected-error @+1 {{'xetile.store_scatter' op expected a vector of the tile's shape and element type, 'vector<1x16xf16>', got 'vector<2x8xf16>'}}
  xetile.store_scatter %v, %m, %t : vector<2x8xf16>, vector<1x16xi1>, !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @store_scatter_c2(%v: vector<1x16xf16>, %t: !xetile.tile<1x16xf16>, %m: vector<1x16xi1>) {
  // expected-error @+1 {{'xetile.store_scatter' op expected a tile with scatter = true, got '!xetile.tile<1x16xf16>'}}
  xetile.store_scatter %v, %m, %t : vector<1x16xf16>, vector<1x16xi1>, !xetile.tile<1x16xf16>
  return
}

// -----

func.func @store_scatter_c3(%v: vector<1x16xf16>, %t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %m: vector<16x1xi1>) {
  // expected-error @+1 {{'xetile.store_scatter' op expected a mask of the tile's shape, 'vector<1x16xi1>', got 'vector<16x1xi1>'}}
  xetile.store_scatter %v, %m, %t : vector<1x16xf16>, vector<16x1xi1>, !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @atomic_rmw_scatter_c1(%v: vector<2x8xf16>, %t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %m: vector<1x16xi1>) {
  // expected-error @+1 {{'xetile.atomic_rmw_scatter' op expected a vector of the tile's shape and element type, 'vector<1x16xf16>', got 'vector<2x8xf16>'}}
  xetile.atomic_rmw_scatter <addf> %v, %m, %t : vector<2x8xf16>, vector<1x16xi1>, !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @atomic_rmw_scatter_c2(%v: vector<1x16xf16>, %t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %m: vector<1x16xi1>) {
  // expected-error @+1 {{'xetile.atomic_rmw_scatter' op expected a kind for elements of type 'f16', got addi}}
  xetile.atomic_rmw_scatter <addi> %v, %m, %t : vector<1x16xf16>, vector<1x16xi1>, !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>
  return
}

// -----

func.func @atomic_rmw_scatter_c3(%v: vector<1x16xf16>, %t: !xetile.tile<1x16xf16>, %m: vector<1x16xi1>) {
  // expected-error @+1 {{'xetile.atomic_rmw_scatter' op expected a tile with scatter = true, got '!xetile.tile<1x16xf16>'}}
  xetile.atomic_rmw_scatter <addf> %v, %m, %t : vector<1x16xf16>, vector<1x16xi1>, !xetile.tile<1x16xf16>
  return
}

// -----

func.func @atomic_rmw_scatter_c4(%v: vector<1x16xf16>, %t: !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>, %m: vector<16x1xi1>) {
  // expected-error @+1 {{'xetile.atomic_rmw_scatter' op expected a mask of the tile's shape, 'vector<1x16xi1>', got 'vector<16x1xi1>'}}
  xetile.atomic_rmw_scatter <addf> %v, %m, %t : vector<1x16xf16>, vector<16x1xi1>, !xetile.tile<1x16xf16, #xetile.tile_attr<scatter = true>>
  return
}
