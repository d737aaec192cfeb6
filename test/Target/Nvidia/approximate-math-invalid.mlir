// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-approximate-math))" --verify-diagnostics

gpu.module @kernels {
  gpu.func @function(%x: f64) -> f64 {
    // expected-error@+1 {{'math.erf' op has no approximation on sm_90a: expected a function of f32, f16 or bf16}}
    %y = math.erf %x : f64
    gpu.return %y : f64
  }
}
