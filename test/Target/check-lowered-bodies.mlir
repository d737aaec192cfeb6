// RUN: xetile-opt %s --verify-diagnostics --xetile-check-lowered="scope=host forbid=arith.addf"

func.func @implied(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // The operation that is implied has no place of its own.
  // expected-error @below {{'arith.addf' op is left in host code}}
  %0 = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
