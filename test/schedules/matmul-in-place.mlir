// A function that says that C may be overwritten gets its result there: no new buffer, no copy.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME: %{{.*}}: memref<256x64xf16>, %{{.*}}: memref<64x256xf16>, %[[C:.*]]: memref<256x256xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: gpu.launch_func @accumulate_kernel::@accumulate_kernel
// CHECK-SAME: %[[C]] : memref<256x256xf32>
// CHECK-NEXT: return %[[C]]
// CHECK: known_grid_size = array<i32: 1, 1, 1>
func.func @accumulate(%A: tensor<256x64xf16>, %B: tensor<64x256xf16>,
                      %C: tensor<256x256xf32> {bufferization.writable = true}) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x64xf16>, tensor<64x256xf16>)
                     outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
