// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two layers of a perceptron, 64 inputs, 256 hidden values and 64 results: relu(X W) V, sums in f32.
func.func @mlp(%x: tensor<4096x64xf16>, %w1: tensor<64x256xf16>, %w2: tensor<256x64xf16>) -> tensor<4096x64xf32> {
  %zero = arith.constant 0.0 : f32
  %eh = tensor.empty() : tensor<4096x256xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<4096x64xf16>, tensor<64x256xf16>) outs(%zh : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %ea = tensor.empty() : tensor<4096x256xf16>
  %a = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<4096x256xf32>) outs(%ea : tensor<4096x256xf16>) {
  ^bb0(%v: f32, %o: f16):
    %r = arith.maximumf %v, %zero : f32
    %t = arith.truncf %r : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4096x256xf16>
  %eo = tensor.empty() : tensor<4096x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %y = linalg.matmul ins(%a, %w2 : tensor<4096x256xf16>, tensor<256x64xf16>) outs(%zo : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  return %y : tensor<4096x64xf32>
}
