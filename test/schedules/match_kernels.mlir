// Each op of a program gets the schedule of a kernel that it is the anchor of, and kernels are of these.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter='entry-point=match_kernels' | FileCheck %s --check-prefix=ANCHOR
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=KERNEL

// Another name behind the arrow: poolings are rows.
// RUN: rm -rf %t && cp -r %schedules/parts %t
// RUN: sed 's/@is_windows -> @anchors_windows/@is_windows -> @anchors_rows/' %schedules/parts/match_kernels.mlir > %t/match_kernels.mlir
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%t,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=EDITED

// ANCHOR-LABEL: func.func @program(
// ANCHOR: tensor.extract
// ANCHOR: linalg.pooling_nchw_max {{.*}}xetile.anchor = "windows"
// ANCHOR: linalg.conv_2d_nhwc_hwcf {{.*}}xetile.anchor = "convolution"
// ANCHOR: linalg.matmul {{.*}}xetile.anchor = "matmul"
// ANCHOR: linalg.reduce {{.*}}xetile.anchor = "rows"

// KERNEL-NOT: xetile.anchor
// KERNEL-DAG: gpu.func @program_{{[0-9]}}_gather_kernel
// KERNEL-DAG: gpu.func @program_{{[0-9]}}_windows_kernel
// KERNEL-DAG: gpu.func @program_{{[0-9]}}_convolution_kernel
// KERNEL-DAG: gpu.func @program_{{[0-9]}}_matmul_kernel
// KERNEL-DAG: gpu.func @program_{{[0-9]}}_rows_kernel
// KERNEL-NOT: xetile.anchor

// EDITED-NOT: windows_kernel
// EDITED-DAG: gpu.func @program_{{[0-9]}}_convolution_kernel
#line = affine_map<(m, n) -> (m)>
#all = affine_map<(m, n) -> (m, n)>
func.func @program(%at: tensor<40xi64>, %table: tensor<50x64xf32>, %image: tensor<1x3x18x34xf32>,
                   %pixels: tensor<1x6x18x16xf16>, %filters: tensor<3x3x16x32xf16>, %a: tensor<64x32xf16>,
                   %b: tensor<32x64xf16>, %x: tensor<30x50xf32>)
    -> (tensor<40x64xf32>, tensor<1x3x17x33xf32>, tensor<1x4x16x32xf32>, tensor<64x64xf32>, tensor<30xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<40x64xf32>
  %0 = linalg.generic {indexing_maps = [#line, #all], iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<40xi64>) outs(%e0 : tensor<40x64xf32>) {
  ^bb0(%i: i64, %o: f32):
    %row = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %y = tensor.extract %table[%row, %column] : tensor<50x64xf32>
    linalg.yield %y : f32
  } -> tensor<40x64xf32>
  %e1 = tensor.empty() : tensor<1x3x17x33xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %i1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<1x3x17x33xf32>) -> tensor<1x3x17x33xf32>
  %1 = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %window : tensor<1x3x18x34xf32>, tensor<2x2xf32>) outs(%i1 : tensor<1x3x17x33xf32>)
      -> tensor<1x3x17x33xf32>
  %e2 = tensor.empty() : tensor<1x4x16x32xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x4x16x32xf32>) -> tensor<1x4x16x32xf32>
  %2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%pixels, %filters : tensor<1x6x18x16xf16>, tensor<3x3x16x32xf16>) outs(%i2 : tensor<1x4x16x32xf32>)
      -> tensor<1x4x16x32xf32>
  %e3 = tensor.empty() : tensor<64x64xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x64xf16>) outs(%i3 : tensor<64x64xf32>)
      -> tensor<64x64xf32>
  %e4 = tensor.empty() : tensor<30xf32>
  %i4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<30xf32>) -> tensor<30xf32>
  %4 = linalg.reduce {arith.addf} ins(%x : tensor<30x50xf32>) outs(%i4 : tensor<30xf32>) dimensions = [1]
  return %0, %1, %2, %3, %4 : tensor<40x64xf32>, tensor<1x3x17x33xf32>, tensor<1x4x16x32xf32>, tensor<64x64xf32>,
      tensor<30xf32>
}
