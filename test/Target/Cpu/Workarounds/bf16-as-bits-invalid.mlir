// RUN: xetile-opt %s --xetile-bf16-as-bits --verify-diagnostics
func.func @not_lowered(%a: f32) -> f32 {
  // expected-error @+1 {{'arith.truncf' op has values of bf16 and is not of the LLVM dialect: lower it first}}
  %b = arith.truncf %a : f32 to bf16
  %c = arith.extf %b : bf16 to f32
  return %c : f32
}
