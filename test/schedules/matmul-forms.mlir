// Operands that are transposed, and batches, are tiles of views: nothing is copied.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK: gpu.func @matmul_kernel
// CHECK-SAME: known_grid_size = array<i32: 1, 1, 6>
// CHECK: %[[Z:.*]] = gpu.block_id z
// CHECK: %[[A:.*]] = memref.subview %{{.*}}[%[[B0:.*]], %[[B1:.*]], 0, 0] [1, 1, 96, 128] [1, 1, 1, 1] : memref<2x3x96x128xf16> to memref<96x128xf16, strided<[128, 1], offset: ?>>
// CHECK: %[[AT:.*]] = memref.transpose %[[A]] (d0, d1) -> (d1, d0)
// CHECK: xetile.init_tile %[[AT]][%{{.*}}, %{{.*}}] : memref<128x96xf16, strided<[1, 128], offset: ?>> -> !xetile.tile<128x32xf16, {{.*}}>
// CHECK: xetile.tile_mma
// CHECK: xetile.store_tile
#a = affine_map<(b, c, m, n, k) -> (b, c, k, m)>
#b = affine_map<(b, c, m, n, k) -> (k, n)>
#c = affine_map<(b, c, m, n, k) -> (b, c, m, n)>
func.func @matmul(%A: tensor<2x3x96x128xf16>, %B: tensor<96x256xf16>, %C: tensor<2x3x128x256xf32>) -> tensor<2x3x128x256xf32> {
  %D = linalg.contract indexing_maps = [#a, #b, #c] ins(%A, %B : tensor<2x3x96x128xf16>, tensor<96x256xf16>)
                       outs(%C : tensor<2x3x128x256xf32>) -> tensor<2x3x128x256xf32>
  return %D : tensor<2x3x128x256xf32>
}
