// Linalg ops get numbers in their locations, in the order of the program; others keep theirs.
// RUN: xetile-opt %s --xetile-number-ops --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: linalg.matmul {{.*}} loc("#0"("{{.*}}number-ops.mlir":[[#@LINE + 1]]:8))
  %d = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: arith.addf {{.*}} loc("{{.*}}number-ops.mlir":[[#@LINE + 1]]:8)
  %e = arith.addf %d, %b : tensor<4x4xf32>
  // CHECK: linalg.exp {{.*}} loc("#1"("{{.*}}number-ops.mlir":[[#@LINE + 1]]:8))
  %x = linalg.exp ins(%e : tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %x : tensor<4x4xf32>
}
