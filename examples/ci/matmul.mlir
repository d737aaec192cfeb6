// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// D = A * B + C, and what the schedule `matmul` is expected to make of it: a kernel whose loop prefetches slices of A and B
// and multiplies tiles that subgroups share.
func.func @matmul(%A: tensor<512x512xf16>, %B: tensor<512x512xf16>, %C: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<512x512xf16>, tensor<512x512xf16>)
                     outs(%C : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %D : tensor<512x512xf32>
}
// CHECK:         gpu.func @matmul_kernel
// CHECK:         scf.for
// CHECK-COUNT-2:   xetile.prefetch_tile
// CHECK:           xetile.tile_mma {{.*}}wg_map
