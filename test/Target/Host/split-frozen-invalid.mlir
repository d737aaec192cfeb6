// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-split-frozen)' -verify-diagnostics

func.func @f(%w: tensor<8xf32> {xetile.frozen}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %t = linalg.exp ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %t : tensor<8xf32>
}

// expected-error @below {{'func.func' op has the name of what is computed from frozen arguments of @f: expected another}}
func.func private @f_freeze()
