// A chain of two ops becomes one kernel in XeTile, and nothing is left for the host.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/elementwise.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/elementwise.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @chain(
// CHECK-NOT: linalg
// CHECK: memref.alloc()
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func @chain_kernel::@chain_kernel
// CHECK: gpu.func @chain_kernel
// CHECK: %[[A:.*]] = xetile.load_tile %{{.*}} -> vector<128x64xf32>
// CHECK: %[[E:.*]] = math.exp %[[A]] : vector<128x64xf32>
// CHECK: %[[N:.*]] = arith.negf %[[E]]
// CHECK: xetile.store_tile %[[N]]
func.func @chain(%A: tensor<500x500xf32>) -> tensor<500x500xf32> {
  %empty = tensor.empty() : tensor<500x500xf32>
  %E = linalg.exp ins(%A : tensor<500x500xf32>) outs(%empty : tensor<500x500xf32>) -> tensor<500x500xf32>
  %N = linalg.negf ins(%E : tensor<500x500xf32>) outs(%empty : tensor<500x500xf32>) -> tensor<500x500xf32>
  return %N : tensor<500x500xf32>
}
