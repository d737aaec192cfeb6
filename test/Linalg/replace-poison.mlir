// REQUIRES: cpu
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

// CHECK-LABEL: @numbers
// CHECK-DAG:    %[[F:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:    %[[I:.*]] = arith.constant false
// CHECK-DAG:    %[[X:.*]] = arith.constant 0 : index
// CHECK:        return %[[F]], %[[I]], %[[X]]
func.func @numbers() -> (f32, i1, index) {
  %float = ub.poison : f32
  %bit = ub.poison : i1
  %index = ub.poison : index
  return %float, %bit, %index : f32, i1, index
}

// -----

// Upstream's folding crashes on poison among other elements.
// MEMORY-LABEL: @elements
// MEMORY:         memref.store
// MEMORY:         return
func.func @elements(%x: f16) -> tensor<2xf16> {
  %any = ub.poison : f16
  %sum = arith.addf %any, %x : f16
  %all = tensor.from_elements %any, %sum : tensor<2xf16>
  return %all : tensor<2xf16>
}

// -----

// Vectors need no memory.
// CHECK-LABEL: @vectors
// CHECK-NEXT:    ub.poison : vector<4xf32>
func.func @vectors() -> vector<4xf32> {
  %vector = ub.poison : vector<4xf32>
  return %vector : vector<4xf32>
}

// -----

func.func @sizes_that_nothing_tells() -> tensor<?x4xf32> {
  // expected-error @below {{'ub.poison' op has the type 'tensor<?x4xf32>', whose sizes nothing tells: expected static sizes, or a tensor.empty with sizes}}
  %any = ub.poison : tensor<?x4xf32>
  return %any : tensor<?x4xf32>
}
