// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// Distribution has no rule for a change of owners yet, and says so.
// RUN: not xetile-opt %s --xetile-wg-to-sg 2>&1 | FileCheck %s
// CHECK: error: 'xetile.tile_conv_layout' op has no rule to distribute it over subgroups yet
// GENERIC-DAG: #[[BT:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [64, 32]>
// GENERIC-DAG: #[[DERIVED:.*]] = #xetile.wg_map<sg_layout = [4, 8], sg_data = [64, 32]>
// GENERIC-DAG: #[[B:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// GENERIC: "xetile.tile_conv_layout"(%{{.*}}) <{source_wg_map = #[[BT]], wg_map = #[[DERIVED]]}>
// GENERIC: "xetile.tile_transpose"(%{{.*}}) <{permutation = array<i64: 1, 0>, wg_map = #[[B]]}>

// Appendix 2.3: the transpose within a subgroup. The RFC gives bt the map [32, 1] x [64, 32] for 256x32 elements, whose
// four row blocks wrap around: each is shared by eight subgroups, those of one column of b's grid. It is not the map that the
// transpose's rule derives (see the table in docs/xetile.md), so that a tile_conv_layout stands for the change of owners,
// which moves no data between subgroups that own the same block.

#bt = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [64, 32]>>
#map_bt = #xetile.wg_map<sg_layout = [32, 1], sg_data = [64, 32]>
#map_bt_derived = #xetile.wg_map<sg_layout = [4, 8], sg_data = [64, 32]>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>

func.func @transpose(%2: !xetile.tile<256x32xf16, #bt>) -> vector<32x256xf16> {
  %10 = xetile.load_tile %2 : !xetile.tile<256x32xf16, #bt> -> vector<256x32xf16>
  %11 = xetile.tile_conv_layout %10 {wg_map = #map_bt_derived, source_wg_map = #map_bt} : vector<256x32xf16>
  %5 = xetile.tile_transpose %11, [1, 0] {wg_map = #map_b} : vector<256x32xf16> -> vector<32x256xf16>
  return %5 : vector<32x256xf16>
}
