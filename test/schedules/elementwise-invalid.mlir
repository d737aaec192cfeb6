// A reduction is no payload of elementwise: the error names the schedule that takes it.
// RUN: not xetile-opt %s --split-input-file \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/elementwise.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: error: expected elementwise ops: the schedule 'rows' takes reductions
#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>
func.func @sum(%x: tensor<64x32xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x32xf32>) outs(%i : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// No memory has elements of one bit.
// CHECK: error: expected tensors of f16, bf16, f32, f64 or integers of 8, 16, 32 or 64 bits in memory, got i1
func.func @bits(%x: tensor<64xf32>) -> tensor<64xi1> {
  %e = tensor.empty() : tensor<64xi1>
  %y = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xi1>) {
  ^bb0(%a: f32, %o: i1):
    %zero = arith.constant 0.0 : f32
    %less = arith.cmpf olt, %a, %zero : f32
    linalg.yield %less : i1
  } -> tensor<64xi1>
  return %y : tensor<64xi1>
}
