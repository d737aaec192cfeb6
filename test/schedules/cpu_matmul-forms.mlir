// cpu_matmul tiles matmuls of any form: of convolutions, on transposed operands.
// REQUIRES: cpu
// RUN: xetile-opt %s --transform-preload-library='transform-library-paths=%schedules/cpu_fuse.mlir,%schedules/cpu_matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @transposed
// CHECK-NOT: linalg.transpose
// CHECK: xetile.microkernel
func.func @transposed(%x: tensor<8x64xf32>, %w: tensor<96x64xf32>, %c: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %any = tensor.empty() : tensor<64x96xf32>
  %t = linalg.transpose ins(%w : tensor<96x64xf32>) outs(%any : tensor<64x96xf32>) permutation = [1, 0]
  %d = linalg.matmul ins(%x, %t : tensor<8x64xf32>, tensor<64x96xf32>) outs(%c : tensor<8x96xf32>) -> tensor<8x96xf32>
  return %d : tensor<8x96xf32>
}

// CHECK-LABEL: func.func @convolution
// CHECK-NOT: linalg.conv
// CHECK: xetile.microkernel
func.func @convolution(%x: tensor<1x3x10x10xf32>, %f: tensor<8x3x3x3xf32>, %c: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %d = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %f : tensor<1x3x10x10xf32>, tensor<8x3x3x3xf32>) outs(%c : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %d : tensor<1x8x8x8xf32>
}
