// RUN: xetile-opt %s --split-input-file --verify-diagnostics

// The forms of init_tile that the RFC's appendix 1 calls incorrect: an order that is not that of the memref.

func.func @column_major_memref_explicit_rows(%0: memref<1024x1024xf16, affine_map<(d0, d1) -> (d1, d0)>>) {
  // expected-error @+1 {{'xetile.init_tile' op expected stride 1 in dimension 1, the fastest-changing one of a row-major tile, got 1024; order = [0, 1] describes the other layout}}
  %t = xetile.init_tile %0[0, 0] : memref<1024x1024xf16, affine_map<(d0, d1) -> (d1, d0)>> -> !xetile.tile<64x32xf16, #xetile.tile_attr<order = [1, 0]>>
  return
}

// -----

func.func @column_major_memref_default_order(%0: memref<1024x1024xf16, affine_map<(d0, d1) -> (d1, d0)>>) {
  // expected-error @+1 {{'xetile.init_tile' op expected stride 1 in dimension 1, the fastest-changing one of a row-major tile, got 1024; order = [0, 1] describes the other layout}}
  %t = xetile.init_tile %0[0, 0] : memref<1024x1024xf16, affine_map<(d0, d1) -> (d1, d0)>> -> !xetile.tile<64x32xf16>
  return
}

// -----

func.func @row_major_memref_column_order(%0: memref<1024x1024xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op expected stride 1 in dimension 0, the fastest-changing one of a column-major tile, got 1024; order = [1, 0] describes the other layout}}
  %t = xetile.init_tile %0[0, 0] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1]>>
  return
}
