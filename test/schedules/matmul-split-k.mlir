// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// One tile of C, and k of no whole number of parts: 4 parts of 1280 are workgroups. The last one reads zeros beyond the end of
// A and B, whose memory is read as it is.
// CHECK-LABEL: func.func @f(%arg0: memref<40x5000xf16>, %arg1: memref<5000x72xf16>, %arg2: memref<40x72xf32>)
// CHECK: %[[PARTS:.*]] = memref.alloc() {{.*}} : memref<4x40x72xf32>
// CHECK: gpu.launch_func @f_0_matmul_kernel::@f_0_matmul_kernel blocks in (%c1, %c1, %c4)
// CHECK-SAME: args(%arg0 : memref<40x5000xf16>, %arg1 : memref<5000x72xf16>, %[[PARTS]] : memref<4x40x72xf32>)
// CHECK: gpu.launch_func @f_0_matmul_kernel::@f_1_rows_kernel
// CHECK-SAME: %[[PARTS]] : memref<4x40x72xf32>, %arg2
// CHECK: gpu.func @f_0_matmul_kernel
// CHECK: %[[FIRST:.*]] = arith.muli %block_id_z, %c1280
// CHECK: scf.for %[[K:.*]] = %c0 to %c1280 step %c32
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[K]]
// CHECK: xetile.init_tile %arg0[%{{.*}}, %[[AT]]] : memref<40x5000xf16>
// CHECK: xetile.init_tile %arg1[%[[AT]], %{{.*}}] : memref<5000x72xf16>
// CHECK: xetile.tile_mma
// CHECK: gpu.func @f_1_rows_kernel
// CHECK-COUNT-4: xetile.load_tile
// CHECK: %[[C:.*]] = xetile.load_tile
// CHECK: arith.addf %[[C]]
// CHECK: math.exp
// CHECK: xetile.store_tile
func.func @f(%A: tensor<40x5000xf16>, %B: tensor<5000x72xf16>, %C: tensor<40x72xf32>) -> tensor<40x72xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<40x5000xf16>, tensor<5000x72xf16>) outs(%C : tensor<40x72xf32>) -> tensor<40x72xf32>
  %none = tensor.empty() : tensor<40x72xf32>
  %E = linalg.exp ins(%D : tensor<40x72xf32>) outs(%none : tensor<40x72xf32>) -> tensor<40x72xf32>
  return %E : tensor<40x72xf32>
}
