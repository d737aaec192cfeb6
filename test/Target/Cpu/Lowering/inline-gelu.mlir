// Numbers: test/python/targets/cpu/test_inline_gelu.py.
// RUN: xetile-opt %s --split-input-file --xetile-inline-gelu | FileCheck %s
// RUN: xetile-opt %s --split-input-file --xetile-inline-gelu="vector-bits=128" | FileCheck %s --check-prefix=SSE

// As PyTorch writes it; the constant in f64 is one that no pass folds. Nothing is left of what was there.
// CHECK-LABEL: func @bf16
// CHECK-SAME: (%[[IN:.*]]: vector<16xbf16>)
// CHECK: %[[X:.*]] = arith.extf %[[IN]]
// CHECK-NOT: math.erf
// CHECK-NOT: arith.mulf
// CHECK: %[[T:.*]] = math.absf %[[X]]
// The exponent of 8 coefficients by halves: two squares, no long chain.
// CHECK-COUNT-4: math.fma %{{.*}}, %[[T]], %{{.*}}
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[T]], %[[T]]
// CHECK-COUNT-2: math.fma %{{.*}}, %[[SQUARE]], %{{.*}}
// CHECK: arith.mulf %[[SQUARE]], %[[SQUARE]]
// CHECK-NOT: arith.mulf
// CHECK-COUNT-2: math.fma
// CHECK: arith.subf
// CHECK-COUNT-5: math.fma
// CHECK-NOT: math.fma
// CHECK: %[[POWER:.*]] = arith.mulf
// CHECK: %[[INSIDE:.*]] = arith.cmpf olt, %[[T]], %{{.*}}
// CHECK: %[[BELOW:.*]] = arith.select %[[INSIDE]], %[[POWER]], %{{.*}}
// CHECK: %[[ABOVE:.*]] = arith.subf %{{.*}}, %[[BELOW]]
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt, %[[X]], %{{.*}}
// CHECK: %[[SHARE:.*]] = arith.select %[[POSITIVE]], %[[ABOVE]], %[[BELOW]]
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[SHARE]]
// The low bits of a NaN are those of a bf16: none, and NaN is rounded as numbers are.
// CHECK: arith.bitcast %[[Y]]
// CHECK-NOT: {{select|cmpf|mulf}}
// CHECK: return
// SSE-LABEL: func @bf16
// SSE: math.erf
// SSE: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
func.func @bf16(%in: vector<16xbf16>) -> vector<16xbf16> {
  %wide = arith.constant dense<0.70710678118654757> : vector<16xf64>
  %factor = arith.truncf %wide : vector<16xf64> to vector<16xf32>
  %one = arith.constant dense<1.0> : vector<16xf32>
  %half = arith.constant dense<0.5> : vector<16xf32>
  %x = arith.extf %in : vector<16xbf16> to vector<16xf32>
  %scaled = arith.mulf %x, %factor : vector<16xf32>
  %erf = math.erf %scaled : vector<16xf32>
  %more = arith.addf %erf, %one : vector<16xf32>
  %part = arith.mulf %x, %half : vector<16xf32>
  %y = arith.mulf %part, %more : vector<16xf32>
  %narrow = arith.truncf %y : vector<16xf32> to vector<16xbf16>
  return %narrow : vector<16xbf16>
}

// -----

// A constant that two of its ops have is erased once.
// CHECK-LABEL: func @one_half
// CHECK-NOT: {{math.erf|dense<0.7}}
// CHECK: return
// SSE-LABEL: func @one_half
// SSE: math.erf
func.func @one_half(%x: vector<16xf32>) -> vector<16xbf16> {
  %half = arith.constant dense<0.5> : vector<16xf32>
  %root = arith.constant dense<0.70710678> : vector<16xf32>
  %scaled = arith.mulf %x, %root : vector<16xf32>
  %erf = math.erf %scaled : vector<16xf32>
  %part = arith.mulf %half, %erf : vector<16xf32>
  %share = arith.addf %part, %half : vector<16xf32>
  %y = arith.mulf %x, %share : vector<16xf32>
  %narrow = arith.truncf %y : vector<16xf32> to vector<16xbf16>
  return %narrow : vector<16xbf16>
}

// -----

// Another order, by a division, of a number of f32: its NaN needs a selection.
// CHECK-LABEL: func @of_f32
// CHECK-NOT: math.erf
// CHECK-COUNT-3: arith.select
// CHECK-NOT: arith.select
// CHECK: return
func.func @of_f32(%x: f32) -> bf16 {
  %root = arith.constant 1.41421354 : f32
  %half = arith.constant 0.5 : f32
  %scaled = arith.divf %x, %root : f32
  %erf = math.erf %scaled : f32
  %part = arith.mulf %erf, %half : f32
  %share = arith.addf %half, %part : f32
  %y = arith.mulf %share, %x : f32
  %narrow = arith.truncf %y : f32 to bf16
  return %narrow : bf16
}

// -----

// 1 - erf of -x; x is a product itself. f16 needs fewer factors of its argument, and is rounded by an instruction.
// CHECK-LABEL: func @f16
// CHECK: %[[X:.*]] = arith.mulf %arg0, %{{.*}}
// CHECK-NOT: math.erfc
// CHECK-COUNT-7: math.fma
// CHECK: arith.subf
// CHECK-COUNT-5: math.fma
// CHECK-NOT: math.fma
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @f16(%given: f32) -> f16 {
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.70710678 : f32
  %half = arith.constant 0.5 : f32
  %x = arith.mulf %given, %three : f32
  %negated = arith.negf %x : f32
  %scaled = arith.mulf %factor, %negated : f32
  %erfc = math.erfc %scaled : f32
  %part = arith.mulf %x, %erfc : f32
  %y = arith.mulf %half, %part : f32
  %narrow = arith.truncf %y : f32 to f16
  return %narrow : f16
}

// -----

// Of f32 all bits are kept, here by another use.
// CHECK-LABEL: func @kept
// CHECK-COUNT-1: math.erf
// CHECK: arith.truncf
func.func @kept(%x: f32) -> (bf16, f32) {
  %factor = arith.constant 0.70710678 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %scaled = arith.mulf %x, %factor : f32
  %erf = math.erf %scaled : f32
  %more = arith.addf %erf, %one : f32
  %part = arith.mulf %x, %half : f32
  %y = arith.mulf %part, %more : f32
  %narrow = arith.truncf %y : f32 to bf16
  return %narrow, %y : bf16, f32
}

// -----

// A rounding that the op names is not ours.
// CHECK-LABEL: func @named
// CHECK: math.erf
// CHECK: arith.truncf %{{.*}} toward_zero
func.func @named(%x: f32) -> bf16 {
  %factor = arith.constant 0.70710678 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %scaled = arith.mulf %x, %factor : f32
  %erf = math.erf %scaled : f32
  %more = arith.addf %erf, %one : f32
  %part = arith.mulf %x, %half : f32
  %y = arith.mulf %part, %more : f32
  %narrow = arith.truncf %y toward_zero : f32 to bf16
  return %narrow : bf16
}

// -----

// No GELUs: another factor of x, another share of it, another factor, another summand, another x, twice x, a quotient.
// CHECK-LABEL: func @others
// CHECK-COUNT-2: math.erf %
// CHECK: math.erfc %
// CHECK-COUNT-3: arith.truncf
// CHECK: math.erf %
// CHECK: arith.truncf
// CHECK: math.erf %
// CHECK: arith.truncf
// CHECK: math.erf %
// CHECK: arith.truncf
// CHECK: math.erf %
// CHECK: arith.truncf
func.func @others(%x: f32, %z: f32) -> (bf16, bf16, bf16, bf16, bf16, bf16, bf16) {
  %factor = arith.constant 0.70710678 : f32
  %other = arith.constant 0.7071 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %scaled = arith.mulf %x, %factor : f32
  %erf = math.erf %scaled : f32
  %more = arith.addf %erf, %one : f32
  %part = arith.mulf %x, %half : f32

  %scaled0 = arith.mulf %x, %other : f32
  %erf0 = math.erf %scaled0 : f32
  %erfc1 = math.erfc %scaled : f32
  %more0 = arith.addf %erf0, %one : f32
  %y0 = arith.mulf %part, %more0 : f32
  %narrow0 = arith.truncf %y0 : f32 to bf16

  %y1 = arith.mulf %part, %erfc1 : f32
  %narrow1 = arith.truncf %y1 : f32 to bf16

  %y2 = arith.mulf %x, %more : f32
  %narrow2 = arith.truncf %y2 : f32 to bf16

  %erf3 = math.erf %scaled : f32
  %more3 = arith.addf %erf3, %half : f32
  %y3 = arith.mulf %part, %more3 : f32
  %narrow3 = arith.truncf %y3 : f32 to bf16

  %erf4 = math.erf %scaled : f32
  %more4 = arith.addf %erf4, %one : f32
  %part4 = arith.mulf %z, %half : f32
  %y4 = arith.mulf %part4, %more4 : f32
  %narrow4 = arith.truncf %y4 : f32 to bf16

  %erf5 = math.erf %scaled : f32
  %more5 = arith.addf %erf5, %one : f32
  %y5 = arith.mulf %part, %more5 : f32
  %twice5 = arith.mulf %y5, %x : f32
  %narrow5 = arith.truncf %twice5 : f32 to bf16

  %erf6 = math.erf %scaled : f32
  %more6 = arith.addf %erf6, %one : f32
  %quotient6 = arith.divf %more6, %z : f32
  %y6 = arith.mulf %part, %quotient6 : f32
  %narrow6 = arith.truncf %y6 : f32 to bf16
  return %narrow0, %narrow1, %narrow2, %narrow3, %narrow4, %narrow5, %narrow6
      : bf16, bf16, bf16, bf16, bf16, bf16, bf16
}

// -----

// Other types than f32 to 16 bits; tensors.
// CHECK-LABEL: func @of_f64
// CHECK: math.erf
func.func @of_f64(%x: f64) -> bf16 {
  %factor = arith.constant 0.70710678 : f64
  %one = arith.constant 1.0 : f64
  %half = arith.constant 0.5 : f64
  %scaled = arith.mulf %x, %factor : f64
  %erf = math.erf %scaled : f64
  %more = arith.addf %erf, %one : f64
  %part = arith.mulf %x, %half : f64
  %y = arith.mulf %part, %more : f64
  %narrow = arith.truncf %y : f64 to bf16
  return %narrow : bf16
}

// CHECK-LABEL: func @to_f8
// CHECK: math.erf
func.func @to_f8(%x: f32) -> f8E4M3FN {
  %factor = arith.constant 0.70710678 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %scaled = arith.mulf %x, %factor : f32
  %erf = math.erf %scaled : f32
  %more = arith.addf %erf, %one : f32
  %part = arith.mulf %x, %half : f32
  %y = arith.mulf %part, %more : f32
  %narrow = arith.truncf %y : f32 to f8E4M3FN
  return %narrow : f8E4M3FN
}

// CHECK-LABEL: func @of_tensors
// CHECK: math.erf
func.func @of_tensors(%x: tensor<4xf32>) -> tensor<4xbf16> {
  %factor = arith.constant dense<0.70710678> : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %scaled = arith.mulf %x, %factor : tensor<4xf32>
  %erf = math.erf %scaled : tensor<4xf32>
  %more = arith.addf %erf, %one : tensor<4xf32>
  %part = arith.mulf %x, %half : tensor<4xf32>
  %y = arith.mulf %part, %more : tensor<4xf32>
  %narrow = arith.truncf %y : tensor<4xf32> to tensor<4xbf16>
  return %narrow : tensor<4xbf16>
}

// -----

// Kernels of GPUs are not ours.
// CHECK-LABEL: gpu.module @device
// CHECK: math.erf
gpu.module @device {
  func.func @kernel(%x: f32) -> bf16 {
    %factor = arith.constant 0.70710678 : f32
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %scaled = arith.mulf %x, %factor : f32
    %erf = math.erf %scaled : f32
    %more = arith.addf %erf, %one : f32
    %part = arith.mulf %x, %half : f32
    %y = arith.mulf %part, %more : f32
    %narrow = arith.truncf %y : f32 to bf16
    return %narrow : bf16
  }
}
