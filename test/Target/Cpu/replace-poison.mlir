// RUN: xetile-opt %s --xetile-replace-poison --split-input-file --verify-diagnostics | FileCheck %s
// RUN: xetile-opt %s --xetile-bufferize-for-cpu --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=MEMORY

// CHECK-LABEL: @tensors
// CHECK-NEXT:    %[[ANY:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT:    return %[[ANY]]
// MEMORY-LABEL: @tensors
// MEMORY:         %[[ANY:.*]] = memref.alloc() {{.*}}: memref<8x4xf32>
// MEMORY:         return %[[ANY]]
func.func @tensors() -> tensor<8x4xf32> {
  %any = ub.poison : tensor<8x4xf32>
  return %any : tensor<8x4xf32>
}

// -----

// Scalars and vectors need no memory.
// CHECK-LABEL: @others
// CHECK-NEXT:    ub.poison : f32
// CHECK-NEXT:    ub.poison : vector<4xf32>
func.func @others() -> (f32, vector<4xf32>) {
  %scalar = ub.poison : f32
  %vector = ub.poison : vector<4xf32>
  return %scalar, %vector : f32, vector<4xf32>
}

// -----

func.func @sizes_that_nothing_tells() -> tensor<?x4xf32> {
  // expected-error @below {{'ub.poison' op has the type 'tensor<?x4xf32>', whose sizes nothing tells: expected static sizes, or a tensor.empty with sizes}}
  %any = ub.poison : tensor<?x4xf32>
  return %any : tensor<?x4xf32>
}
