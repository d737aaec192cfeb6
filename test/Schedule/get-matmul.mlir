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

// -----

// Sizes of a run.
func.func @dynamic(%A: tensor<?x64xf16>, %B: tensor<64x?xf16>, %C: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-remark @below {{matmul}}
  %D = linalg.matmul ins(%A, %B : tensor<?x64xf16>, tensor<64x?xf16>) outs(%C : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %D : tensor<?x?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.debug.emit_remark_at %matmul, "matmul" : !transform.any_op
    transform.yield
  }
}

// -----

// Another form of it: bytes, of which only B's are unsigned, a transposed operand, a result in their order.
func.func @generic(%A: tensor<32x64xi8>, %B: tensor<32x48xi8>, %C: tensor<48x64xi32>, %v: tensor<64xf32>) -> tensor<48x64xi32> {
  // expected-remark @below {{matmul}}
  %D = linalg.generic {indexing_maps = [affine_map<(k, n, m) -> (k, m)>, affine_map<(k, n, m) -> (k, n)>,
                                        affine_map<(k, n, m) -> (n, m)>],
                       iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%A, %B : tensor<32x64xi8>, tensor<32x48xi8>) outs(%C : tensor<48x64xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %x = arith.extsi %a : i8 to i32
    %y = arith.extui %b : i8 to i32
    %p = arith.muli %y, %x : i32
    %s = arith.addi %p, %c : i32
    linalg.yield %s : i32
  } -> tensor<48x64xi32>
  return %D : tensor<48x64xi32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.debug.emit_remark_at %matmul, "matmul" : !transform.any_op
    transform.yield
  }
}
