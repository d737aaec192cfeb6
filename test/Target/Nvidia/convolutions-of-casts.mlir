// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix unit multiplies images and filters that are in memory: what makes them f32 is a kernel of its own. On vector units, as
// of few filters, it is done where it is read.
// RUN: sed s/FILTERS/16/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=2-ring})" | FileCheck %s
// RUN: sed s/FILTERS/7/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/gpu_model.mlir to=2-ring})" | FileCheck %s --check-prefix=FEW
// RUN: sed s/FILTERS/12/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=pvc schedule=%schedules/gpu_model.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=FEW

// CHECK: gpu.func @{{.*}}elementwise
// CHECK: gpu.func @{{.*}}elementwise
// CHECK: gpu.func @{{.*}}convolution
// CHECK: xetile.tile_mma
// FEW-NOT: elementwise
// FEW: gpu.func @{{.*}}
// FEW-NOT: gpu.func
#image = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @kernel(%X: tensor<2x16x20x20xbf16>, %W: tensor<FILTERSx16x3x3xbf16>) -> tensor<2xFILTERSx20x20xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x16x20x20xf32>
  %x = linalg.generic {indexing_maps = [#image, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%X : tensor<2x16x20x20xbf16>) outs(%ex : tensor<2x16x20x20xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<2x16x20x20xf32>
  %ew = tensor.empty() : tensor<FILTERSx16x3x3xf32>
  %w = linalg.generic {indexing_maps = [#image, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%W : tensor<FILTERSx16x3x3xbf16>) outs(%ew : tensor<FILTERSx16x3x3xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %e = arith.extf %a : bf16 to f32
    linalg.yield %e : f32
  } -> tensor<FILTERSx16x3x3xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<2x16x20x20xf32> to tensor<2x16x22x22xf32>
  %ed = tensor.empty() : tensor<2xFILTERSx20x20xf32>
  %z = linalg.fill ins(%zero : f32) outs(%ed : tensor<2xFILTERSx20x20xf32>) -> tensor<2xFILTERSx20x20xf32>
  %d = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<2x16x22x22xf32>, tensor<FILTERSx16x3x3xf32>)
      outs(%z : tensor<2xFILTERSx20x20xf32>) -> tensor<2xFILTERSx20x20xf32>
  return %d : tensor<2xFILTERSx20x20xf32>
}
