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

// set_wg_map_c1
// expected-note @below {{target op}}
func.func @not_an_mma() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected xetile.tile_mma, got func.func}}
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
