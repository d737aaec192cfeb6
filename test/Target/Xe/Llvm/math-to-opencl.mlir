// RUN: xetile-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(gpu.module(xetile-math-to-opencl))" -split-input-file -verify-diagnostics | FileCheck %s

// What LLVM has no function for, and what upstream writes without digits near zero; the others stay.
// CHECK-DAG: llvm.func spir_funccc @_Z5asinhf(f32) -> f32
// CHECK-DAG: llvm.func spir_funccc @_Z5expm1d(f64) -> f64
// CHECK-DAG: llvm.func spir_funccc @_Z3erfd(f64) -> f64
// CHECK-LABEL: func @functions
// CHECK-SAME: %[[X:.*]]: vector<2xf32>, %[[D:.*]]: f64
// CHECK: %[[X0:.*]] = vector.extract %[[X]][0]
// CHECK: %[[Y0:.*]] = llvm.call spir_funccc @_Z5asinhf(%[[X0]]) : (f32) -> f32
// CHECK: %[[X1:.*]] = vector.extract %[[X]][1]
// CHECK: %[[Y1:.*]] = llvm.call spir_funccc @_Z5asinhf(%[[X1]]) : (f32) -> f32
// CHECK: vector.from_elements %[[Y0]], %[[Y1]] : vector<2xf32>
// CHECK: llvm.call spir_funccc @_Z5expm1d(%[[D]])
// CHECK: llvm.call spir_funccc @_Z3erfd(%[[D]])
// CHECK: math.tanh %[[X]]
// CHECK: math.erf %[[X]]
gpu.module @device {
  func.func @functions(%x: vector<2xf32>, %d: f64) -> (vector<2xf32>, f64, f64, vector<2xf32>, vector<2xf32>) {
    %a = math.asinh %x : vector<2xf32>
    %b = math.expm1 %d : f64
    %c = math.erf %d : f64
    %e = math.tanh %x : vector<2xf32>
    %f = math.erf %x : vector<2xf32>
    return %a, %b, %c, %e, %f : vector<2xf32>, f64, f64, vector<2xf32>, vector<2xf32>
  }

  // Functions of f16 are rounded once, from f32; what is exact stays.
  // CHECK-LABEL: func @narrow
  // CHECK: %[[W:.*]] = arith.extf %{{.*}} : f16 to f32
  // CHECK: %[[E:.*]] = math.exp %[[W]] : f32
  // CHECK: arith.truncf %[[E]] : f32 to f16
  // CHECK: math.absf %{{.*}} : f16
  // CHECK: math.fma %{{.*}} : f16
  func.func @narrow(%x: f16) -> (f16, f16, f16) {
    %e = math.exp %x : f16
    %a = math.absf %x : f16
    %f = math.fma %x, %x, %x : f16
    return %e, %a, %f : f16, f16, f16
  }
}

// -----

// No call for each of a million elements: no lane has such a vector.
gpu.module @device {
  func.func @of_no_lane(%x: vector<4096xf32>, %y: vector<4097xf32>) -> (vector<4096xf32>, vector<4097xf32>) {
    %a = math.asinh %x : vector<4096xf32>
    // expected-error @+1 {{'math.asinh' op has a vector of type 'vector<4097xf32>' in device code; expected at most 4096 elements, a known number, which a lane's registers hold; distribute the vector over lanes or cut it before}}
    %b = math.asinh %y : vector<4097xf32>
    return %a, %b : vector<4096xf32>, vector<4097xf32>
  }
}

// -----

gpu.module @device {
  func.func @of_unknown_length(%x: vector<[4]xf64>) -> vector<[4]xf64> {
    // expected-error @+1 {{'math.erf' op has a vector of type 'vector<[4]xf64>'}}
    %a = math.erf %x : vector<[4]xf64>
    return %a : vector<[4]xf64>
  }
}

// -----

// Ops of no dialect are none of math's.
// CHECK-LABEL: func @of_no_dialect
// CHECK: "foo.bar"
gpu.module @device {
  func.func @of_no_dialect(%x: f16) -> f16 {
    %a = "foo.bar"(%x) : (f16) -> f16
    return %a : f16
  }
}
