// RUN: xetile-opt %s --xetile-infer-wg-map --split-input-file | FileCheck %s
// A second run changes nothing.
// RUN: xetile-opt %s --xetile-infer-wg-map --split-input-file -o %t.once
// RUN: xetile-opt %t.once --xetile-infer-wg-map --split-input-file | diff %t.once -

// Where an operation needs an operand under another map than its producer has, a tile_conv_layout stands between.

// One load for two multiplications: the second has a conversion, behind the load and not in the loop.
// CHECK-DAG: #[[A:.*]] = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 32]>
// CHECK-DAG: #[[OTHER:.*]] = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>
// CHECK-LABEL: func @used_twice
// CHECK: %[[V:.*]] = xetile.load_tile %{{.*}} : !xetile.tile<64x32xf16, #{{.*}}> -> vector<64x32xf16>
// CHECK-NEXT: %[[W:.*]] = xetile.tile_conv_layout %[[V]] {source_wg_map = #[[A]], wg_map = #[[OTHER]]}
// CHECK: xetile.tile_mma %[[V]]
// CHECK: scf.for
// CHECK-NOT: tile_conv_layout
// CHECK: xetile.tile_mma %[[W]]
#one = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 32]>
#two = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
func.func @used_twice(%A: memref<64x32xf16>, %B: memref<32x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ta = xetile.init_tile %A[0, 0] : memref<64x32xf16> -> !xetile.tile<64x32xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<32x64xf16> -> !xetile.tile<32x64xf16>
  %tb2 = xetile.init_tile %B[0, 0] : memref<32x64xf16> -> !xetile.tile<32x64xf16>
  %a = xetile.load_tile %ta : !xetile.tile<64x32xf16> -> vector<64x32xf16>
  %b = xetile.load_tile %tb : !xetile.tile<32x64xf16> -> vector<32x64xf16>
  %b2 = xetile.load_tile %tb2 : !xetile.tile<32x64xf16> -> vector<32x64xf16>
  %c = xetile.tile_mma %a, %b {wg_map = #one} : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %d = xetile.tile_mma %a, %b2 {wg_map = #two} : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
  }
  return
}

// -----

// A result that is stored under another map than it is computed under.
// CHECK-LABEL: func @stored_elsewhere
// CHECK: %[[D:.*]] = xetile.tile_mma
// CHECK: %[[E:.*]] = xetile.tile_conv_layout %[[D]]
// CHECK: xetile.store_tile %[[E]]
#map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#rows = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>
func.func @stored_elsewhere(%a: vector<64x32xf16>, %b: vector<32x64xf16>, %C: memref<64x64xf32>) {
  %d = xetile.tile_mma %a, %b {wg_map = #map} : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
  %t = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #rows>
  xetile.store_tile %d, %t : vector<64x64xf32>, !xetile.tile<64x64xf32, #rows>
  return
}

// -----

// Through scf.while and a select of mixed types, forwards; a scalar in all elements and a constant take any map.
// CHECK-DAG: #[[MAP_ATTR:.*]] = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 64]>
// CHECK-DAG: #[[ATTR:.*]] = #xetile.tile_attr<wg_map = #[[MAP_ATTR]]>
// CHECK-LABEL: func @while_and_select
// CHECK: -> !xetile.tile<64x64xf16, #[[ATTR]]>
// CHECK-NOT: tile_conv_layout
// CHECK: scf.while
// CHECK: -> !xetile.tile<64x64xf32, #[[ATTR]]>
func.func @while_and_select(%A: memref<64x64xf16>, %C: memref<64x64xf32>, %s: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>>
  %h = xetile.load_tile %t : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>> -> vector<64x64xf16>
  %x = arith.extf %h : vector<64x64xf16> to vector<64x64xf32>
  %all = vector.broadcast %s : f32 to vector<64x64xf32>
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %less = arith.cmpf olt, %x, %zero : vector<64x64xf32>
  %y = arith.select %less, %all, %x : vector<64x64xi1>, vector<64x64xf32>
  %r:2 = scf.while (%i = %c0, %v = %y) : (index, vector<64x64xf32>) -> (index, vector<64x64xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %v : index, vector<64x64xf32>
  } do {
  ^bb0(%i: index, %v: vector<64x64xf32>):
    %w = arith.addf %v, %v : vector<64x64xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %w : index, vector<64x64xf32>
  }
  %tc = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
  xetile.store_tile %r#1, %tc : vector<64x64xf32>, !xetile.tile<64x64xf32>
  return
}

// -----

// A row that becomes a column: subgroup id has columns id mod 4 of the one, rows id mod 4 of the other.
// CHECK-DAG: #[[MAP_COLUMN:.*]] = #xetile.wg_map<sg_layout = [8, 1], sg_data = [16, 1]>
// CHECK-DAG: #[[COLUMN:.*]] = #xetile.tile_attr<wg_map = #[[MAP_COLUMN]]>
// CHECK-LABEL: func @row_to_column
// CHECK: -> !xetile.tile<64x1xf32, #[[COLUMN]]>
func.func @row_to_column(%A: memref<1x64xf32>, %B: memref<64x1xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<1x64xf32> -> !xetile.tile<1x64xf32, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [1, 16]>>>
  %v = xetile.load_tile %t : !xetile.tile<1x64xf32, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [1, 16]>>> -> vector<1x64xf32>
  %w = vector.shape_cast %v : vector<1x64xf32> to vector<64x1xf32>
  %u = xetile.init_tile %B[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32>
  xetile.store_tile %w, %u : vector<64x1xf32>, !xetile.tile<64x1xf32>
  return
}

// -----

// The transposed b: each subgroup loads what it needs transposed, as in the RFC's appendix 2.3.
// CHECK-DAG: #[[MAP_BT:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [64, 32]>
// CHECK-DAG: #[[BT:.*]] = #xetile.tile_attr<wg_map = #[[MAP_BT]]>
// CHECK-LABEL: func @transposed_b
// CHECK: memref<256x32xf16> -> !xetile.tile<256x32xf16, #[[BT]]>
func.func @transposed_b(%a: vector<256x32xf16>, %BT: memref<256x32xf16>) {
  %t = xetile.init_tile %BT[0, 0] : memref<256x32xf16> -> !xetile.tile<256x32xf16>
  %bt = xetile.load_tile %t : !xetile.tile<256x32xf16> -> vector<256x32xf16>
  %b = xetile.tile_transpose %bt, [1, 0] : vector<256x32xf16> -> vector<32x256xf16>
  %c = xetile.tile_mma %a, %b {wg_map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>} : vector<256x32xf16>, vector<32x256xf16> -> vector<256x256xf32>
  return
}

// -----

// Under no map of this column does the row follow: both change their owners, so that all subgroups have them in turn
// between.
// CHECK-DAG: #[[GIVEN:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [16, 1]>
// CHECK-DAG: #[[COLUMN:.*]] = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 1]>
// CHECK-DAG: #[[ROW:.*]] = #xetile.wg_map<sg_layout = [1, 4], sg_data = [1, 16]>
// CHECK-DAG: #[[STORED:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [1, 8]>
// CHECK-LABEL: func @row_as_column
// CHECK: %[[V:.*]] = xetile.load_tile
// CHECK: %[[BEFORE:.*]] = xetile.tile_conv_layout %[[V]] {source_wg_map = #[[GIVEN]], wg_map = #[[COLUMN]]}
// CHECK: %[[CAST:.*]] = vector.shape_cast %[[BEFORE]]
// CHECK: %[[BEHIND:.*]] = xetile.tile_conv_layout %[[CAST]] {source_wg_map = #[[ROW]], wg_map = #[[STORED]]}
// CHECK: xetile.store_tile %[[BEHIND]]
#given = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [16, 1]>>
#stored = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [1, 8]>>
func.func @row_as_column(%A: memref<64x1xf32>, %B: memref<1x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32, #given>
  %v = xetile.load_tile %t : !xetile.tile<64x1xf32, #given> -> vector<64x1xf32>
  %w = vector.shape_cast %v : vector<64x1xf32> to vector<1x64xf32>
  %o = xetile.init_tile %B[0, 0] : memref<1x64xf32> -> !xetile.tile<1x64xf32, #stored>
  xetile.store_tile %w, %o : vector<1x64xf32>, !xetile.tile<1x64xf32, #stored>
  return
}

// -----

// Blocks do not change their owners: what is made of them does.
// CHECK-DAG: #[[BLOCKS:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [16, 16]>
// CHECK-DAG: #[[OTHER:.*]] = #xetile.wg_map<sg_layout = [4, 1], sg_data = [8, 32]>
// CHECK-LABEL: func @unpacked_elsewhere
// CHECK: %[[U:.*]] = xetile.tile_unpack
// CHECK: %[[W:.*]] = xetile.tile_conv_layout %[[U]] {source_wg_map = #[[BLOCKS]], wg_map = #[[OTHER]]}
// CHECK: xetile.store_tile %[[W]]
#blocks = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [16, 16]>>
#other = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [8, 32]>>
func.func @unpacked_elsewhere(%A: memref<32x32xf32>, %B: memref<32x32xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32, #blocks>
  %v = xetile.load_tile %t : !xetile.tile<32x32xf32, #blocks> -> vector<32x32xf32>
  %p = xetile.tile_pack %v {inner_blocks = array<i64: 8, 16>} : vector<32x32xf32> -> vector<4x2x8x16xf32>
  %n = arith.negf %p : vector<4x2x8x16xf32>
  %u = xetile.tile_unpack %n {inner_blocks = array<i64: 8, 16>} : vector<4x2x8x16xf32> -> vector<32x32xf32>
  %o = xetile.init_tile %B[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32, #other>
  xetile.store_tile %u, %o : vector<32x32xf32>, !xetile.tile<32x32xf32, #other>
  return
}

// -----

// A map that cuts blocks is that of no blocked vector: the smallest pieces of whole blocks, and the
// same grid, take its place.
// CHECK-DAG: #[[CUT:.*]] = #xetile.wg_map<sg_layout = [4, 1], sg_data = [4, 32]>
// CHECK-DAG: #[[WHOLE:.*]] = #xetile.wg_map<sg_layout = [4, 1], sg_data = [8, 32]>
// CHECK-LABEL: func @cut_blocks
// CHECK: %[[V:.*]] = xetile.load_tile
// CHECK: %[[C:.*]] = xetile.tile_conv_layout %[[V]] {source_wg_map = #[[CUT]], wg_map = #[[WHOLE]]}
// CHECK: xetile.tile_pack %[[C]]
// CHECK: %[[U:.*]] = xetile.tile_unpack
// CHECK: %[[W:.*]] = xetile.tile_conv_layout %[[U]] {source_wg_map = #[[WHOLE]], wg_map = #[[CUT]]}
// CHECK: xetile.store_tile %[[W]]
#cut = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [4, 32]>>
func.func @cut_blocks(%A: memref<32x32xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32, #cut>
  %v = xetile.load_tile %t : !xetile.tile<32x32xf32, #cut> -> vector<32x32xf32>
  %p = xetile.tile_pack %v {inner_blocks = array<i64: 8, 16>} : vector<32x32xf32> -> vector<4x2x8x16xf32>
  %n = arith.negf %p : vector<4x2x8x16xf32>
  %u = xetile.tile_unpack %n {inner_blocks = array<i64: 8, 16>} : vector<4x2x8x16xf32> -> vector<32x32xf32>
  xetile.store_tile %u, %t : vector<32x32xf32>, !xetile.tile<32x32xf32, #cut>
  return
}

// -----

// Backwards, from what is unpacked to blocks that no tile gives a map: six rows are no multiple of
// three, twelve are shared by two subgroups.
// CHECK-DAG: #[[CUT:.*]] = #xetile.wg_map<sg_layout = [4, 2], sg_data = [3, 16]>
// CHECK-DAG: #[[WHOLE:.*]] = #xetile.wg_map<sg_layout = [4, 2], sg_data = [6, 16]>
// CHECK-LABEL: func @cut_blocks_of_a_scalar
// CHECK: %[[U:.*]] = xetile.tile_unpack
// CHECK: xetile.tile_conv_layout %[[U]] {source_wg_map = #[[WHOLE]], wg_map = #[[CUT]]}
#cut = #xetile.tile_attr<wg_map = <sg_layout = [4, 2], sg_data = [3, 16]>>
func.func @cut_blocks_of_a_scalar(%A: memref<12x16xf32>, %x: f32) {
  %t = xetile.init_tile %A[0, 0] : memref<12x16xf32> -> !xetile.tile<12x16xf32, #cut>
  %p = vector.broadcast %x : f32 to vector<2x1x6x16xf32>
  %u = xetile.tile_unpack %p {inner_blocks = array<i64: 6, 16>} : vector<2x1x6x16xf32> -> vector<12x16xf32>
  xetile.store_tile %u, %t : vector<12x16xf32>, !xetile.tile<12x16xf32, #cut>
  return
}

// -----

// Blocks of two producers change their owners as the matrix that they make.
// CHECK-DAG: #[[ONE:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [16, 16]>
// CHECK-DAG: #[[OTHER:.*]] = #xetile.wg_map<sg_layout = [4, 1], sg_data = [8, 32]>
// CHECK-LABEL: func @sum_of_blocks
// CHECK: %[[P:.*]] = xetile.tile_pack
// CHECK: %[[Q:.*]] = xetile.tile_pack
// CHECK: %[[U:.*]] = xetile.tile_unpack %[[Q]]
// CHECK: %[[C:.*]] = xetile.tile_conv_layout %[[U]] {source_wg_map = #[[OTHER]], wg_map = #[[ONE]]}
// CHECK: %[[R:.*]] = xetile.tile_pack %[[C]]
// CHECK: arith.addf %[[P]], %[[R]]
#one = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [16, 16]>>
#other = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [8, 32]>>
func.func @sum_of_blocks(%A: memref<32x32xf32>, %B: memref<32x32xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32, #one>
  %v = xetile.load_tile %t : !xetile.tile<32x32xf32, #one> -> vector<32x32xf32>
  %s = xetile.init_tile %B[0, 0] : memref<32x32xf32> -> !xetile.tile<32x32xf32, #other>
  %w = xetile.load_tile %s : !xetile.tile<32x32xf32, #other> -> vector<32x32xf32>
  %p = xetile.tile_pack %v {inner_blocks = array<i64: 8, 16>} : vector<32x32xf32> -> vector<4x2x8x16xf32>
  %q = xetile.tile_pack %w {inner_blocks = array<i64: 8, 16>} : vector<32x32xf32> -> vector<4x2x8x16xf32>
  %n = arith.addf %p, %q : vector<4x2x8x16xf32>
  %u = xetile.tile_unpack %n {inner_blocks = array<i64: 8, 16>} : vector<4x2x8x16xf32> -> vector<32x32xf32>
  xetile.store_tile %u, %t : vector<32x32xf32>, !xetile.tile<32x32xf32, #one>
  return
}
