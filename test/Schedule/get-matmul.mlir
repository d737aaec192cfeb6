// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// The accumulator comes from an argument: there is no init.
func.func @accumulate(%A: tensor<64x32xbf16>, %B: tensor<32x64xbf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-remark @below {{matmul}}
  %D = linalg.matmul ins(%A, %B : tensor<64x32xbf16>, tensor<32x64xbf16>)
                     outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.debug.emit_remark_at %matmul, "matmul" : !transform.any_op
    transform.debug.emit_remark_at %init, "init" : !transform.any_op
    transform.yield
  }
}

// -----

// The fill that the matmul starts from is its init, another one is not.
func.func @from_zero(%A: tensor<64x32xf16>, %B: tensor<32x64xf16>, %other: tensor<4xf32>)
    -> (tensor<64x64xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  // expected-remark @below {{init}}
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%other : tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @below {{matmul}}
  %D = linalg.matmul ins(%A, %B : tensor<64x32xf16>, tensor<32x64xf16>)
                     outs(%zeros : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D, %filled : tensor<64x64xf32>, tensor<4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.debug.emit_remark_at %matmul, "matmul" : !transform.any_op
    transform.debug.emit_remark_at %init, "init" : !transform.any_op
    transform.yield
  }
}
