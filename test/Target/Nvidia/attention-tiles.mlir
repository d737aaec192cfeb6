// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An attention in a program has the tiles of one alone; what kernels of such tiles do not take is several kernels.
// RUN: sed -e s/INNER/64/g -e s/COLUMNS/64/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=2-ring})" | FileCheck %s --check-prefix=THREE
// RUN: sed -e s/INNER/64/g -e s/COLUMNS/64/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring})" | FileCheck %s --check-prefix=THREE
// RUN: sed -e s/INNER/128/g -e s/COLUMNS/96/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=2-ring})" | FileCheck %s --check-prefix=TWO
// RUN: sed -e s/INNER/192/g -e s/COLUMNS/128/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=2-ring})" | FileCheck %s --check-prefix=LONG
// RUN: sed -e s/INNER/256/g -e s/COLUMNS/64/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=2-ring})" | FileCheck %s --check-prefix=LONGER
// RUN: sed -e s/INNER/256/g -e s/COLUMNS/256/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=4-ptx})" | FileCheck %s --check-prefix=WIDE
// RUN: sed -e s/INNER/64/g -e s/COLUMNS/64/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/attention.mlir to=2-ring set=keys=64,subgroups_m=2})" | FileCheck %s --check-prefix=GIVEN
// RUN: sed -e s/INNER/20/g -e s/COLUMNS/64/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=PITCH
// RUN: sed -e s/INNER/320/g -e s/COLUMNS/64/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=PITCH
// RUN: sed -e s/INNER/64/g -e s/COLUMNS/64/g -e s/f16/f32/g -e s/.*truncf.*// -e "s/yield %%p/yield %%w/" %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=2-ring})" | FileCheck %s --check-prefix=EXACT

// 192 queries, 128 keys a step.
// THREE: gpu.func @{{(kernel|attention)[a-z0-9_]*}}
// THREE-SAME: known_grid_size = array<i32: 1, 3, 8>
// THREE-SAME: threads = 512
// THREE: scf.for %{{.*}} = %c0 to %c512 step %c128
// THREE-NOT: gpu.func

// TWO: gpu.func @{{[a-z0-9_]*}}attention
// TWO-SAME: known_grid_size = array<i32: 1, 4, 8>
// TWO-SAME: threads = 384
// TWO: scf.for %{{.*}} = %c0 to %c512 step %c128
// TWO: xetile.store_tile {{.*}} : vector<128x128xf32>

// Keys and values of long rows: 64 a step.
// LONG: gpu.func @{{[a-z0-9_]*}}attention
// LONG-SAME: threads = 384
// LONG: scf.for %{{.*}} = %c0 to %c512 step %c64
// LONGER: gpu.func @{{[a-z0-9_]*}}attention
// LONGER-SAME: threads = 512
// LONGER: scf.for %{{.*}} = %c0 to %c512 step %c64
// WIDE: gpu.binary
// WIDE-SAME: m64n256k16.f32.f16.f16

// GIVEN: known_grid_size = array<i32: 1, 4, 8>
// GIVEN-SAME: threads = 384
// GIVEN: scf.for %{{.*}} = %c0 to %c512 step %c64

// Rows that are no multiples of 16 bytes apart, and more elements than a product's tile has.
// PITCH-NOT: gpu.func @{{[a-z0-9_]*}}attention
// PITCH: gpu.func @{{[a-z0-9_]*}}matmul
// PITCH: gpu.func @{{[a-z0-9_]*}}rows
// PITCH: gpu.func @{{[a-z0-9_]*}}matmul

// EXACT-NOT: gpu.func @{{[a-z0-9_]*}}attention
// EXACT: gpu.func @{{[a-z0-9_]*}}matmul
// EXACT: gpu.func @{{[a-z0-9_]*}}rows
// EXACT: gpu.func @{{[a-z0-9_]*}}matmul
#head = affine_map<(h, m, n) -> (h, m, n)>
func.func @kernel(%Q: tensor<8x512xINNERxf16>, %K: tensor<8x512xINNERxf16>, %V: tensor<8x512xCOLUMNSxf16>)
    -> tensor<8x512xCOLUMNSxf32> {
  %zero = arith.constant 0.0 : f32
  %kt = tensor.empty() : tensor<8xINNERx512xf16>
  %es = tensor.empty() : tensor<8x512x512xf32>
  %ep = tensor.empty() : tensor<8x512x512xf16>
  %eo = tensor.empty() : tensor<8x512xCOLUMNSxf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x512xCOLUMNSxf32>) -> tensor<8x512xCOLUMNSxf32>
  %T = linalg.transpose ins(%K : tensor<8x512xINNERxf16>) outs(%kt : tensor<8xINNERx512xf16>) permutation = [0, 2, 1]
  %S = linalg.batch_matmul ins(%Q, %T : tensor<8x512xINNERxf16>, tensor<8xINNERx512xf16>)
      outs(%zs : tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %W = linalg.softmax dimension(2) ins(%S : tensor<8x512x512xf32>) outs(%es : tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  %P = linalg.generic {indexing_maps = [#head, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%W : tensor<8x512x512xf32>) outs(%ep : tensor<8x512x512xf16>) {
  ^bb0(%w: f32, %o: f16):
    %p = arith.truncf %w : f32 to f16
    linalg.yield %p : f16
  } -> tensor<8x512x512xf16>
  %D = linalg.batch_matmul ins(%P, %V : tensor<8x512x512xf16>, tensor<8x512xCOLUMNSxf16>)
      outs(%zo : tensor<8x512xCOLUMNSxf32>) -> tensor<8x512xCOLUMNSxf32>
  return %D : tensor<8x512xCOLUMNSxf32>
}
