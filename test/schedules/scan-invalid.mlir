// What reads a scan elsewhere than where it is written has no place in its kernel.
// RUN: not xetile-opt %s --split-input-file \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/scan.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: error: expected what reads a scan in its kernel to be elementwise, in the order of its dimensions: compile what comes after by itself
#both = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>
func.func @moved(%A: tensor<24x24xf32>) -> tensor<24x24xf32> {
  %zero = arith.constant 0.0 : f32
  %any = tensor.empty() : tensor<24x24xf32>
  %last = tensor.empty() : tensor<24xf32>
  %from = linalg.fill ins(%zero : f32) outs(%last : tensor<24xf32>) -> tensor<24xf32>
  %sums:2 = linalg.generic {indexing_maps = [#both, #both, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%A : tensor<24x24xf32>) outs(%any, %from : tensor<24x24xf32>, tensor<24xf32>) {
  ^bb0(%a: f32, %_: f32, %before: f32):
    %sum = arith.addf %before, %a : f32
    linalg.yield %sum, %sum : f32, f32
  } -> (tensor<24x24xf32>, tensor<24xf32>)
  %twice = tensor.concat dim(1) %sums#0, %sums#0 : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x48xf32>
  %D = tensor.extract_slice %twice[0, 12] [24, 24] [1, 1] : tensor<24x48xf32> to tensor<24x24xf32>
  return %D : tensor<24x24xf32>
}
