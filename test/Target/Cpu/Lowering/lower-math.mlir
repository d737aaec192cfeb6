// RUN: xetile-opt %s --split-input-file --xetile-lower-math --cse | FileCheck %s
// RUN: xetile-opt %s --split-input-file --xetile-lower-math="libmvec=false" | FileCheck %s --check-prefix=LANES
// RUN: xetile-opt %s --split-input-file --xetile-lower-math="vector-bits=256" | FileCheck %s --check-prefix=AVX2
// RUN: xetile-opt %s --split-input-file --xetile-lower-math="vector-bits=128" | FileCheck %s --check-prefix=SSE
// RUN: env XETILE_CPU_WITHOUT=avx512f xetile-opt %s --split-input-file --xetile-lower-math="host-instructions" | FileCheck %s --check-prefix=HOST

// A register of lanes is one call, of glibc's function on vectors.
// CHECK: func.func private @_ZGVeN16v_exp2f(vector<16xf32>) -> vector<16xf32> attributes {llvm.readnone}
// CHECK-LABEL: func @exp2
// CHECK-NEXT: %[[Y:.*]] = call @_ZGVeN16v_exp2f(%{{.*}})
// CHECK-NEXT: return %[[Y]]
// LANES-LABEL: func @exp2
// LANES-COUNT-16: call @exp2f(%{{.*}}) : (f32) -> f32
// LANES-NOT: call
// LANES: return
// Two registers of AVX2.
// AVX2-LABEL: func @exp2
// AVX2-COUNT-2: call @_ZGVdN8v_exp2f
// AVX2-NOT: call
// AVX2: return
func.func @exp2(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp2 %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Some functions of f32 are inline: a polynomial between two steps that take exponents apart and together. AVX-512 does
// the last one by an instruction; it takes powers of two that f32 does not have.
// CHECK-LABEL: func @inline
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[ROUND:.*]] : vector<16xf32>
// CHECK: %[[N:.*]] = arith.subf %{{.*}}, %[[ROUND]] : vector<16xf32>
// CHECK-COUNT-7: math.fma
// CHECK: %[[POWER:.*]] = math.fma
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%[[POWER]], %[[N]], %[[POWER]], %{{.*}}, %{{.*}})
// CHECK-NOT: {{call|mulf}}
// CHECK: return
// LANES-LABEL: func @inline
// LANES-NOT: func.call
// LANES: return
// AVX2-LABEL: func @inline
// AVX2: %[[N:.*]] = math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<16xf32>
// AVX2: %[[BITS:.*]] = arith.bitcast %[[N]] : vector<16xf32> to vector<16xi32>
// AVX2-COUNT-6: math.fma
// AVX2: %[[HALF:.*]] = arith.shrui %[[BITS]]
// AVX2: arith.subi %[[BITS]], %[[HALF]]
// AVX2-COUNT-2: arith.mulf
// AVX2-NOT: call
// AVX2: return
// Vectors of 512 bits on a machine that has none: LLVM splits them.
// HOST-LABEL: func @inline
// HOST-NOT: call
// HOST: arith.shrui
// HOST-COUNT-2: arith.mulf
// HOST-NOT: call
// HOST: return
// Without FMA they are calls.
// SSE-LABEL: func @inline
// SSE-COUNT-4: call @_ZGVbN4v_expf
func.func @inline(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Fewer lanes, as scalars, in two steps: with the same result.
// CHECK-LABEL: func @inline_of_fewer_lanes
// AVX2-LABEL: func @inline_of_fewer_lanes
// CHECK: arith.shrui
// CHECK-COUNT-2: arith.mulf
// CHECK-NOT: call
// CHECK: return
func.func @inline_of_fewer_lanes(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// The stack is aligned for what does not fit into registers.
// CHECK: func @stack({{.*}}) -> vector<16xf32> attributes {passthrough = ["noinline", "stackrealign"]}
func.func @stack(%x: vector<16xf32>) -> vector<16xf32> attributes {passthrough = ["noinline"]} {
  %y = math.exp %x : vector<16xf32>
  %z = math.log %y : vector<16xf32>
  return %z : vector<16xf32>
}

// -----

// Scalars of f32, too: a result does not depend on where its element is. f64 is the libraries'.
// CHECK-LABEL: func @inline_scalars
// CHECK-NOT: math.{{erf|expm1|tanh|log}}
// CHECK-NOT: call @{{.*}}f(
// CHECK: call @erf(%{{.*}}) : (f64) -> f64
// CHECK: return
// SSE-LABEL: func @inline_scalars
// SSE: call @erff
// SSE: call @expm1f
// SSE: call @tanhf
// SSE: call @logf
// SSE: call @log1pf
func.func @inline_scalars(%x: f32, %y: f64) -> (f32, f64) {
  %a = math.erf %x : f32
  %b = math.expm1 %a : f32
  %c = math.tanh %b : f32
  %d = math.log %c : f32
  %e = math.log1p %d : f32
  %f = math.erf %y : f64
  return %e, %f : f32, f64
}

// -----

// CHECK-LABEL: func @two_operands
// CHECK: call @_ZGVeN8vv_atan2(%{{.*}}, %{{.*}}) : (vector<8xf64>, vector<8xf64>) -> vector<8xf64>
func.func @two_operands(%x: vector<8xf64>, %y: vector<8xf64>) -> vector<8xf64> {
  %z = math.atan2 %x, %y : vector<8xf64>
  return %z : vector<8xf64>
}

// -----

// Fewer lanes than the least register has: what is left over repeats the first lane.
// CHECK-LABEL: func @few_lanes
// CHECK: %[[X:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 0] : vector<3xf32>, vector<3xf32>
// CHECK: %[[Y:.*]] = call @_ZGVbN4v_log2f(%[[X]])
// CHECK: vector.shuffle %[[Y]], %[[Y]] [0, 1, 2]
func.func @few_lanes(%x: vector<3xf32>) -> vector<3xf32> {
  %y = math.log2 %x : vector<3xf32>
  return %y : vector<3xf32>
}

// -----

// More lanes than whole registers have: the last one is shorter.
// CHECK-LABEL: func @many_lanes
// CHECK-COUNT-2: call @_ZGVeN16v_log2f
// CHECK-NOT: call
// CHECK: return
func.func @many_lanes(%x: vector<20xf32>) -> vector<20xf32> {
  %y = math.log2 %x : vector<20xf32>
  return %y : vector<20xf32>
}

// -----

// CHECK-LABEL: func @two_dimensions
// CHECK: vector.shape_cast %{{.*}} : vector<2x8xf32> to vector<16xf32>
// CHECK: call @_ZGVeN16v_sinhf
// CHECK: vector.shape_cast %{{.*}} : vector<16xf32> to vector<2x8xf32>
func.func @two_dimensions(%x: vector<2x8xf32>) -> vector<2x8xf32> {
  %y = math.sinh %x : vector<2x8xf32>
  return %y : vector<2x8xf32>
}

// -----

// Scalars call libm; one declaration is enough.
// CHECK-COUNT-1: func.func private @tan(f64) -> f64
// CHECK-NOT: private @tan(
// CHECK-LABEL: func @scalars
// CHECK: call @tanf
// CHECK-COUNT-2: call @tan(
func.func @scalars(%x: f32, %y: f64, %z: f64) -> (f32, f64, f64) {
  %a = math.tan %x : f32
  %b = math.tan %y : f64
  %c = math.tan %z : f64
  return %a, %b, %c : f32, f64, f64
}

// -----

// Narrow floats are computed in f32.
// CHECK-LABEL: func @narrow
// CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
func.func @narrow(%x: vector<16xf16>) -> vector<16xf16> {
  %y = math.fma %x, %x, %x : vector<16xf16>
  return %y : vector<16xf16>
}

// -----

// bf16 is the upper half of f32. LLVM knows that, too, but would do the function of an extended number on bf16.
// CHECK-LABEL: func @from_bf16
// CHECK: %[[LOW:.*]] = arith.extui %{{.*}} : vector<16xi16> to vector<16xi32>
// CHECK: arith.shli %[[LOW]]
// CHECK: %[[X:.*]] = arith.bitcast {{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: math.ceil %[[X]] : vector<16xf32>
func.func @from_bf16(%x: vector<16xbf16>) -> vector<16xbf16> {
  %y = math.ceil %x : vector<16xbf16>
  return %y : vector<16xbf16>
}

// -----

// What the LLVM dialect has instructions for stays, on vectors, too.
// CHECK-LABEL: func @instructions
// CHECK: math.floor {{.*}} : vector<16xf32>
// CHECK: math.copysign {{.*}} : vector<16xf32>
// CHECK: math.ctpop {{.*}} : vector<16xi32>
// CHECK-NOT: call
// CHECK: return
func.func @instructions(%x: vector<16xf32>, %i: vector<16xi32>) -> (vector<16xf32>, vector<16xi32>) {
  %y = math.floor %x : vector<16xf32>
  %z = math.copysign %y, %x : vector<16xf32>
  %j = math.ctpop %i : vector<16xi32>
  return %z, %j : vector<16xf32>, vector<16xi32>
}

// -----

// A subnormal f16 is a normal f32: the bits are looked at as they are.
// CHECK-LABEL: func @normal
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<32xf16> to vector<32xi16>
// CHECK: %[[MAGNITUDE:.*]] = arith.andi %[[BITS]]
// CHECK: %[[ABOVE:.*]] = arith.subi %[[MAGNITUDE]], %{{.*}} : vector<32xi16>
// CHECK: arith.cmpi ult, %[[ABOVE]]
func.func @normal(%x: vector<32xf16>) -> vector<32xi1> {
  %y = math.isnormal %x : vector<32xf16>
  return %y : vector<32xi1>
}

// -----

// CHECK-LABEL: func @sincos
// CHECK-DAG: call @_ZGVeN16v_sinf
// CHECK-DAG: call @_ZGVeN16v_cosf
// CHECK: return
func.func @sincos(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %y, %z = math.sincos %x : vector<16xf32>
  return %y, %z : vector<16xf32>, vector<16xf32>
}

// -----

// CHECK-LABEL: func @powers
// A small constant exponent takes products.
// CHECK: %[[TWO:.*]] = arith.mulf %arg0, %arg0 : vector<16xf32>
// CHECK: arith.mulf %arg0, %[[TWO]] : vector<16xf32>
// Others are powers of the magnitude in f64; the sign follows.
// CHECK: %[[MAGNITUDE:.*]] = math.absf %arg0 : vector<16xf32>
// CHECK: arith.extf %[[MAGNITUDE]] : vector<16xf32> to vector<16xf64>
// CHECK: arith.sitofp %arg1 : vector<16xi32> to vector<16xf64>
// CHECK-COUNT-2: call @_ZGVeN8vv_pow
// CHECK: arith.negf
func.func @powers(%x: vector<16xf32>, %n: vector<16xi32>) -> (vector<16xf32>, vector<16xf32>) {
  %three = arith.constant dense<3> : vector<16xi32>
  %y = math.fpowi %x, %three : vector<16xf32>, vector<16xi32>
  %z = math.fpowi %x, %n : vector<16xf32>, vector<16xi32>
  return %y, %z : vector<16xf32>, vector<16xf32>
}

// -----

// The loop ends when no lane has bits of the exponent left.
// CHECK-LABEL: func @integer_powers
// CHECK: scf.while
// CHECK: vector.reduction <or>
// CHECK: scf.condition
// CHECK: arith.shrui
// CHECK-NOT: math
// CHECK: return
func.func @integer_powers(%x: vector<16xi32>, %n: vector<16xi32>) -> vector<16xi32> {
  %y = math.ipowi %x, %n : vector<16xi32>
  return %y : vector<16xi32>
}

// -----

// Code for devices is left alone.
// CHECK-LABEL: gpu.module
// CHECK: math.exp
gpu.module @device {
  func.func @helper(%x: f32) -> f32 {
    %y = math.exp %x : f32
    return %y : f32
  }
}

// -----

// To bf16 on integers: LLVM would call a function of a library, for each lane, where there is no instruction.
// CHECK-LABEL: func @to_bf16
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: arith.trunci {{.*}} : vector<16xi32> to vector<16xi16>
// CHECK-NOT: truncf
// CHECK: return
func.func @to_bf16(%x: vector<16xf32>) -> vector<16xbf16> {
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}

// -----

// From f64 by an f32 that is odd where it is inexact: rounded once.
// CHECK-LABEL: func @f64_to_f16
// CHECK: %[[F32:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.extf %[[F32]] : f32 to f64
// CHECK: arith.ori
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @f64_to_f16(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f16
  return %y : f16
}

// -----

// CHECK-LABEL: func @arithmetic_in_bf16
// CHECK: arith.mulf %{{.*}} : vector<16xf32>
// CHECK-NOT: arith.{{.*}}f {{.*}} : vector<16xbf16>{{$}}
// CHECK: return
func.func @arithmetic_in_bf16(%x: vector<16xbf16>, %i: vector<16xi32>) -> vector<16xbf16> {
  %a = arith.sitofp %i : vector<16xi32> to vector<16xbf16>
  %y = arith.mulf %x, %a : vector<16xbf16>
  %z = arith.maximumf %y, %x : vector<16xbf16>
  return %z : vector<16xbf16>
}
