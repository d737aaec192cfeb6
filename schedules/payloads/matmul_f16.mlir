// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// D = A * B + C on 1024 x 1024 matrices, f16 inputs, f32 accumulator.
func.func @matmul(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>)
    -> tensor<1024x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>)
                     outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
