// Sizes that no tile divides: tiles of full size hang over the edges, and nothing is padded or peeled.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: xetile.tiling = {k_step = 16 : i64, prefetch = 0 : i64, subgroups = array<i64: 4, 4>, workgroup = array<i64: 64, 64>}
// CHECK-NOT: memref.copy {{.*}}f16
// CHECK: gpu.func @matmul_kernel
// CHECK-SAME: known_grid_size = array<i32: 16, 16, 1>
// CHECK-DAG: %[[K_END:.*]] = arith.constant 1003 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 16 : index
// CHECK: %[[C:.*]] = xetile.load_tile %{{.*}} -> vector<64x64xf32>
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %[[K_END]] step %[[STEP]] iter_args(%[[ACC:.*]] = %[[C]])
// CHECK-NOT: mask
// CHECK: xetile.init_tile %{{.*}}[%{{.*}}, %[[K]]] : memref<1001x1003xf16> -> !xetile.tile<64x16xf16,
// CHECK: xetile.init_tile %{{.*}}[%[[K]], %{{.*}}] : memref<1003x999xf16> -> !xetile.tile<16x64xf16,
// CHECK: xetile.tile_mma
// CHECK: xetile.store_tile %[[SUM]]
// CHECK-NEXT: gpu.return
func.func @matmul(%A: tensor<1001x1003xf16>, %B: tensor<1003x999xf16>, %C: tensor<1001x999xf32>) -> tensor<1001x999xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1001x1003xf16>, tensor<1003x999xf16>)
                     outs(%C : tensor<1001x999xf32>) -> tensor<1001x999xf32>
  return %D : tensor<1001x999xf32>
}
