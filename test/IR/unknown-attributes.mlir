// REQUIRES: cpu
// RUN: xetile-opt %s --split-input-file --verify-diagnostics

// What looks like a property and is none would be ignored: operations refuse it. A name with a dialect's prefix is a note
// of somebody else's and stays.

func.func @transpose_of_the_earlier_rfc(%t: !xetile.tile<16x32xf16>) -> vector<16x32xf16> {
  // expected-error @+1 {{'xetile.load_tile' op has no attribute 'transpose'; expected padding, or a name with a dialect's prefix, as in 'my.note': give the tile order = [0, 1] to view a matrix transposed in memory, or transpose the vector with xetile.tile_transpose}}
  %v = xetile.load_tile %t {transpose = [1, 0]} : !xetile.tile<16x32xf16> -> vector<16x32xf16>
  return %v : vector<16x32xf16>
}

// -----

func.func @padding_of_a_store(%v: vector<16x32xf16>, %t: !xetile.tile<16x32xf16>) {
  // expected-error @+1 {{'xetile.store_tile' op has no attribute 'padding'; expected a name with a dialect's prefix, as in 'my.note': a store drops what is out of bounds; load_tile takes the padding}}
  xetile.store_tile %v, %t {padding = 0.0 : f16} : vector<16x32xf16>, !xetile.tile<16x32xf16>
  return
}

// -----

func.func @map_of_a_load(%t: !xetile.tile<64x64xf16>) -> vector<64x64xf16> {
  // expected-error @+1 {{'xetile.load_tile' op has no attribute 'wg_map'; expected padding, or a name with a dialect's prefix, as in 'my.note': it belongs to the type of the tile, as in !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1]>>}}
  %v = xetile.load_tile %t {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>} : !xetile.tile<64x64xf16> -> vector<64x64xf16>
  return %v : vector<64x64xf16>
}

// -----

func.func @misspelled(%a: vector<64x32xf16>, %b: vector<32x64xf16>) -> vector<64x64xf32> {
  // expected-error @+1 {{'xetile.tile_mma' op has no attribute 'wgmap'; expected unsigned_a, unsigned_b, wg_map, or a name with}}
  %d = xetile.tile_mma %a, %b {wgmap = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>} : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
  return %d : vector<64x64xf32>
}

// -----

func.func @unit_attribute(%A: memref<64x64xf16>) {
  // expected-error @+1 {{'xetile.init_tile' op has no attribute 'boundary_check'; expected static_base_shape, static_base_strides, static_offsets, or a name with}}
  %t = xetile.init_tile %A[0, 0] {boundary_check} : memref<64x64xf16> -> !xetile.tile<16x32xf16>
  return
}

// -----

func.func @generic_syntax(%t: !xetile.tile<16x32xf16>) {
  // expected-error @+1 {{'xetile.prefetch_tile' op has no attribute 'hint'; expected locality, or a name with}}
  "xetile.prefetch_tile"(%t) <{locality = 3 : i32}> {hint = "L1"} : (!xetile.tile<16x32xf16>) -> ()
  return
}

// -----

func.func @properties_dictionary(%t: !xetile.tile<16x32xf16>) -> vector<16x32xf16> {
  // expected-error @+1 {{has no attribute 'transpose'; expected padding, or a name with}}
  %v = "xetile.load_tile"(%t) <{transpose = [1, 0]}> : (!xetile.tile<16x32xf16>) -> vector<16x32xf16>
  return %v : vector<16x32xf16>
}

// -----

// A misspelled segment list would leave the operands to the wrong lists.
func.func @properties_of_segments(%A: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{has no attribute 'operandSegments'; expected static_base_shape, static_base_strides, static_offsets, or a name with}}
  %t = "xetile.init_tile"(%A, %i) <{operandSegments = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0, -9223372036854775808>}>
      : (memref<64x64xf16>, index) -> !xetile.tile<16x32xf16>
  return
}

// -----

// The steps of a schedule, too.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-error @+1 {{'transform.xetile.get_matmul' op has no attribute 'all'; expected a name with a dialect's prefix, as in 'my.note'}}
    %matmul, %init = transform.xetile.get_matmul in %root {all} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    // expected-error @+1 {{'transform.xetile.deep_tile_matmul' op has no attribute 'thread'; expected fields, fuse, pack, threads, or a name with}}
    transform.xetile.deep_tile_matmul %root {thread = 2 : i64} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    // expected-error @+1 {{has no attribute 'thread'; expected fields, fuse, pack, threads, or a name with}}
    "transform.xetile.deep_tile_matmul"(%root) <{operandSegmentSizes = array<i32: 1, 0, 0>, thread = 2 : i64}> : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// tile_attr and wg_map know their keys.
// expected-error @+1 {{expected wg_map, order, inner_blocks, memory_space or scatter, once each, got 'transpose'}}
func.func private @key_of_tile_attr() -> !xetile.tile<16x32xf16, #xetile.tile_attr<transpose = [1, 0]>>

// -----

// expected-error @+2 {{expected '>'}}
func.func private @key_of_wg_map()
    -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32], sg_order = [0, 1]>>>

// -----

func.func @notes_of_others(%t: !xetile.tile<16x32xf16>) {
  %v = xetile.load_tile %t {my.note = "kept", padding = 1.0 : f16} : !xetile.tile<16x32xf16> -> vector<16x32xf16>
  "xetile.prefetch_tile"(%t) <{locality = 3 : i32}> {my.note} : (!xetile.tile<16x32xf16>) -> ()
  return
}
