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

// get_matmul_c3: no columns of A.
func.func @empty(%A: tensor<64x0xf16>, %B: tensor<0x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected sizes other than zero, got tensor<64x0xf16>}}
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

// get_matmul_c4: elements that the matrix unit does not take.
func.func @f64(%A: tensor<64x64xf64>, %B: tensor<64x64xf64>, %C: tensor<64x64xf64>) -> tensor<64x64xf64> {
  // expected-error @below {{or (i8, i8) -> i32, got f64 x f64 -> f64}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf64>, tensor<64x64xf64>) outs(%C : tensor<64x64xf64>) -> tensor<64x64xf64>
  return %D : tensor<64x64xf64>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// get_matmul_c4: a result that is too narrow for the inputs.
func.func @narrow(%A: tensor<64x64xf32>, %B: tensor<64x64xf32>, %C: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @below {{expected products of factors as they are or extended, got arith.truncf}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf32>, tensor<64x64xf32>) outs(%C : tensor<64x64xf16>) -> tensor<64x64xf16>
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

// get_matmul_c5: no columns.
#m_k = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>
func.func @vector(%A: tensor<64x64xf16>, %B: tensor<64xf16>, %C: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{expected dimensions m, n and k, as in C[m, n] += A[m, k] * B[k, n]}}
  %D = linalg.contract indexing_maps = [#m_k, #k, #m]
      ins(%A, %B : tensor<64x64xf16>, tensor<64xf16>) outs(%C : tensor<64xf32>) -> tensor<64xf32>
  return %D : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// get_matmul_c5: batches are adjacent in memory, not the elements of a matrix.
#b_m_k = affine_map<(b, m, n, k) -> (m, k, b)>
#b_k_n = affine_map<(b, m, n, k) -> (b, k, n)>
#b_m_n = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @innermost_batch(%A: tensor<64x64x4xf16>, %B: tensor<4x64x64xf16>, %C: tensor<4x64x64xf32>) -> tensor<4x64x64xf32> {
  // expected-error @below {{expected the last dimension of A to be one of the product's, got a batch; transpose before the matmul}}
  %D = linalg.contract indexing_maps = [#b_m_k, #b_k_n, #b_m_n]
      ins(%A, %B : tensor<64x64x4xf16>, tensor<4x64x64xf16>) outs(%C : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  return %D : tensor<4x64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    %matmul, %init = transform.xetile.get_matmul in %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
