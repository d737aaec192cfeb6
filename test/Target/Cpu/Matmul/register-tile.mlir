// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s
//
// Of tiles that multiply as many sums, those with fewer loads.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// 7 blocks of 11 rows would fit m, with 13 loads for 22 multiply-adds: 6 x 4 takes 10 for 24.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 6, "innermostNBlock": 64,
func.func @few_loads(%a: tensor<77x1280xf32>, %b: tensor<1280x1024xf32>, %c: tensor<77x1024xf32>) -> tensor<77x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<77x1280xf32>, tensor<1280x1024xf32>) outs(%c : tensor<77x1024xf32>) -> tensor<77x1024xf32>
  return %d : tensor<77x1024xf32>
}
// A single vector of B has its elements of A in the multiply-adds: 30 rows.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 30, "innermostNBlock": 16,
func.func @one_vector(%a: tensor<3077x392xf32>, %b: tensor<392x15xf32>, %c: tensor<3077x15xf32>) -> tensor<3077x15xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<3077x392xf32>, tensor<392x15xf32>) outs(%c : tensor<3077x15xf32>) -> tensor<3077x15xf32>
  return %d : tensor<3077x15xf32>
}
}
