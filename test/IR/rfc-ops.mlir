// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -

// The examples of the XeTile RFC's first table and text, in this dialect's grammar. Printed, generic and bytecode forms
// give the same module again.

#columns = #xetile.tile_attr<order = [0, 1]>

func.func @init_tile(%base: memref<128x128xbf16>, %dynamic: memref<?x?xbf16>, %address: i64,
    %column_major: memref<128x128xbf16, affine_map<(d0, d1) -> (d1, d0)>>,
    %o0: index, %o1: index, %rows: index, %columns: index, %pitch: index) {
  %0 = xetile.init_tile %base[%o0, %o1] : memref<128x128xbf16> -> !xetile.tile<8x16xbf16>
  %1 = xetile.init_tile %dynamic[%o0, %o1], [%rows, %columns], [%pitch, 1] : memref<?x?xbf16> -> !xetile.tile<8x16xbf16>
  %2 = xetile.init_tile %address[%o0, %o1], [%rows, %columns], [%pitch, 1] : i64 -> !xetile.tile<8x16xbf16>
  %3 = xetile.init_tile %column_major[%o0, %o1] : memref<128x128xbf16, affine_map<(d0, d1) -> (d1, d0)>>
      -> !xetile.tile<64x32xbf16, #columns>
  return
}

func.func @load_tile(%a: !xetile.tile<64x64xbf16>, %b: !xetile.tile<64x32xbf16, #columns>) {
  %0 = xetile.load_tile %a : !xetile.tile<64x64xbf16> -> vector<64x64xbf16>
  %1 = xetile.load_tile %a {padding = 1.0 : bf16} : !xetile.tile<64x64xbf16> -> vector<64x64xbf16>
  %2 = xetile.load_tile %b : !xetile.tile<64x32xbf16, #columns> -> vector<64x32xbf16>
  return
}

func.func @store_tile(%v: vector<64x64xbf16>, %a: !xetile.tile<64x64xbf16>, %w: vector<64x32xbf16>, %b: !xetile.tile<64x32xbf16, #columns>) {
  xetile.store_tile %v, %a : vector<64x64xbf16>, !xetile.tile<64x64xbf16>
  xetile.store_tile %w, %b : vector<64x32xbf16>, !xetile.tile<64x32xbf16, #columns>
  return
}

func.func @prefetch_tile(%coop: !xetile.tile<8x32xbf16>) {
  xetile.prefetch_tile %coop locality<0> : !xetile.tile<8x32xbf16>
  xetile.prefetch_tile %coop locality<3> : !xetile.tile<8x32xbf16>
  return
}

func.func @tile_mma(%a: vector<64x32xbf16>, %b: vector<32x128xbf16>, %c: vector<64x128xf32>) {
  %0 = xetile.tile_mma %a, %b, %c : vector<64x32xbf16>, vector<32x128xbf16>, vector<64x128xf32> -> vector<64x128xf32>
  %1 = xetile.tile_mma %a, %b : vector<64x32xbf16>, vector<32x128xbf16> -> vector<64x128xf32>
  return
}

func.func @update_tile_offset(%tile: !xetile.tile<64x64xbf16>, %x: index, %y: index) {
  %0 = xetile.update_tile_offset %tile, [%x, %y] : !xetile.tile<64x64xbf16>
  return
}

func.func @atomic_rmw_tile(%value: vector<8x16xbf16>, %tile: !xetile.tile<8x16xbf16>) {
  %0 = xetile.atomic_rmw_tile <addf> %value, %tile : vector<8x16xbf16>, !xetile.tile<8x16xbf16> -> vector<8x16xbf16>
  return
}

func.func @vectors(%b: vector<64x32xf32>, %row: vector<1x32xf32>) {
  %0 = xetile.tile_transpose %b, [1, 0] : vector<64x32xf32> -> vector<32x64xf32>
  %1 = xetile.tile_reduce <add> %b, [1] : vector<64x32xf32> -> vector<64x1xf32>
  %2 = xetile.tile_broadcast %row, [0] : vector<1x32xf32> -> vector<64x32xf32>
  return
}
