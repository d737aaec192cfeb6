// Constant operands are packed when they are compiled: panels of 16 columns, padded with zeros; nothing copies them.
// RUN: xetile-opt %s --deep-tile-matmul="threads=1" --canonicalize --cse | FileCheck %s

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32>>
#config = #xetile.matmul_config<innermostMBlock = 2, innermostNBlock = 16, innermostKBlock = 2>
module attributes {dlti.target_system_spec = #machine} {
// Two matmuls share the one constant.
// CHECK-LABEL: func @weights
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00, {{.*}}], [4.000000e+00, 5.000000e+00, 6.000000e+00, 0.000000e+00,{{.*}}> : tensor<1x2x16xf32>
// CHECK-NOT: arith.constant dense
// CHECK-NOT: vector.transfer_write
// CHECK: linalg.batch_reduce_matmul
// CHECK-NOT: vector.transfer_write
// CHECK: linalg.batch_reduce_matmul
// CHECK: return
func.func @weights(%a: tensor<2x2xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %d = linalg.matmul {xetile.matmul_config = #config}
      ins(%a, %w : tensor<2x2xf32>, tensor<2x3xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = linalg.matmul {xetile.matmul_config = #config}
      ins(%a, %w : tensor<2x2xf32>, tensor<2x3xf32>) outs(%d : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
}
