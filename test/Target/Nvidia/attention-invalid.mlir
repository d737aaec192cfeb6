// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a Hopper GPU does not take of an attention.
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,subgroups_m=8,keys=128})" 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: gives 128 queries to 8 x 1 subgroups; expected 64 for each warpgroup, in a row: workgroup_m = 64 * subgroups_m
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,subgroups_m=2,keys=256})" 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: needs 256 registers of a thread for scores of 256 keys and values of 64 elements; expected at most 232: make keys smaller
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,subgroups_m=2,keys=48})" 2>&1 | FileCheck %s --check-prefix=REST
// REST: has tiles of 48 keys, and elements of 64 and 64 in keys and values; expected multiples of 64, 16 and 64 of at most 256: the schedule's keys and workgroup_n
// RUN: not xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,subgroups_m=2,keys=1024})" 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: has tiles of 1024 keys
#head = affine_map<(h, m, n) -> (h, m, n)>
func.func @attention(%Q: tensor<16x1024x64xf16>, %K: tensor<16x1024x64xf16>, %V: tensor<16x1024x64xf16>)
    -> tensor<16x1024x64xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %kt = tensor.empty() : tensor<16x64x1024xf16>
  %es = tensor.empty() : tensor<16x1024x1024xf32>
  %ep = tensor.empty() : tensor<16x1024x1024xf16>
  %eo = tensor.empty() : tensor<16x1024x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x1024x64xf32>) -> tensor<16x1024x64xf32>
  %T = linalg.transpose ins(%K : tensor<16x1024x64xf16>) outs(%kt : tensor<16x64x1024xf16>) permutation = [0, 2, 1]
  %S = linalg.batch_matmul ins(%Q, %T : tensor<16x1024x64xf16>, tensor<16x64x1024xf16>)
      outs(%zs : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %F = linalg.generic {indexing_maps = [#head, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S : tensor<16x1024x1024xf32>) outs(%es : tensor<16x1024x1024xf32>) {
  ^bb0(%s: f32, %o: f32):
    %f = arith.mulf %s, %scale : f32
    linalg.yield %f : f32
  } -> tensor<16x1024x1024xf32>
  %W = linalg.softmax dimension(2) ins(%F : tensor<16x1024x1024xf32>) outs(%es : tensor<16x1024x1024xf32>)
      -> tensor<16x1024x1024xf32>
  %P = linalg.generic {indexing_maps = [#head, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%W : tensor<16x1024x1024xf32>) outs(%ep : tensor<16x1024x1024xf16>) {
  ^bb0(%w: f32, %o: f16):
    %p = arith.truncf %w : f32 to f16
    linalg.yield %p : f16
  } -> tensor<16x1024x1024xf16>
  %D = linalg.batch_matmul ins(%P, %V : tensor<16x1024x1024xf16>, tensor<16x1024x64xf16>)
      outs(%zo : tensor<16x1024x64xf32>) -> tensor<16x1024x64xf32>
  return %D : tensor<16x1024x64xf32>
}
