// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer: relu(X * W + bias), rounded to f16.
#matrix = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>
func.func @layer(%x: tensor<100x96xf16>, %w: tensor<96x128xf16>, %bias: tensor<128xf32>) -> tensor<100x128xf16> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<100x128xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<100x128xf32>) -> tensor<100x128xf32>
  %xw = linalg.matmul ins(%x, %w : tensor<100x96xf16>, tensor<96x128xf16>)
                      outs(%f0 : tensor<100x128xf32>) -> tensor<100x128xf32>
  %e1 = tensor.empty() : tensor<100x128xf16>
  %y = linalg.generic {indexing_maps = [#matrix, #columns, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%xw, %bias : tensor<100x128xf32>, tensor<128xf32>) outs(%e1 : tensor<100x128xf16>) {
  ^bb0(%a: f32, %b: f32, %o: f16):
    %sum = arith.addf %a, %b : f32
    %relu = arith.maximumf %sum, %zero : f32
    %half = arith.truncf %relu : f32 to f16
    linalg.yield %half : f16
  } -> tensor<100x128xf16>
  return %y : tensor<100x128xf16>
}
