// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @launch
// CHECK-DAG: %[[ITEMS:.*]] = arith.constant 512 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}}) threads({{.*}}) in (%{{.*}} = %[[ITEMS]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]])
func.func @launch(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %launch = transform.structured.match ops{["gpu.launch"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.set_launch_subgroups %launch sg_layout = [%m, %n] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// No tile has a map: one subgroup does all of it. With a map, or asking for its number, several do.
// CHECK-LABEL: func.func @constants
// CHECK: %[[SUBGROUP:.*]] = arith.constant 16 : index
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %[[SUBGROUP]],
// CHECK: %[[ALL:.*]] = arith.constant 64 : index
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %[[ALL]],
// CHECK: %[[OWN:.*]] = arith.constant 64 : index
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %[[OWN]],
func.func @constants(%n: index, %x: vector<8x64xf32>) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %s = xetile.tile_reduce <add> %x, [1] : vector<8x64xf32> -> vector<8x1xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %s = xetile.tile_reduce <add> %x, [1] {wg_map = #xetile.wg_map<sg_layout = [4, 1], sg_data = [2, 1]>}
        : vector<8x64xf32> -> vector<8x1xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %id = gpu.subgroup_id : index
    %s = xetile.tile_reduce <add> %x, [1] : vector<8x64xf32> -> vector<8x1xf32>
    gpu.terminator
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %four = transform.param.constant 4 : i64 -> !transform.param<i64>
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %launch = transform.structured.match ops{["gpu.launch"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.set_launch_subgroups %launch sg_layout = [%four, %one] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// set_launch_subgroups_c1
// expected-note @below {{target op}}
func.func @not_a_launch() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected gpu.launch, got func.func}}
    transform.xetile.set_launch_subgroups %func sg_layout = [%m, %m] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// set_launch_subgroups_c2: not positive.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %n = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-error @below {{subgroups_n = 0: expected at least 1}}
    transform.xetile.set_launch_subgroups %root sg_layout = [%m, %n] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// set_launch_subgroups_c2: too many to count.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant 4611686018427387904 : i64 -> !transform.param<i64>
    // expected-error @below {{subgroup layout 4611686018427387904 x 4611686018427387904: its work items do not fit 64 bits}}
    transform.xetile.set_launch_subgroups %root sg_layout = [%m, %m] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// A parameter is one integer.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.param.constant "eight" -> !transform.any_param
    // expected-error @below {{expected a 64-bit integer for 'subgroups_m', got "eight"}}
    transform.xetile.set_launch_subgroups %root sg_layout = [%m, %m] : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %one = transform.param.constant 8 : i64 -> !transform.param<i64>
    %two = transform.merge_handles %one, %one : !transform.param<i64>
    // expected-error @below {{expected one value for 'subgroups_m', got 2}}
    transform.xetile.set_launch_subgroups %root sg_layout = [%two, %one] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}
