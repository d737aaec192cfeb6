// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// D = A * B + C, f16 inputs, f32 sums.
func.func @matmul(%A: tensor<256x192xf16>, %B: tensor<192x320xf16>, %C: tensor<256x320xf32>) -> tensor<256x320xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x192xf16>, tensor<192x320xf16>)
                     outs(%C : tensor<256x320xf32>) -> tensor<256x320xf32>
  return %D : tensor<256x320xf32>
}
