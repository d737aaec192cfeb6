// RUN: xetile-opt %s --xetile-infer-wg-map --split-input-file --verify-diagnostics | FileCheck %s

// Two grids that give every subgroup the same pieces of a value are one map for it: where they meet, one of them is kept
// for all values that are owned alike. Between grids that only look alike the elements change their owners.

#c4x8 = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [32, 64]>>
#c8x4 = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>

// The tiles keep their own maps; the value that both touch has one of them.
// CHECK-LABEL: func @load_and_store
// CHECK: xetile.store_tile
func.func @load_and_store(%A: memref<32x256xf16>, %B: memref<32x256xf16>) {
  %from = xetile.init_tile %A[0, 0] : memref<32x256xf16> -> !xetile.tile<32x256xf16, #c4x8>
  %to = xetile.init_tile %B[0, 0] : memref<32x256xf16> -> !xetile.tile<32x256xf16, #c8x4>
  %v = xetile.load_tile %from : !xetile.tile<32x256xf16, #c4x8> -> vector<32x256xf16>
  xetile.store_tile %v, %to : vector<32x256xf16>, !xetile.tile<32x256xf16, #c8x4>
  return
}

// -----

#c4x8 = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [32, 64]>>
#c8x4 = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>

// Tiles without a map are carried by a loop between one grid and the other: their types stay equal.
// CHECK-LABEL: func @carried
// CHECK-DAG: %[[T:.*]] = xetile.init_tile %{{.*}} -> !xetile.tile<32x256xf16, #[[ATTR:[a-z0-9_]+]]>
// CHECK: scf.for {{.*}} -> (!xetile.tile<32x256xf16, #[[ATTR]]>, vector<32x256xf16>)
func.func @carried(%A: memref<32x256xf16>, %B: memref<32x256xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = xetile.init_tile %A[0, 0] : memref<32x256xf16> -> !xetile.tile<32x256xf16>
  %zero = arith.constant dense<0.0> : vector<32x256xf16>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %t, %sum = %zero) -> (!xetile.tile<32x256xf16>, vector<32x256xf16>) {
    %v = xetile.load_tile %u : !xetile.tile<32x256xf16> -> vector<32x256xf16>
    %w = arith.addf %v, %sum : vector<32x256xf16>
    %other = xetile.init_tile %B[0, 0] : memref<32x256xf16> -> !xetile.tile<32x256xf16, #c4x8>
    xetile.store_tile %w, %other : vector<32x256xf16>, !xetile.tile<32x256xf16, #c4x8>
    %next = xetile.update_tile_offset %u, [0, %i] : !xetile.tile<32x256xf16>
    scf.yield %next, %w : !xetile.tile<32x256xf16>, vector<32x256xf16>
  }
  %to = xetile.init_tile %B[0, 0] : memref<32x256xf16> -> !xetile.tile<32x256xf16, #c8x4>
  xetile.store_tile %r#1, %to : vector<32x256xf16>, !xetile.tile<32x256xf16, #c8x4>
  return
}

// -----

// Of 64 rows in two pieces, row 1 of the grid starts at subgroup 8 or at subgroup 4: the elements have to move.
#c4x8 = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [32, 64]>>
#c8x4 = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>
// CHECK-LABEL: func @other_rows
// CHECK: %[[V:.*]] = xetile.load_tile
// CHECK: xetile.tile_conv_layout %[[V]] {source_wg_map = #[[C4X8:.*]], wg_map = #[[C8X4:.*]]} : vector<64x256xf16>
func.func @other_rows(%A: memref<64x256xf16>, %B: memref<64x256xf16>) {
  %from = xetile.init_tile %A[0, 0] : memref<64x256xf16> -> !xetile.tile<64x256xf16, #c4x8>
  %to = xetile.init_tile %B[0, 0] : memref<64x256xf16> -> !xetile.tile<64x256xf16, #c8x4>
  %v = xetile.load_tile %from : !xetile.tile<64x256xf16, #c4x8> -> vector<64x256xf16>
  xetile.store_tile %v, %to : vector<64x256xf16>, !xetile.tile<64x256xf16, #c8x4>
  return
}

// -----

// Of 32x512 with eight pieces, 4 columns of a grid own two pieces each, 8 columns one.
#c4x8 = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [32, 64]>>
#c8x4 = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>
// CHECK-LABEL: func @more_pieces
// CHECK: xetile.tile_conv_layout
func.func @more_pieces(%A: memref<32x512xf16>, %B: memref<32x512xf16>) {
  %from = xetile.init_tile %A[0, 0] : memref<32x512xf16> -> !xetile.tile<32x512xf16, #c4x8>
  %to = xetile.init_tile %B[0, 0] : memref<32x512xf16> -> !xetile.tile<32x512xf16, #c8x4>
  %v = xetile.load_tile %from : !xetile.tile<32x512xf16, #c4x8> -> vector<32x512xf16>
  xetile.store_tile %v, %to : vector<32x512xf16>, !xetile.tile<32x512xf16, #c8x4>
  return
}

// -----

// A tile's type cannot change where an operation without a rule passes it on.
func.func @foreign_operation(%t: !xetile.tile<64x64xf16>, %b: vector<64x64xf16>) {
  // expected-error @-1 {{'func.func' op has a tile of type '!xetile.tile<64x64xf16>' that needs #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 64]> by the other maps of the kernel, and no rule to give it one; expected xetile operations, scf.for, scf.if, scf.while or scf.index_switch, or the map in the type}}
  %a = xetile.load_tile %t : !xetile.tile<64x64xf16> -> vector<64x64xf16>
  %d = xetile.tile_mma %a, %b {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>} : vector<64x64xf16>, vector<64x64xf16> -> vector<64x64xf32>
  return
}

// -----

// A constant that nothing uses.
// CHECK-LABEL: func @unused_constant
// CHECK: arith.constant dense<1.000000e+00> : vector<2x2xf32>
func.func @unused_constant() {
  %dead = arith.constant dense<1.0> : vector<2x2xf32>
  return
}
