// One step along k: no loop is left, so nothing is prefetched, and the accumulator is added once.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK: gpu.func @matmul_kernel
// CHECK-NOT: scf.for
// CHECK-NOT: prefetch_tile
// CHECK: %[[C:.*]] = xetile.load_tile %{{.*}} -> vector<256x256xf32>
// CHECK: %[[D:.*]] = xetile.tile_mma %{{.*}}, %{{.*}}, %[[C]]
// CHECK: xetile.store_tile %[[D]]
func.func @matmul(%A: tensor<512x32xf16>, %B: tensor<32x256xf16>, %C: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<512x32xf16>, tensor<32x256xf16>)
                     outs(%C : tensor<512x256xf32>) -> tensor<512x256xf32>
  return %D : tensor<512x256xf32>
}
