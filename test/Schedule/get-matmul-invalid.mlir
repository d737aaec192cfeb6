// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// get_matmul_c1: none.
// expected-error @below {{expected exactly one linalg.matmul, found 0}}
module {
  func.func @no_matmul() { return }
  module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
}

// -----

// get_matmul_c1: two.
// expected-error @below {{expected exactly one linalg.matmul, found 2}}
module {
  func.func @two(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf32>)
      -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    // expected-note @below {{linalg.matmul}}
    %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
    // expected-note @below {{linalg.matmul}}
    %E = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%D : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %D, %E : tensor<64x64xf32>, tensor<64x64xf32>
  }
  module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
}

// -----

// get_matmul_c2
func.func @buffers(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  // expected-error @below {{expected linalg.matmul on tensors, got memrefs: schedules start before bufferisation}}
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// get_matmul_c3: an unknown size.
func.func @dynamic(%A: tensor<?x64xf16>, %B: tensor<64x64xf16>, %C: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{expected static sizes other than zero, got tensor<?x64xf16>}}
  %D = linalg.matmul ins(%A, %B : tensor<?x64xf16>, tensor<64x64xf16>) outs(%C : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %D : tensor<?x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// get_matmul_c3: no columns of A.
func.func @empty(%A: tensor<64x0xf16>, %B: tensor<0x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected static sizes other than zero, got tensor<64x0xf16>}}
  %D = linalg.matmul ins(%A, %B : tensor<64x0xf16>, tensor<0x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// get_matmul_c4: inputs of another type.
func.func @f32(%A: tensor<64x64xf32>, %B: tensor<64x64xf32>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected f16 x f16 -> f32 or bf16 x bf16 -> f32, got f32 x f32 -> f32}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf32>, tensor<64x64xf32>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// get_matmul_c4: inputs of two types.
func.func @mixed(%A: tensor<64x64xf16>, %B: tensor<64x64xbf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{got f16 x bf16 -> f32}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xbf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// get_matmul_c4: a result of another type.
func.func @f16_result(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{got f16 x f16 -> f16}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%C : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %D : tensor<64x64xf16>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// get_matmul_c5
#m_k = affine_map<(m, n, k) -> (m, k)>
#n_k = affine_map<(m, n, k) -> (n, k)>
#m_n = affine_map<(m, n, k) -> (m, n)>
func.func @transposed(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected A as m x k and B as k x n, got transposed or broadcast indexing_maps}}
  %D = linalg.matmul indexing_maps = [#m_k, #n_k, #m_n]
      ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
