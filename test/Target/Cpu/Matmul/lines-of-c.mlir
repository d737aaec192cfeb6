// RUN: xetile-opt %s --deep-tile-matmul="threads=14" --canonicalize --cse | FileCheck %s

// Four columns are the innermost block where vectors run along k, and a line of C has sixteen.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK: #[[LINES:.*]] = affine_map<()[s0] -> ((s0 floordiv 3) * 16, 56)>
// CHECK: #[[BLOCKS:.*]] = affine_map<()[s0] -> (s0 * 4)>

// CHECK-LABEL: func @lines
// CHECK: scf.forall (%[[ID:.*]]) in (3)
// CHECK: %[[SHARE:.*]] = arith.muli %[[ID]], %c4
// CHECK: affine.min #[[LINES]]()[%[[SHARE]]]
func.func @lines(%a: tensor<40x70xf32>, %b: tensor<70x56xf32>, %c: tensor<40x56xf32>) -> tensor<40x56xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 3, KThreads = 1, innermostNBlock = 4>}
      ins(%a, %b : tensor<40x70xf32>, tensor<70x56xf32>) outs(%c : tensor<40x56xf32>) -> tensor<40x56xf32>
  return %d : tensor<40x56xf32>
}

// There are fewer lines than threads that were asked for.
// CHECK-LABEL: func @blocks
// CHECK: scf.forall (%[[ID:.*]]) in (14)
// CHECK: affine.apply #[[BLOCKS]]()[%[[ID]]]
func.func @blocks(%a: tensor<40x70xf32>, %b: tensor<70x56xf32>, %c: tensor<40x56xf32>) -> tensor<40x56xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 14, KThreads = 1, innermostNBlock = 4>}
      ins(%a, %b : tensor<40x70xf32>, tensor<70x56xf32>) outs(%c : tensor<40x56xf32>) -> tensor<40x56xf32>
  return %d : tensor<40x56xf32>
}
}
