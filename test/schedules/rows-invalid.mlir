// What the schedule for rows refuses: payloads that compute nothing, results that do not share a grid of workgroups.
// RUN: not xetile-opt %s --split-input-file \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/rows.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: error: expected a function that returns tensors that it computes
func.func @nothing(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  return %x : tensor<64x32xf32>
}

// -----

// Results of two shapes would need two grids of workgroups.
// CHECK: error: expected results of one shape in a kernel, got tensor<64xf32> and tensor<32xf32>: compile them by themselves
#both = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @two_shapes(%x: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %em = tensor.empty() : tensor<64xf32>
  %en = tensor.empty() : tensor<32xf32>
  %im = linalg.fill ins(%zero : f32) outs(%em : tensor<64xf32>) -> tensor<64xf32>
  %in = linalg.fill ins(%zero : f32) outs(%en : tensor<32xf32>) -> tensor<32xf32>
  %m = linalg.generic {indexing_maps = [#both, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x32xf32>) outs(%im : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %n = linalg.generic {indexing_maps = [#both, #n], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x32xf32>) outs(%in : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  return %m, %n : tensor<64xf32>, tensor<32xf32>
}
