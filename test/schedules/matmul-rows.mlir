// A matmul and a softmax of its rows are one kernel, which multiplies once and prefetches both operands.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @scores(
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.func @scores_0_matmul_rows_kernel
// CHECK-COUNT-8: xetile.prefetch_tile
// CHECK: xetile.tile_mma {{.*}} vector<64x128xf32>
// CHECK: scf.yield
// CHECK-NOT: xetile.tile_mma
// CHECK: xetile.tile_reduce <maxnumf>
// CHECK: xetile.tile_reduce <add>
// CHECK: xetile.store_tile
func.func @scores(%x: tensor<256x512xf16>, %w: tensor<512x128xf16>) -> tensor<256x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %h = linalg.matmul ins(%x, %w : tensor<256x512xf16>, tensor<512x128xf16>) outs(%z : tensor<256x128xf32>) -> tensor<256x128xf32>
  %y = linalg.softmax dimension(1) ins(%h : tensor<256x128xf32>) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}
