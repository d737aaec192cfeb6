// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1 pack=always" | FileCheck %s

// A with two dimensions of rows gets the batch dimension of packed panels of B, too.
// CHECK-LABEL: func @two_rows
// CHECK: %[[A:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] {{.*}} into tensor<1x1x100x?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %{{.*}} : tensor<1x1x100x?xf32>, tensor<1x?x?xf32>)
func.func @two_rows(%a: tensor<100x100x100xf32>, %b: tensor<?x100xf32>, %c: tensor<100x100x?xf32>) -> tensor<100x100x?xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>]
      ins(%a, %b : tensor<100x100x100xf32>, tensor<?x100xf32>) outs(%c : tensor<100x100x?xf32>) -> tensor<100x100x?xf32>
  return %r : tensor<100x100x?xf32>
}
