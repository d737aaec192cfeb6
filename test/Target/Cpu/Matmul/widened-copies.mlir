// Floats that no instruction multiplies are widened where they are copied, once, instead of wherever a microkernel reads
// them: the microkernel is that of f32.
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1" | FileCheck %s
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1 pack=never" --xetile-bufferize-for-cpu \
// RUN:   --xetile-lower-microkernels="vector-bits=0" | FileCheck %s --check-prefix=NEVER

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "bf16_dot" = 0 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @both
// CHECK-DAG: %[[ROWS:.*]] = tensor.empty() : tensor<108x144xf32>
// CHECK-DAG: %[[PANELS:.*]] = tensor.empty() : tensor<4x128x32xf32>
// CHECK: %[[A:.*]] = vector.transfer_read {{.*}} tensor<100x128xbf16>, vector<16xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[A]] : vector<16xbf16> to vector<16xf32>
// CHECK: vector.transfer_write %[[WIDE]], {{.*}} vector<16xf32>, tensor<108x144xf32>
// CHECK: %[[B:.*]] = vector.transfer_read {{.*}} tensor<128x128xbf16>, vector<16xbf16>
// CHECK: %[[ALSO:.*]] = arith.extf %[[B]] : vector<16xbf16> to vector<16xf32>
// CHECK: vector.transfer_write %[[ALSO]], {{.*}} vector<16xf32>, tensor<4x128x32xf32>
// CHECK: linalg.batch_reduce_matmul {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x?x128xf32>, tensor<1x128x32xf32>)
//
// Where nothing is copied the microkernel widens.
// NEVER-LABEL: func @both
// NEVER: vector.load {{.*}} vector<16xbf16>
// NEVER: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// NEVER: vector.fma
func.func @both(%a: tensor<100x128xbf16>, %b: tensor<128x128xbf16>, %c: tensor<100x128xf32>) -> tensor<100x128xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 12, innermostNBlock = 32>}
      ins(%a, %b : tensor<100x128xbf16>, tensor<128x128xbf16>) outs(%c : tensor<100x128xf32>) -> tensor<100x128xf32>
  return %d : tensor<100x128xf32>
}
}

// -----

// f16 has no such instruction here. Sums start from f16 and end in it: the products are those of f16's values.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @result
// CHECK: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x64x?xf32>, tensor<1x64x32xf32>) outs(%{{.*}} : tensor<?x32xf16>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[SUM:.*]]: f16):
// CHECK: arith.truncf %[[X]] : f32 to f16
// CHECK: arith.truncf %[[Y]] : f32 to f16
func.func @result(%a: tensor<64x100xf16>, %b: tensor<64x128xf16>, %c: tensor<100x128xf16>) -> tensor<100x128xf16> {
  %d = linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 12, innermostNBlock = 32>}
      ins(%a, %b : tensor<64x100xf16>, tensor<64x128xf16>) outs(%c : tensor<100x128xf16>) -> tensor<100x128xf16>
  return %d : tensor<100x128xf16>
}

// A constant is widened by the compiler; the few rows of a thin matrix wait for the bytes of B.
// CHECK-LABEL: func @constant
// CHECK: arith.constant dense<1.500000e+00> : tensor<2x2x32xf32>
// CHECK-LABEL: func @thin
// CHECK: arith.constant dense<1.500000e+00> : tensor<2x2x32xf16>
func.func @constant(%a: tensor<100x2xf16>, %c: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %w = arith.constant dense<1.5> : tensor<2x64xf16>
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<innermostNBlock = 32, innermostKBlock = 2>}
      ins(%a, %w : tensor<100x2xf16>, tensor<2x64xf16>) outs(%c : tensor<100x64xf32>) -> tensor<100x64xf32>
  return %d : tensor<100x64xf32>
}
func.func @thin(%a: tensor<10x2xf16>, %c: tensor<10x64xf32>) -> tensor<10x64xf32> {
  %w = arith.constant dense<1.5> : tensor<2x64xf16>
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<innermostNBlock = 32, innermostKBlock = 2>}
      ins(%a, %w : tensor<10x2xf16>, tensor<2x64xf16>) outs(%c : tensor<10x64xf32>) -> tensor<10x64xf32>
  return %d : tensor<10x64xf32>
}
}
