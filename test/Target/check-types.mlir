// REQUIRES: cpu
// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-check-types
// RUN: not xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-to-cpu)' 2>&1 | FileCheck %s
// RUN: not xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-xevm-to-binary{native=off})' 2>&1 | FileCheck %s
// RUN: not xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-xegpu-to-xevm{chip=pvc})' 2>&1 | FileCheck %s

// Upstream's folding, which comes with a lowering, crashes on this one.
// CHECK: error: 'tensor.from_elements' op has a value of type 'tensor<2xf16>', which has no memory
func.func @tensors(%a: f16) {
  %p = ub.poison : f16
  %s = arith.addf %p, %a : f16
  // expected-error @below {{'tensor.from_elements' op has a value of type 'tensor<2xf16>', which has no memory: expected memref; bufferize before (for CPUs xetile-bufferize-for-cpu)}}
  %t = tensor.from_elements %p, %s : tensor<2xf16>
  return
}

// -----

// expected-error @below {{'func.func' op has a value of type 'tensor<4xf32>', which has no memory}}
func.func @arguments(%a: tensor<4xf32>) {
  return
}

// -----

// expected-error @below {{'func.func' op has a value of type 'vector<9223372036854775807x2xf32>': expected vectors of at most 4194304 elements, cut it in loops}}
func.func @more_than_can_be_counted(%a: vector<9223372036854775807x2xf32>) {
  return
}

// -----

func.func @long_vectors(%a: memref<4x64x64xf16>, %i: index) {
  %zero = arith.constant 0.0 : f16
  %largest = vector.transfer_read %a[%i, %i, %i], %zero : memref<4x64x64xf16>, vector<4x1024x1024xf16>
  // expected-error @below {{'vector.transfer_read' op has a value of type 'vector<4x32x2147483648xf16>': expected vectors of at most 4194304 elements}}
  %longer = vector.transfer_read %a[%i, %i, %i], %zero : memref<4x64x64xf16>, vector<4x32x2147483648xf16>
  return
}
