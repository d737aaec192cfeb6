// Blocks without elements: nothing divides by their size, and there is nothing to tile.
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=2" --verify-diagnostics | FileCheck %s

#a = affine_map<(M, N, K, m, n, k) -> (M, K, m, k)>
#b = affine_map<(M, N, K, m, n, k) -> (N, K, k, n)>
#c = affine_map<(M, N, K, m, n, k) -> (M, N, m, n)>

// CHECK-LABEL: func @sums
// CHECK-NEXT:    %[[D:.*]] = linalg.contract {{.*}} -> tensor<2x2x16x16xf32>
// CHECK-NEXT:    return %[[D]]
func.func @sums(%a: tensor<2x2x16x0xf32>, %b: tensor<2x2x0x16xf32>, %c: tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32> {
  %d = linalg.contract indexing_maps = [#a, #b, #c]
    ins(%a, %b : tensor<2x2x16x0xf32>, tensor<2x2x0x16xf32>) outs(%c : tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
  return %d : tensor<2x2x16x16xf32>
}

// CHECK-LABEL: func @rows
// CHECK-NEXT:    %[[D:.*]] = linalg.contract {{.*}} -> tensor<2x2x0x16xf32>
// CHECK-NEXT:    return %[[D]]
func.func @rows(%a: tensor<2x2x0x16xf32>, %b: tensor<2x2x16x16xf32>, %c: tensor<2x2x0x16xf32>) -> tensor<2x2x0x16xf32> {
  %d = linalg.contract indexing_maps = [#a, #b, #c]
    ins(%a, %b : tensor<2x2x0x16xf32>, tensor<2x2x16x16xf32>) outs(%c : tensor<2x2x0x16xf32>) -> tensor<2x2x0x16xf32>
  return %d : tensor<2x2x0x16xf32>
}

// -----

#a = affine_map<(M, N, K, m, n, k) -> (M, K, m, k)>
#b = affine_map<(M, N, K, m, n, k) -> (N, K, k, n)>
#c = affine_map<(M, N, K, m, n, k) -> (M, N, m, n)>

func.func @with_a_configuration(%a: tensor<2x2x16x0xf32>, %b: tensor<2x2x0x16xf32>, %c: tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32> {
  // expected-error @below {{expected the inner dimensions of blocked operands to have elements}}
  %d = linalg.contract indexing_maps = [#a, #b, #c] {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 16>}
    ins(%a, %b : tensor<2x2x16x0xf32>, tensor<2x2x0x16xf32>) outs(%c : tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
  return %d : tensor<2x2x16x16xf32>
}
