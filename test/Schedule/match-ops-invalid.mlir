// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// What does not match says what was expected.
module attributes {transform.with_named_sequence} {
func.func @f(%a: tensor<8x64xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["linalg.reduce"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{no matmul to be tiled: }}
  transform.xetile.match_matmul %op : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%a: tensor<8x64xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["linalg.reduce"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expected a convolution with a sum over channels}}
  transform.xetile.match_convolution %op : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%a: tensor<8x64xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["linalg.reduce"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expected a contraction that a matrix unit multiplies exactly, in tiles}}
  transform.xetile.match_product %op : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%a: tensor<8x64xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["linalg.reduce"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expected an op that combines each element with those before}}
  transform.xetile.match_scan %op : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%a: tensor<8x64xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["linalg.reduce"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expected an op that updates rows by their numbers}}
  transform.xetile.match_scatter %op : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
func.func @f(%a: tensor<8x64xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["linalg.reduce"]} in %root : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expected a linalg op of parallel loops with a tensor.extract in its body}}
  transform.xetile.match_gather %op : !transform.any_op
  transform.yield
}
}
