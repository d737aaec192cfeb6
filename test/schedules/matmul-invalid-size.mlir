// RUN: not xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: matmul-invalid-size.mlir:[[#@LINE+2]]:8: error: expected sizes other than zero, got tensor<256x0xf16>
func.func @matmul(%A: tensor<256x0xf16>, %B: tensor<0x1000xf16>, %C: tensor<256x1000xf32>) -> tensor<256x1000xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x0xf16>, tensor<0x1000xf16>)
                     outs(%C : tensor<256x1000xf32>) -> tensor<256x1000xf32>
  return %D : tensor<256x1000xf32>
}
