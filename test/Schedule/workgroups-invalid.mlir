// What the steps on the loop over workgroups refuse.
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// fuse_consumers_c1
// expected-note @below {{target op}}
func.func @f() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected scf.forall, got func.func}}
    %fused = transform.xetile.fuse_consumers %func : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// hang_over_edges_c1: another op.
// expected-note @below {{target op}}
func.func @f() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %size = transform.param.constant 16 : i64 -> !transform.param<i64>
    // expected-error @below {{expected scf.forall, got func.func}}
    transform.xetile.hang_over_edges %func tile = [%size, %size, %size] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// hang_over_edges_c1: a tile that is larger than was said.
func.func @f(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected tiles of at most 16, got 32 in loop 0}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %workgroups = transform.structured.tile_using_forall %matmul tile_sizes [32, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %size = transform.param.constant 16 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.hang_over_edges %workgroups tile = [%size, %size, %size] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// hang_over_edges_c2
func.func @f() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %size = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-error @below {{tile of m = 0: expected at least 1}}
    transform.xetile.hang_over_edges %func tile = [%size, %size, %size] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// launch_workgroups_c1
// expected-note @below {{target op}}
func.func @f() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected an scf.forall without results, got func.func}}
    %launch = transform.xetile.launch_workgroups %func : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
