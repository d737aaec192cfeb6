// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// The loops of a batched matmul, in order; the operands stay.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>
// CHECK-LABEL: func.func @batches
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<4x64x32xf16>, tensor<4x32x48xf16>)
func.func @batches(%A: tensor<4x64x32xf16>, %B: tensor<4x32x48xf16>, %C: tensor<4x64x48xf32>) -> tensor<4x64x48xf32> {
  %D = linalg.batch_matmul ins(%A, %B : tensor<4x64x32xf16>, tensor<4x32x48xf16>)
      outs(%C : tensor<4x64x48xf32>) -> tensor<4x64x48xf32>
  return %D : tensor<4x64x48xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.batch_matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %normal = transform.xetile.normalize_matmul %matmul : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// A linalg.matmul is in order, whatever its maps.
// CHECK-LABEL: func.func @plain
// CHECK: linalg.matmul indexing_maps
func.func @plain(%A: tensor<32x64xf16>, %B: tensor<32x48xf16>, %C: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %D = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : tensor<32x64xf16>, tensor<32x48xf16>) outs(%C : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %D : tensor<64x48xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %normal = transform.xetile.normalize_matmul %matmul : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
