// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-round-to-bf16))" | FileCheck %s

// CHECK-DAG: llvm.func spir_funccc @__builtin_IB_ftobf_1(f32) -> i16 attributes {memory_effects = #llvm.memory_effects<other = none
// CHECK-DAG: llvm.func spir_funccc @__builtin_IB_ftobf_2(vector<2xf32>) -> vector<2xi16>
// CHECK-DAG: llvm.func spir_funccc @__builtin_IB_ftobf_16(vector<16xf32>) -> vector<16xi16>
gpu.module @device {
  // CHECK-LABEL: func @scalar
  // CHECK: %[[BITS:.*]] = llvm.call spir_funccc @__builtin_IB_ftobf_1(%{{.*}}) : (f32) -> i16
  // CHECK: arith.bitcast %[[BITS]] : i16 to bf16
  func.func @scalar(%x: f32) -> bf16 {
    %y = arith.truncf %x : f32 to bf16
    return %y : bf16
  }

  // Lengths that the library has no function for go in pieces.
  // CHECK-LABEL: func @pieces
  // CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [16], strides = [1]}
  // CHECK: llvm.call spir_funccc @__builtin_IB_ftobf_16
  // CHECK: vector.extract_strided_slice %{{.*}} {offsets = [16], sizes = [2], strides = [1]}
  // CHECK: llvm.call spir_funccc @__builtin_IB_ftobf_2
  // CHECK: vector.extract_strided_slice %{{.*}} {offsets = [18], sizes = [1], strides = [1]}
  // CHECK: llvm.call spir_funccc @__builtin_IB_ftobf_1
  // CHECK: arith.bitcast %{{.*}} : vector<19xi16> to vector<19xbf16>
  func.func @pieces(%x: vector<19xf32>) -> vector<19xbf16> {
    %y = arith.truncf %x : vector<19xf32> to vector<19xbf16>
    return %y : vector<19xbf16>
  }

  // Other conversions, and vectors of several dimensions, stay.
  // CHECK-LABEL: func @others
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  // CHECK: arith.truncf %{{.*}} : vector<2x2xf32> to vector<2x2xbf16>
  func.func @others(%x: f32, %m: vector<2x2xf32>) -> (f16, vector<2x2xbf16>) {
    %y = arith.truncf %x : f32 to f16
    %z = arith.truncf %m : vector<2x2xf32> to vector<2x2xbf16>
    return %y, %z : f16, vector<2x2xbf16>
  }
}
