// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that are multiplied by the same gains: a workgroup of sm_90a has one of them, those of Intel's GPUs several in turn.
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/rows.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=ONE
// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-compile{target=pvc schedule=%schedules/rows.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=SOME

// ONE: gpu.func @norm_kernel(
// ONE-SAME: known_grid_size = array<i32: 1, 16384, 1>
// ONE-NOT: scf.for
// SOME: gpu.func @norm_kernel(
// SOME-SAME: known_grid_size = array<i32: 1, 4096, 1>
// SOME: scf.for %{{.*}} = %c0 to %c4 step %c1
func.func @norm(%x: tensor<16384x1024xf32>, %gain: tensor<1024xf32>) -> tensor<16384x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<16384xf32>
  %e = tensor.empty() : tensor<16384x1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<16384xf32>) -> tensor<16384xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16384x1024xf32>) outs(%z : tensor<16384xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<16384xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>,
      affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %gain : tensor<16384x1024xf32>, tensor<16384xf32>, tensor<1024xf32>) outs(%e : tensor<16384x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %g: f32, %o: f32):
    %r = math.rsqrt %b : f32
    %p = arith.mulf %a, %r : f32
    %q = arith.mulf %p, %g : f32
    linalg.yield %q : f32
  } -> tensor<16384x1024xf32>
  return %y : tensor<16384x1024xf32>
}
