// A single layer is no payload of mlp.
// RUN: not xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/mlp.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: mlp-invalid-payload.mlir:[[#@LINE+2]]:8: error: expected a product of what other products make, got a reduction of operands that no product is in
func.func @one_layer(%x: tensor<64x32xf16>, %w: tensor<32x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<64x32xf16>, tensor<32x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
