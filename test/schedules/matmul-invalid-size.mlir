// RUN: not xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: error: workgroup_n = 256 does not divide n = 1000 of the matmul; expected a divisor of 1000
// CHECK: matmul-invalid-size.mlir:[[#@LINE+2]]:8: note: the matmul to tile
func.func @matmul(%A: tensor<256x32xf16>, %B: tensor<32x1000xf16>, %C: tensor<256x1000xf32>) -> tensor<256x1000xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x32xf16>, tensor<32x1000xf16>)
                     outs(%C : tensor<256x1000xf32>) -> tensor<256x1000xf32>
  return %D : tensor<256x1000xf32>
}
