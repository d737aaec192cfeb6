// A sum of rows is no payload of attention: nothing in it depends on a maximum.
// RUN: not xetile-opt %s --split-input-file \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/attention.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: attention-invalid.mlir:[[#@LINE+5]]:{{.*}}error: expected a sum of powers exp(x - m), m = max x, or of squares
func.func @sum(%x: tensor<64x32xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x32xf32>) outs(%i : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
