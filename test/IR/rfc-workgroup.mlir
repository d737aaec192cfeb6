// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | FileCheck %s
// The examples are for different numbers of subgroups, which one kernel cannot have.
// RUN: not xetile-opt %s --xetile-wg-to-sg 2>&1 | FileCheck %s --check-prefix=SUBGROUPS
// SUBGROUPS: error: 'xetile.tile_broadcast' op has wg_map #xetile.wg_map<sg_layout = [16, 1], sg_data = [16, 256]> for 16 subgroups

// The RFC's workgroup-level examples: wg_map on tiles and on the results of operations on vectors.

#all = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 128]>, order = [0, 1], inner_blocks = [32, 16]>
#map_d = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_reduce = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
#map_broadcast = #xetile.wg_map<sg_layout = [16, 1], sg_data = [16, 256]>
#map_transpose = #xetile.wg_map<sg_layout = [4, 8], sg_data = [32, 64]>
#map_a = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>

// CHECK-DAG: #[[D:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-DAG: #[[REDUCE:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
// CHECK-DAG: #[[BROADCAST:.*]] = #xetile.wg_map<sg_layout = [16, 1], sg_data = [16, 256]>
// CHECK-DAG: #[[TRANSPOSE:.*]] = #xetile.wg_map<sg_layout = [4, 8], sg_data = [32, 64]>
// CHECK-DAG: #[[A:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>
// CHECK-DAG: #[[MAP:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 128]>
// CHECK-DAG: #[[ALL:.*]] = #xetile.tile_attr<wg_map = #[[MAP]], order = [0, 1], inner_blocks = [32, 16]>
// CHECK: -> !xetile.tile<128x128xf16, #[[ALL]]>
func.func @tile(%A: memref<1024x1024xf16, strided<[1, 1024]>>, %m: index) {
  %0 = xetile.init_tile %A[%m, 0] : memref<1024x1024xf16, strided<[1, 1024]>> -> !xetile.tile<128x128xf16, #all>
  return
}

// CHECK: "xetile.tile_mma"(%{{.*}}) <{wg_map = #[[D]]}>
// CHECK: "xetile.tile_reduce"(%{{.*}}) <{kind = #vector.kind<add>, reduction_dims = array<i64: 1>, wg_map = #[[REDUCE]]}>
// CHECK: "xetile.tile_broadcast"(%{{.*}}) <{broadcast_dims = array<i64: 1>, wg_map = #[[BROADCAST]]}>
// CHECK: "xetile.tile_transpose"(%{{.*}}) <{permutation = array<i64: 1, 0>, wg_map = #[[TRANSPOSE]]}>
// CHECK: "xetile.tile_conv_layout"(%{{.*}}) <{source_wg_map = #[[D]], wg_map = #[[A]]}>
// CHECK: "xetile.tile_conv_layout"(%{{.*}}) <{wg_map = #[[A]]}>
func.func @vectors(%a: vector<256x32xbf16>, %b: vector<32x256xbf16>, %c: vector<256x256xf32>, %wide: vector<256x128xf32>,
    %column: vector<256x1xf32>, %tall: vector<512x128xf32>) {
  %0 = xetile.tile_mma %a, %b, %c {wg_map = #map_d} : vector<256x32xbf16>, vector<32x256xbf16>, vector<256x256xf32> -> vector<256x256xf32>
  %1 = xetile.tile_reduce <add> %wide, [1] {wg_map = #map_reduce} : vector<256x128xf32> -> vector<256x1xf32>
  %2 = xetile.tile_broadcast %column, [1] {wg_map = #map_broadcast} : vector<256x1xf32> -> vector<256x256xf32>
  %3 = xetile.tile_transpose %tall, [1, 0] {wg_map = #map_transpose} : vector<512x128xf32> -> vector<128x512xf32>
  %4 = xetile.tile_conv_layout %0 {wg_map = #map_a, source_wg_map = #map_d} : vector<256x256xf32>
  %5 = xetile.tile_conv_layout %0 {wg_map = #map_a} : vector<256x256xf32>
  return
}
