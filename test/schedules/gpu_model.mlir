// A program becomes kernels of one module, launched one after the other; nothing else is left.
// Stock mlir-opt with the plugin makes the same of it.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @mlp(
// CHECK-SAME: %[[X:.*]]: memref<64x32xf16>, %[[W:.*]]: memref<32x512xf16>
// CHECK-NOT: linalg
// CHECK: %[[H:.*]] = memref.alloc() {{.*}} : memref<64x512xf32>
// CHECK: gpu.launch_func @mlp_0_matmul_kernel::@mlp_0_matmul_kernel {{.*}} args(%[[X]] : memref<64x32xf16>, %[[W]] : memref<32x512xf16>, %[[H]] : memref<64x512xf32>)
// CHECK: %[[Y:.*]] = memref.alloc() : memref<64x512xf32>
// CHECK: gpu.launch_func @mlp_0_matmul_kernel::@mlp_1_rows_kernel {{.*}} args(%[[H]] : memref<64x512xf32>, %[[Y]] : memref<64x512xf32>)
// CHECK: return %[[Y]]
// CHECK: gpu.module @mlp_0_matmul_kernel
// CHECK: gpu.func @mlp_0_matmul_kernel
// CHECK: xetile.tile_mma
// CHECK: gpu.func @mlp_1_rows_kernel
// CHECK: xetile.tile_reduce <maxnumf>
// CHECK: xetile.tile_reduce <add>
// CHECK-NOT: gpu.module
func.func @mlp(%x: tensor<64x32xf16>, %w: tensor<32x512xf16>) -> tensor<64x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %h = linalg.matmul ins(%x, %w : tensor<64x32xf16>, tensor<32x512xf16>) outs(%z : tensor<64x512xf32>) -> tensor<64x512xf32>
  %y = linalg.softmax dimension(1) ins(%h : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}
