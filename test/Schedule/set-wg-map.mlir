// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: #[[MAP:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-LABEL: func.func @divide
// CHECK: xetile.tile_mma %{{.*}}, %{{.*}} {wg_map = #[[MAP]]}
func.func @divide(%a: vector<256x32xf16>, %b: vector<32x256xf16>) -> vector<256x256xf32> {
  %d = xetile.tile_mma %a, %b : vector<256x32xf16>, vector<32x256xf16> -> vector<256x256xf32>
  return %d : vector<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %mma = transform.structured.match ops{["xetile.tile_mma"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.set_wg_map %mma sg_layout = [%m, %n] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// Of accesses it is the tile that has the map; a single row is that of all subgroups along it.
// CHECK-DAG: #[[ALL:.*]] = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 32]>
// CHECK-DAG: #[[ROW:.*]] = #xetile.wg_map<sg_layout = [4, 2], sg_data = [1, 32]>
// CHECK-DAG: #[[OFALL:.*]] = #xetile.tile_attr<wg_map = #[[ALL]]>
// CHECK-DAG: #[[OFROW:.*]] = #xetile.tile_attr<wg_map = #[[ROW]]>
// CHECK-LABEL: func.func @accesses
// CHECK: %[[V:.*]] = xetile.load_tile {{.*}} : !xetile.tile<64x64xf32, #[[OFALL]]>
// CHECK: xetile.tile_reduce <add> %[[V]], [0] {wg_map = #[[ROW]]}
// CHECK: xetile.store_tile {{.*}}, !xetile.tile<1x64xf32, #[[OFROW]]>
func.func @accesses(%x: memref<64x64xf32>, %y: memref<1x64xf32>) {
  %tx = xetile.init_tile %x[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
  %v = xetile.load_tile %tx : !xetile.tile<64x64xf32> -> vector<64x64xf32>
  %s = xetile.tile_reduce <add> %v, [0] : vector<64x64xf32> -> vector<1x64xf32>
  %ty = xetile.init_tile %y[0, 0] : memref<1x64xf32> -> !xetile.tile<1x64xf32>
  xetile.store_tile %s, %ty : vector<1x64xf32>, !xetile.tile<1x64xf32>
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 4 : i64 -> !transform.param<i64>
    %n = transform.param.constant 2 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile", "xetile.store_tile", "xetile.tile_reduce"]} in %root
        : (!transform.any_op) -> !transform.any_op
    transform.xetile.set_wg_map %ops sg_layout = [%m, %n] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// set_wg_map_c3: an elementwise operation.
func.func @elementwise(%a: vector<64x64xf32>) -> vector<64x64xf32> {
  // expected-note @below {{target op}}
  %d = arith.addf %a, %a : vector<64x64xf32>
  return %d : vector<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["arith.addf"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot set a wg_map: 'arith.addf' has the map of its operands or users; set it at one of these: a load or store, a tile_mma}}
    transform.xetile.set_wg_map %ops sg_layout = [%m, %m] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// set_wg_map_c4: a tile that a loop moves.
func.func @moved(%x: memref<64x64xf32>) {
  // expected-note @below {{target op}}
  %t = xetile.init_tile %x[0, 0] : memref<64x64xf32> -> !xetile.tile<16x64xf32>
  %u = xetile.update_tile_offset %t, [16, 0] : !xetile.tile<16x64xf32>
  xetile.prefetch_tile %u locality<3> : !xetile.tile<16x64xf32>
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 2 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.init_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot set a wg_map: its tile is handed on by a loop or xetile.update_tile_offset, whose types would differ}}
    transform.xetile.set_wg_map %ops sg_layout = [%m, %m] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// set_wg_map_c1
// expected-note @below {{target op}}
func.func @not_an_mma() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected an operation with a tile or a vector, got func.func}}
    transform.xetile.set_wg_map %func sg_layout = [%m, %m] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// set_wg_map_c2: not positive.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant -8 : i64 -> !transform.param<i64>
    // expected-error @below {{subgroups_m = -8: expected at least 1}}
    transform.xetile.set_wg_map %root sg_layout = [%m, %m] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// set_wg_map_c2: a remainder.
func.func @remainder(%a: vector<256x32xf16>, %b: vector<32x256xf16>) -> vector<256x256xf32> {
  // expected-note @below {{target op}}
  %d = xetile.tile_mma %a, %b : vector<256x32xf16>, vector<32x256xf16> -> vector<256x256xf32>
  return %d : vector<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %n = transform.param.constant 3 : i64 -> !transform.param<i64>
    %mma = transform.structured.match ops{["xetile.tile_mma"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{sg_layout = [8, 3] does not divide the result of 256 x 256 elements}}
    transform.xetile.set_wg_map %mma sg_layout = [%m, %n] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}
