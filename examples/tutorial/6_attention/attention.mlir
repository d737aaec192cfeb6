// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// softmax(Q K^T / 8) V of 2 heads with 200 queries, 328 keys, of 64 elements, f16, scores and sums in f32.
#all = affine_map<(h, m, n) -> (h, m, n)>
func.func @attention(%Q: tensor<2x200x64xf16>, %K: tensor<2x328x64xf16>, %V: tensor<2x328x64xf16>)
    -> tensor<2x200x64xf32> {
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %kt = tensor.empty() : tensor<2x64x328xf16>
  %es = tensor.empty() : tensor<2x200x328xf32>
  %ep = tensor.empty() : tensor<2x200x328xf16>
  %eo = tensor.empty() : tensor<2x200x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x200x328xf32>) -> tensor<2x200x328xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x200x64xf32>) -> tensor<2x200x64xf32>
  %T = linalg.transpose ins(%K : tensor<2x328x64xf16>) outs(%kt : tensor<2x64x328xf16>) permutation = [0, 2, 1]
  %S = linalg.batch_matmul ins(%Q, %T : tensor<2x200x64xf16>, tensor<2x64x328xf16>)
      outs(%zs : tensor<2x200x328xf32>) -> tensor<2x200x328xf32>
  %F = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S : tensor<2x200x328xf32>) outs(%es : tensor<2x200x328xf32>) {
  ^bb0(%s: f32, %o: f32):
    %f = arith.mulf %s, %eighth : f32
    linalg.yield %f : f32
  } -> tensor<2x200x328xf32>
  %W = linalg.softmax dimension(2) ins(%F : tensor<2x200x328xf32>) outs(%es : tensor<2x200x328xf32>)
      -> tensor<2x200x328xf32>
  %P = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%W : tensor<2x200x328xf32>) outs(%ep : tensor<2x200x328xf16>) {
  ^bb0(%w: f32, %o: f16):
    %p = arith.truncf %w : f32 to f16
    linalg.yield %p : f16
  } -> tensor<2x200x328xf16>
  %D = linalg.batch_matmul ins(%P, %V : tensor<2x200x328xf16>, tensor<2x328x64xf16>)
      outs(%zo : tensor<2x200x64xf32>) -> tensor<2x200x64xf32>
  return %D : tensor<2x200x64xf32>
}
