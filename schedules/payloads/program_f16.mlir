// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax of relu(E W + b), rows of E by indices in a table: 64 places, a table of 1000 rows of 128, 512 results.
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
#all = affine_map<(m, n) -> (m, n)>
func.func @program(%at: tensor<64xi64>, %table: tensor<1000x128xf16>, %w: tensor<128x512xf16>, %b: tensor<512xf32>) -> tensor<64x512xf32> {
  %zero = arith.constant 0.0 : f32
  %ee = tensor.empty() : tensor<64x128xf16>
  %e = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%at : tensor<64xi64>) outs(%ee : tensor<64x128xf16>) {
  ^bb0(%place: i64, %o: f16):
    %i = arith.index_cast %place : i64 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<1000x128xf16>
    linalg.yield %x : f16
  } -> tensor<64x128xf16>
  %eh = tensor.empty() : tensor<64x512xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<64x512xf32>) -> tensor<64x512xf32>
  %h = linalg.matmul ins(%e, %w : tensor<64x128xf16>, tensor<128x512xf16>) outs(%zh : tensor<64x512xf32>) -> tensor<64x512xf32>
  %r = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%h, %b : tensor<64x512xf32>, tensor<512xf32>) outs(%eh : tensor<64x512xf32>) {
  ^bb0(%v: f32, %bias: f32, %o: f32):
    %s = arith.addf %v, %bias : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<64x512xf32>
  %y = linalg.softmax dimension(1) ins(%r : tensor<64x512xf32>) outs(%eh : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}
