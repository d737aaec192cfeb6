// RUN: xetile-opt %s --verify-diagnostics --xetile-check-lowered="scope=host allow=func,gpu.module"
// RUN: not xetile-opt %s --xetile-check-lowered="scope=both" 2>&1 | FileCheck %s
// CHECK: error: option scope is 'both', expected 'device' or 'host'

gpu.module @device {
  gpu.func @k(%x: f32) kernel {
    %y = math.exp %x : f32
    gpu.return
  }
}

func.func @host(%x: f32) -> f32 {
  // expected-error @below {{'arith.divf' op is left in host code: nothing lowers it in this form}}
  %y = arith.divf %x, %x : f32
  return %y : f32
}
