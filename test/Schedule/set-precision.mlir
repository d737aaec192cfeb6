// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics | FileCheck %s

// Products of f32 may be rounded, others stay as they are.
// CHECK-LABEL: func.func @allowed
func.func @allowed(%a: vector<8x8xf32>, %b: vector<8x8xf32>, %c: vector<8x8xf16>)
    -> (vector<8x8xf32>, vector<8x8xf32>) {
  // CHECK: xetile.tile_mma %{{.*}}, %{{.*}} {xetile.tf32} : vector<8x8xf32>
  %d = xetile.tile_mma %a, %b : vector<8x8xf32>, vector<8x8xf32> -> vector<8x8xf32>
  // CHECK: xetile.tile_mma %{{.*}}, %{{.*}} : vector<8x8xf16>
  %e = xetile.tile_mma %c, %c : vector<8x8xf16>, vector<8x8xf16> -> vector<8x8xf32>
  return %d, %e : vector<8x8xf32>, vector<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %precision = transform.param.constant "tf32" -> !transform.any_param
    %mma = transform.structured.match ops{["xetile.tile_mma"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.set_precision %mma precision = %precision : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @exact
func.func @exact(%a: vector<8x8xf32>, %b: vector<8x8xf32>) -> vector<8x8xf32> {
  // CHECK-NOT: xetile.tf32
  %d = xetile.tile_mma %a, %b : vector<8x8xf32>, vector<8x8xf32> -> vector<8x8xf32>
  return %d : vector<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %precision = transform.param.constant "exact" -> !transform.any_param
    transform.xetile.set_precision %root precision = %precision : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// set_precision_c1
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %precision = transform.param.constant "bf16" -> !transform.any_param
    // expected-error @below {{precision = bf16: expected exact or tf32}}
    transform.xetile.set_precision %root precision = %precision : !transform.any_op, !transform.any_param
    transform.yield
  }
}
