// RUN: xetile-opt %s --verify-diagnostics --xetile-check-lowered="forbid=math,arith.divf after=the-lowering"

gpu.module @device {
  gpu.func @k(%x: f32) kernel {
    // expected-error @below {{'math.exp' op is left in device code after the-lowering: nothing lowers it in this form}}
    %y = math.exp %x : f32
    // expected-error @below {{'arith.divf' op is left in device code}}
    %z = arith.divf %y, %x : f32
    %w = arith.addf %z, %x : f32
    gpu.return
  }
}

// Host code is another scope.
func.func @host(%x: f32) -> f32 {
  %y = arith.divf %x, %x : f32
  return %y : f32
}
