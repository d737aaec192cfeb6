// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys that are no whole number of steps, heads of 80 elements, a batch of one.
// RUN: sed s/KEYS/1000/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,workgroup_n=128,subgroups_m=2,keys=128})" | FileCheck %s
// RUN: sed s/KEYS/40/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,workgroup_n=128,subgroups_m=2,keys=64})" | FileCheck %s --check-prefix=FEW
// RUN: sed s/KEYS/1000/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,workgroup_n=128,subgroups_m=2,keys=128},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=NVVM

// Seven whole steps without a mask, then one whose keys from 104 on are none.
// CHECK: %[[WHOLE:.*]]:3 = scf.for %{{.*}} = %c0 to %c896{{.*}} step %c128
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %c896{{.*}} to %c1000 step %c128 iter_args(%{{.*}} = %[[WHOLE]]#0, %{{.*}} = %[[WHOLE]]#1, %{{.*}} = %[[WHOLE]]#2)
// CHECK: arith.select
// CHECK: scf.yield

// One step, and one without keys: both are masked.
// FEW: scf.for %{{.*}} = %c0 to %c65 step %c64
// FEW: arith.select
// FEW-NOT: scf.for

// Rows of 80 elements are two boxes of 64; products end with the fifth step of 16.
// NVVM: xetile.tensor_map = {argument = 2 : i64, box = array<i64: 64, 128>
// NVVM: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c32768_i32
// NVVM-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c32768_i32
// NVVM-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM: nvvm.barrier id
// NVVM: nvvm.wgmma.fence.aligned
// NVVM-COUNT-5: nvvm.wgmma.mma_async
// NVVM-NOT: nvvm.wgmma.mma_async
// NVVM: nvvm.barrier.arrive
#head = affine_map<(b, h, m, n) -> (b, h, m, n)>
#queries = affine_map<(b, h, m, n, d) -> (b, h, m, d)>
#keys = affine_map<(b, h, m, n, d) -> (b, h, n, d)>
#scores = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
func.func @attention(%Q: tensor<1x4x300x80xf16>, %K: tensor<1x4xKEYSx80xf16>, %V: tensor<1x4xKEYSx80xf16>)
    -> tensor<1x4x300x80xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<1x4x300xKEYSxf32>
  %ep = tensor.empty() : tensor<1x4x300xKEYSxf16>
  %eo = tensor.empty() : tensor<1x4x300x80xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<1x4x300xKEYSxf32>) -> tensor<1x4x300xKEYSxf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x4x300x80xf32>) -> tensor<1x4x300x80xf32>
  %S = linalg.generic {indexing_maps = [#queries, #keys, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<1x4x300x80xf16>, tensor<1x4xKEYSx80xf16>) outs(%zs : tensor<1x4x300xKEYSxf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x300xKEYSxf32>
  %W = linalg.softmax dimension(3) ins(%S : tensor<1x4x300xKEYSxf32>) outs(%es : tensor<1x4x300xKEYSxf32>)
      -> tensor<1x4x300xKEYSxf32>
  %P = linalg.generic {indexing_maps = [#head, #head], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%W : tensor<1x4x300xKEYSxf32>) outs(%ep : tensor<1x4x300xKEYSxf16>) {
  ^bb0(%w: f32, %o: f16):
    %p = arith.truncf %w : f32 to f16
    linalg.yield %p : f16
  } -> tensor<1x4x300xKEYSxf16>
  %D = linalg.generic {indexing_maps = [#scores, #keys, #queries],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%P, %V : tensor<1x4x300xKEYSxf16>, tensor<1x4xKEYSx80xf16>) outs(%zo : tensor<1x4x300x80xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x4x300x80xf32>
  return %D : tensor<1x4x300x80xf32>
}
