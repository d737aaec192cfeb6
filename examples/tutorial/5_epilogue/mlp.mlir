// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two layers and a softmax: softmax(relu(X * W) / 256 * V), rounded to f16 between the layers.
#matrix = affine_map<(m, n) -> (m, n)>

func.func @mlp(%X: tensor<200x256xf16>, %W: tensor<256x512xf16>, %V: tensor<512x64xf16>) -> tensor<200x64xf32> {
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 0.00390625 : f32
  %eh = tensor.empty() : tensor<200x512xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<200x512xf32>) -> tensor<200x512xf32>
  %H = linalg.matmul ins(%X, %W : tensor<200x256xf16>, tensor<256x512xf16>)
                     outs(%zh : tensor<200x512xf32>) -> tensor<200x512xf32>
  %er = tensor.empty() : tensor<200x512xf16>
  %R = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%H : tensor<200x512xf32>) outs(%er : tensor<200x512xf16>) {
  ^bb0(%h: f32, %o: f16):
    %positive = arith.maximumf %h, %zero : f32
    %scaled = arith.mulf %positive, %small : f32
    %r = arith.truncf %scaled : f32 to f16
    linalg.yield %r : f16
  } -> tensor<200x512xf16>
  %ey = tensor.empty() : tensor<200x64xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<200x64xf32>) -> tensor<200x64xf32>
  %Y = linalg.matmul ins(%R, %V : tensor<200x512xf16>, tensor<512x64xf16>)
                     outs(%zy : tensor<200x64xf32>) -> tensor<200x64xf32>
  %P = linalg.softmax dimension(1) ins(%Y : tensor<200x64xf32>) outs(%ey : tensor<200x64xf32>) -> tensor<200x64xf32>
  return %P : tensor<200x64xf32>
}
