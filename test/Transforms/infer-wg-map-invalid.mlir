// RUN: xetile-opt %s --xetile-infer-wg-map --split-input-file --verify-diagnostics

// One tile cannot have two maps; both places are named.
#a = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
func.func @two_maps_for_a_tile(%A: memref<64x64xf16>) {
  // expected-note @+1 {{the first map is stated here}}
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<64x64xf16, #a>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #a> -> vector<64x64xf16>
  // expected-error @+1 {{'xetile.tile_conv_layout' op needs two workgroup maps for one value of type 'vector<64x64xf16>': #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 64]> and #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>}}
  %w = xetile.tile_conv_layout %v {wg_map = #xetile.wg_map<sg_layout = [1, 4], sg_data = [64, 16]>, source_wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>} : vector<64x64xf16>
  return
}

// -----

// Maps for different numbers of subgroups cannot be brought together.
#four = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>
#two = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [32, 64]>>
func.func @different_numbers_of_subgroups(%A: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<64x64xf16, #four>
  // expected-note @+1 {{produced here}}
  %v = xetile.load_tile %t : !xetile.tile<64x64xf16, #four> -> vector<64x64xf16>
  %u = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<64x64xf16, #two>
  // expected-error @+1 {{'xetile.store_tile' op needs its operand of type 'vector<64x64xf16>' under the workgroup map #xetile.wg_map<sg_layout = [2, 1], sg_data = [32, 64]>, but its producer gives #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 64]>, which is for another number of subgroups}}
  xetile.store_tile %v, %u : vector<64x64xf16>, !xetile.tile<64x64xf16, #two>
  return
}
