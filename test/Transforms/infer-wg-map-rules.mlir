// RUN: xetile-opt %s --xetile-infer-wg-map --split-input-file --verify-diagnostics | FileCheck %s

// The maps of operands that follow from those of results, as in the examples of the XeTile RFC. Each function loads its
// operands, so that the derived maps show on tiles.

// tile_mma: d = [8, 4] x [32, 64] gives a = [32, 32], b = [32, 64], c = [32, 64].
// CHECK-DAG: #[[D:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-DAG: #[[A:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
// CHECK-DAG: #[[ATTR_D:.*]] = #xetile.tile_attr<wg_map = #[[D]]>
// CHECK-DAG: #[[ATTR_A:.*]] = #xetile.tile_attr<wg_map = #[[A]]>
#map_d = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-LABEL: func @mma
func.func @mma(%A: memref<256x32xbf16>, %B: memref<32x256xbf16>, %C: memref<256x256xf32>) {
  // CHECK: memref<256x32xbf16> -> !xetile.tile<256x32xbf16, #[[ATTR_A]]>
  %ta = xetile.init_tile %A[0, 0] : memref<256x32xbf16> -> !xetile.tile<256x32xbf16>
  // CHECK: memref<32x256xbf16> -> !xetile.tile<32x256xbf16, #[[ATTR_D]]>
  %tb = xetile.init_tile %B[0, 0] : memref<32x256xbf16> -> !xetile.tile<32x256xbf16>
  // CHECK: memref<256x256xf32> -> !xetile.tile<256x256xf32, #[[ATTR_D]]>
  %tc = xetile.init_tile %C[0, 0] : memref<256x256xf32> -> !xetile.tile<256x256xf32>
  %a = xetile.load_tile %ta : !xetile.tile<256x32xbf16> -> vector<256x32xbf16>
  %b = xetile.load_tile %tb : !xetile.tile<32x256xbf16> -> vector<32x256xbf16>
  %c = xetile.load_tile %tc : !xetile.tile<256x256xf32> -> vector<256x256xf32>
  %d = xetile.tile_mma %a, %b, %c {wg_map = #map_d} : vector<256x32xbf16>, vector<32x256xbf16>, vector<256x256xf32> -> vector<256x256xf32>
  return
}

// -----

// tile_reduce: [32, 1] x [8, 1] gives [8, 128].
// CHECK-DAG: #[[S:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 128]>
// CHECK-DAG: #[[ATTR_S:.*]] = #xetile.tile_attr<wg_map = #[[S]]>
#map_r = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
// CHECK-LABEL: func @reduce
func.func @reduce(%A: memref<256x128xf32>) {
  // CHECK: -> !xetile.tile<256x128xf32, #[[ATTR_S]]>
  %t = xetile.init_tile %A[0, 0] : memref<256x128xf32> -> !xetile.tile<256x128xf32>
  %v = xetile.load_tile %t : !xetile.tile<256x128xf32> -> vector<256x128xf32>
  %r = xetile.tile_reduce <add> %v, [1] {wg_map = #map_r} : vector<256x128xf32> -> vector<256x1xf32>
  return
}

// -----

// Forward: a map on what is reduced tells that of the result.
// CHECK-DAG: #[[R:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, 128]>>
// CHECK-LABEL: func @reduce_forward
func.func @reduce_forward(%t: !xetile.tile<256x128xf32, #attr>) {
  %v = xetile.load_tile %t : !xetile.tile<256x128xf32, #attr> -> vector<256x128xf32>
  // CHECK: xetile.tile_reduce <add> %{{.*}}, [1] {wg_map = #[[R]]}
  %r = xetile.tile_reduce <add> %v, [1] : vector<256x128xf32> -> vector<256x1xf32>
  return
}

// -----

// A reduction over several subgroups: the operand keeps its map, each subgroup gets its rows of the result.
// CHECK-DAG: #[[R:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 1]>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>
// CHECK-LABEL: func @reduce_across_subgroups
// CHECK-NOT: tile_conv_layout
func.func @reduce_across_subgroups(%t: !xetile.tile<256x128xf32, #attr>) {
  %v = xetile.load_tile %t : !xetile.tile<256x128xf32, #attr> -> vector<256x128xf32>
  // CHECK: xetile.tile_reduce <add> %{{.*}}, [1] {wg_map = #[[R]]}
  %r = xetile.tile_reduce <add> %v, [1] : vector<256x128xf32> -> vector<256x1xf32>
  return
}

// -----

// tile_broadcast: [16, 1] x [16, 256] gives [16, 1].
// CHECK-DAG: #[[B:.*]] = #xetile.wg_map<sg_layout = [16, 1], sg_data = [16, 1]>
// CHECK-DAG: #[[ATTR_B:.*]] = #xetile.tile_attr<wg_map = #[[B]]>
#map = #xetile.wg_map<sg_layout = [16, 1], sg_data = [16, 256]>
// CHECK-LABEL: func @broadcast
func.func @broadcast(%A: memref<256x1xf32>) {
  // CHECK: -> !xetile.tile<256x1xf32, #[[ATTR_B]]>
  %t = xetile.init_tile %A[0, 0] : memref<256x1xf32> -> !xetile.tile<256x1xf32>
  %v = xetile.load_tile %t : !xetile.tile<256x1xf32> -> vector<256x1xf32>
  %r = xetile.tile_broadcast %v, [1] {wg_map = #map} : vector<256x1xf32> -> vector<256x256xf32>
  return
}

// -----

// tile_transpose: [4, 8] x [32, 64] gives [8, 4] x [64, 32], and the reverse, where no map keeps the elements in their
// subgroups.
// CHECK-DAG: #[[T:.*]] = #xetile.wg_map<sg_layout = [4, 8], sg_data = [32, 64]>
// CHECK-DAG: #[[S:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [64, 32]>
// CHECK-DAG: #[[ATTR_S:.*]] = #xetile.tile_attr<wg_map = #[[S]]>
#map = #xetile.wg_map<sg_layout = [4, 8], sg_data = [32, 64]>
// CHECK-LABEL: func @transpose
func.func @transpose(%A: memref<512x128xf32>) {
  // CHECK: -> !xetile.tile<512x128xf32, #[[ATTR_S]]>
  %t = xetile.init_tile %A[0, 0] : memref<512x128xf32> -> !xetile.tile<512x128xf32>
  %v = xetile.load_tile %t : !xetile.tile<512x128xf32> -> vector<512x128xf32>
  // CHECK: xetile.tile_transpose %{{.*}}, [1, 0] {wg_map = #[[T]]}
  %r = xetile.tile_transpose %v, [1, 0] {wg_map = #map} : vector<512x128xf32> -> vector<128x512xf32>
  // CHECK: xetile.tile_transpose %{{.*}}, [1, 0] {wg_map = #[[S]]}
  %back = xetile.tile_transpose %r, [1, 0] : vector<128x512xf32> -> vector<512x128xf32>
  return
}

// -----

// tile_conv_layout: source and result have maps of their own; the second map may be left to the producer.
// CHECK-DAG: #[[B:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-DAG: #[[A:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>
// CHECK-DAG: #[[ATTR_B:.*]] = #xetile.tile_attr<wg_map = #[[B]]>
// CHECK-DAG: #[[ATTR_A:.*]] = #xetile.tile_attr<wg_map = #[[A]]>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_a = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>
// CHECK-LABEL: func @conv_layout
func.func @conv_layout(%A: memref<256x256xf32>) {
  // CHECK: xetile.init_tile {{.*}} -> !xetile.tile<256x256xf32, #[[ATTR_B]]>
  %t = xetile.init_tile %A[0, 0] : memref<256x256xf32> -> !xetile.tile<256x256xf32>
  %v = xetile.load_tile %t : !xetile.tile<256x256xf32> -> vector<256x256xf32>
  %c = xetile.tile_conv_layout %v {wg_map = #map_a, source_wg_map = #map_b} : vector<256x256xf32>
  // CHECK: xetile.init_tile {{.*}} -> !xetile.tile<256x256xf32, #[[ATTR_A]]>
  %o = xetile.init_tile %A[0, 0] : memref<256x256xf32> -> !xetile.tile<256x256xf32>
  xetile.store_tile %c, %o : vector<256x256xf32>, !xetile.tile<256x256xf32>
  return
}

// -----

// The producer's map and source_wg_map must agree.
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_a = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [64, 32]>>
// expected-note @+1 {{the first map is stated here}}
func.func @conv_layout_conflict(%t: !xetile.tile<256x256xf32, #attr>) {
  %v = xetile.load_tile %t : !xetile.tile<256x256xf32, #attr> -> vector<256x256xf32>
  // expected-error @+1 {{'xetile.tile_conv_layout' op needs two workgroup maps for one value of type 'vector<256x256xf32>': #xetile.wg_map<sg_layout = [4, 8], sg_data = [64, 32]> and #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>; load it once for each, give its users one map, or put a tile_conv_layout between}}
  %c = xetile.tile_conv_layout %v {wg_map = #map_a, source_wg_map = #map_b} : vector<256x256xf32>
  return
}

// -----

// Tile, indices, mask and values of scattered accesses are owned alike, and so are those of atomics.
// CHECK-DAG: #[[M:.*]] = #xetile.wg_map<sg_layout = [1, 16], sg_data = [1, 16]>
// CHECK-DAG: #[[ATTR_S:.*]] = #xetile.tile_attr<wg_map = #[[M]], scatter = true>
// CHECK-DAG: #[[ATTR:.*]] = #xetile.tile_attr<wg_map = #[[M]]>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [1, 16], sg_data = [1, 16]>>
#scatter = #xetile.tile_attr<scatter = true>
// CHECK-LABEL: func @accesses
func.func @accesses(%p: i64, %i: vector<1x256xindex>, %m: vector<1x256xi1>, %A: memref<1x256xf32>, %t: !xetile.tile<1x256xf32, #attr>) {
  %v = xetile.load_tile %t : !xetile.tile<1x256xf32, #attr> -> vector<1x256xf32>
  // CHECK: -> !xetile.tile<1x256xf32, #[[ATTR_S]]>
  %s = xetile.init_tile %p, %i : i64, vector<1x256xindex> -> !xetile.tile<1x256xf32, #scatter>
  xetile.store_scatter %v, %m, %s : vector<1x256xf32>, vector<1x256xi1>, !xetile.tile<1x256xf32, #scatter>
  // CHECK: memref<1x256xf32> -> !xetile.tile<1x256xf32, #[[ATTR]]>
  %a = xetile.init_tile %A[0, 0] : memref<1x256xf32> -> !xetile.tile<1x256xf32>
  %old = xetile.atomic_rmw_tile <addf> %v, %a : vector<1x256xf32>, !xetile.tile<1x256xf32> -> vector<1x256xf32>
  return
}
