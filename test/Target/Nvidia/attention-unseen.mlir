// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps whose keys none of a warpgroup's queries sees, of those that its workgroup makes: they are read, in turn, and not computed.
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=END
// RUN: sed -e s/PRED/ult/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=BELOW
// RUN: sed -e "s/PRED, %j, %i/sgt, %i, %j/" -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=BELOW
// RUN: sed -e s/PRED/ult/ -e s/LOW/0xFF800000/ -e s/YIELD/%%f/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=192,subgroups_m=3,keys=128},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=THERE
// Every warpgroup makes all steps: queries see keys from some on, or all but some; masked scores count a little; others count as they were;
// all warpgroups have queries; a workgroup is one of them; products are made one after the other; the sums of rows are of something else.
// RUN: sed -e s/PRED/uge/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ne/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/-1.0e30/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0x7F800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%both/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%least/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%f/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%f/ -e s/1024/960/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=192,subgroups_m=3,keys=128},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=64,subgroups_m=1,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false overlap=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e "s/PRED, %j, %i/ule, %j, %back/" -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64},gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// The same at the level of XeTile: steps that go backwards; other numbers than minus infinity; maxima of what is not masked; powers of other differences.
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64})" | sed -E 's/addi (.*vector<1x64xindex>)/subi \1/' | xetile-opt --pass-pipeline="builtin.module(gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64})" | sed s/0xFF800000/0x7F800000/ | xetile-opt --pass-pipeline="builtin.module(gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64})" | sed s/0xFF800000/-1.0e30/ | xetile-opt --pass-pipeline="builtin.module(gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64})" | sed -E '/arith.select/{N;s/(select %%[0-9a-z_]+, (%%[0-9a-z_]+),.*maxnumf> )%%[0-9a-z_]+/\1\2/;}' | xetile-opt --pass-pipeline="builtin.module(gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL
// RUN: sed -e s/PRED/ule/ -e s/LOW/0xFF800000/ -e s/YIELD/%%masked/ %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring counter=false set=workgroup_m=128,subgroups_m=2,keys=64})" | sed -E 's/subf (.*vector<128x64xf32>)/addf \1/' | xetile-opt --pass-pipeline="builtin.module(gpu.module(convert-xetile-to-nvvm,canonicalize))" | FileCheck %s --check-prefix=ALL

// Where a mask ends the keys the output is multiplied for much larger maxima alone. The last loop ends behind the last key that the last
// of the warpgroup's 64 queries sees.
// END-LABEL: gpu.func @attention_kernel
// END-SAME: lazy = true
// END: nvvm.setmaxregister increase
// END: scf.for {{.*}} step %c64_i32
// END: %[[LAST:.*]] = arith.addi %{{.*}}, %c63_i32
// END: %[[ROW:.*]] = arith.addi %[[LAST]], %{{.*}} : i32
// END-NEXT: %[[KEYS:.*]] = arith.subi %[[ROW]], %{{.*}} : i32
// END-NEXT: %[[KEY:.*]] = arith.addi %[[FROM:.*]], %[[KEYS]] : i32
// END-NEXT: %[[SEEN:.*]] = arith.addi %[[KEY]], %c1_i32
// END-NEXT: %[[OWN:.*]] = arith.minsi %{{.*}}, %[[SEEN]] : i32
// END-NOT: cmpi ult
// END: scf.for %{{.*}} = %[[FROM]] to %[[OWN]] step %c64_i32
// What is left is read by all threads of the warpgroup before one says so; the turn is passed on between keys and values. The number of
// these steps is found before the queries are released, as another tile's may be there then.
// END: m64n64k16.f32.f16.f16
// END: %[[TILE:.*]] = llvm.load volatile
// END-NEXT: %[[MORE:.*]] = arith.addi %[[TILE]], %c1073741824_i32
// END-NEXT: %[[LEFT:.*]] = arith.minsi %{{.*}}, %[[MORE]]
// END: nvvm.mbarrier.arrive %
// END: "wgmma.wait_group.sync.aligned 0;"
// END: nvvm.mbarrier.arrive %
// END: scf.for %{{.*}} = %c0_i32 to %[[LEFT]] step %c1_i32
// END: nvvm.mbarrier.try_wait.parity
// END: nvvm.barrier id = %{{.*}} number_of_threads = %c256_i32
// END: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %c256_i32
// END: nvvm.mbarrier.arrive %
// END: nvvm.mbarrier.try_wait.parity
// END: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
// END: nvvm.mbarrier.arrive %
// END: scf.yield

// BELOW: nvvm.setmaxregister increase
// BELOW: scf.for {{.*}} step %c64_i32
// BELOW: %[[LAST:.*]] = arith.addi %{{.*}}, %c63_i32
// BELOW: %[[ROW:.*]] = arith.addi %[[LAST]], %{{.*}} : i32
// BELOW: %[[KEYS:.*]] = arith.subi %[[ROW]], %{{.*}} : i32
// BELOW-NEXT: %[[KEY:.*]] = arith.addi %[[FROM:.*]], %[[KEYS]] : i32
// BELOW-NEXT: %[[OWN:.*]] = arith.minsi %{{.*}}, %[[KEY]] : i32
// BELOW: scf.for %{{.*}} = %[[FROM]] to %[[OWN]] step %c64_i32
// BELOW: llvm.load volatile

// 1,024 queries are five tiles of 192 and 64 more: two warpgroups of the last tile have none. They make the first step alone.
// THERE-LABEL: gpu.func @attention_kernel
// THERE-SAME: lazy = false
// THERE: nvvm.setmaxregister increase
// THERE: %[[IS:.*]] = arith.cmpi ult, %{{.*}}, %c1024_i32
// THERE-NEXT: %[[OWN:.*]] = arith.select %[[IS]], %c1024_i32, %c128_i32
// THERE: scf.for %{{.*}} = %c128_i32 to %[[OWN]] step %c128_i32
// THERE: llvm.load volatile

// ALL-LABEL: gpu.func @attention_kernel
// ALL-NOT: llvm.load volatile
#head = affine_map<(h, m, n) -> (h, m, n)>
func.func @attention(%Q: tensor<16x1024x64xf16>, %K: tensor<16x1024x64xf16>, %V: tensor<16x1024x64xf16>)
    -> tensor<16x1024x64xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %last = arith.constant 1023 : index
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
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %back = arith.subi %last, %i : index
    %seen = arith.cmpi PRED, %j, %i : index
    %low = arith.constant LOW : f32
    %masked = arith.select %seen, %f, %low : f32
    %both = arith.addf %masked, %f : f32
    %least = arith.minimumf %masked, %scale : f32
    linalg.yield YIELD : f32
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
