// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// softmax(Q K^T / 8) V: a ring of keys and values, products of what is in registers.
// RUN: sed s/x64x/x128x/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,subgroups_m=2,keys=128})" | FileCheck %s --check-prefix=RING
// RUN: sed s/x64x/x128x/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=workgroup_m=128,subgroups_m=2,keys=128},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=NVVM
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring overlap=false counter=false set=workgroup_m=128,subgroups_m=2,keys=128},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ORDER
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring lazy=true set=workgroup_m=192,subgroups_m=3,keys=128},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=LAZY
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=4-ptx set=workgroup_m=128,subgroups_m=2,keys=128})" | FileCheck %s --check-prefix=PTX

// 128 keys and values of 128 elements a stage; beside two of them 128 queries, buffers of results, four barriers for each stage, two
// for the queries, one that is over, the number of a tile.
// RING: xetile.ring = {counter = true, lazy = false, overlap = true, pipeline = "specialized", shared_bytes = 196704 : i64, stage_bytes = 65536 : i64, stages = 2 : i64, threads = 384 : i64

// NVVM-LABEL: gpu.func @attention_kernel
// NVVM-COUNT-11: nvvm.mbarrier.init
// NVVM-NOT: nvvm.mbarrier.init
// The loader draws tiles: queries when those before are read, then keys and values step by step, each when there is room, keys first.
// NVVM: nvvm.setmaxregister decrease 40
// NVVM: scf.while
// NVVM: llvm.atomicrmw add
// NVVM: nvvm.mbarrier.try_wait.parity
// NVVM: scf.condition
// NVVM: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c32768_i32
// NVVM-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c32768_i32
// NVVM-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM: scf.for
// NVVM-COUNT-2: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c32768_i32
// NVVM: scf.yield
// The last values; then the last workgroup leaves the counter as it was.
// NVVM: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c32768_i32
// NVVM: llvm.atomicrmw add
// NVVM: nvvm.setmaxregister increase 232
// The last warpgroup lets the first one begin.
// NVVM: nvvm.barrier.arrive
// NVVM: scf.while
// The first scores: 128 elements in eight products, the first of them onto nothing.
// NVVM: nvvm.barrier id
// NVVM: nvvm.wgmma.fence.aligned
// NVVM-COUNT-1: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 128, k = 16>, D[<f32>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
// NVVM-COUNT-7: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 128, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
// NVVM: nvvm.barrier.arrive
// NVVM: "wgmma.wait_group.sync.aligned 0;"
// Maxima of rows, which four threads have.
// NVVM-COUNT-2: nvvm.shfl.sync bfly
// NVVM: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// Then the next scores, and in their turn the powers, in registers: 128 keys in eight products.
// NVVM: scf.for
// NVVM: nvvm.barrier id
// NVVM-COUNT-8: nvvm.wgmma.mma_async
// NVVM: nvvm.mbarrier.try_wait.parity
// NVVM: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;{{.*}}m64n128k16.f32.f16.f16{{.*}}wgmma.commit_group.sync.aligned;"
// NVVM: nvvm.barrier.arrive
// Scores are there, keys are read; powers of these, and sums of rows as they are before rounding, while those before are multiplied.
// NVVM: "wgmma.wait_group.sync.aligned 1;"
// NVVM: nvvm.mbarrier.arrive %
// NVVM: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// NVVM-NOT: arith.extf
// NVVM: nvvm.mbarrier.try_wait.parity
// NVVM: "wgmma.wait_group.sync.aligned 0;"
// NVVM: nvvm.mbarrier.arrive %
// NVVM: scf.yield
// The last powers, and then the sums of four threads.
// NVVM: m64n128k16.f32.f16.f16
// NVVM: "wgmma.wait_group.sync.aligned 0;"
// NVVM-COUNT-4: nvvm.shfl.sync bfly
// NVVM-NOT: nvvm.shfl.sync bfly

// One after the other, without turns, every so many tiles.
// ORDER-LABEL: gpu.func @attention_kernel
// ORDER-NOT: nvvm.barrier.arrive
// ORDER-NOT: llvm.atomicrmw
// ORDER: nvvm.setmaxregister increase 232
// ORDER: scf.for
// ORDER: scf.for
// ORDER: nvvm.mbarrier.try_wait.parity
// ORDER-COUNT-4: nvvm.wgmma.mma_async
// ORDER: "wgmma.wait_group.sync.aligned 0;"
// ORDER: nvvm.mbarrier.arrive %
// ORDER: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// ORDER: nvvm.mbarrier.try_wait.parity
// ORDER: m64n64k16.f32.f16.f16
// ORDER: "wgmma.wait_group.sync.aligned 0;"
// ORDER: nvvm.mbarrier.arrive %
// ORDER: scf.yield

// Three warpgroups; the output is multiplied where a row of the warp has grown.
// LAZY-LABEL: gpu.func @attention_kernel
// LAZY-SAME: lazy = true
// LAZY: nvvm.setmaxregister decrease 32
// LAZY: nvvm.setmaxregister increase 160
// LAZY: "wgmma.wait_group.sync.aligned 1;"
// LAZY: nvvm.vote.sync any
// LAZY: "wgmma.wait_group.sync.aligned 0;"
// LAZY: scf.if %{{.*}} -> (f32, f32,
// LAZY: arith.mulf
// LAZY: } else {

// PTX: gpu.binary
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
