// Two layers of a single row are no payload of mlp: the first one's results would be made anew for each block of the second.
// RUN: not xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/mlp.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: mlp-invalid-row.mlir:[[#@LINE+2]]:8: error: it would be computed anew in each step of another reduction: compile the program without a schedule by name
func.func @one_row(%x: tensor<1x256xf16>, %w: tensor<256x512xf16>, %v: tensor<512x128xf16>, %b: tensor<1x512xf32>, %c: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %h = linalg.matmul ins(%x, %w : tensor<1x256xf16>, tensor<256x512xf16>) outs(%b : tensor<1x512xf32>) -> tensor<1x512xf32>
  %e = tensor.empty() : tensor<1x512xf16>
  %t = linalg.elementwise kind=#linalg.elementwise_kind<tanh> ins(%h : tensor<1x512xf32>) outs(%b : tensor<1x512xf32>) -> tensor<1x512xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<1x512xf32>) outs(%e : tensor<1x512xf16>) {
  ^bb0(%x0: f32, %y0: f16):
    %y1 = arith.truncf %x0 : f32 to f16
    linalg.yield %y1 : f16
  } -> tensor<1x512xf16>
  %y = linalg.matmul ins(%n, %v : tensor<1x512xf16>, tensor<512x128xf16>) outs(%c : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %y : tensor<1x128xf32>
}
