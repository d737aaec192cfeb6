// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=16" -o /dev/null 2>&1 | FileCheck %s
//
// Operands of given numbers of threads, which share caches, cost what they are estimated to.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// Rows of A, 1.6 MiB, come again for each panel, as half of the second level is another thread's.
// CHECK: remark: {"MThreads": 1, "NThreads": 16,
// CHECK: operands 217530 + results 0
func.func @rows_of_a(%a: tensor<400x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<400x1024xf32>) -> tensor<400x1024xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 16, KThreads = 1>} ins(%a, %b : tensor<400x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<400x1024xf32>) -> tensor<400x1024xf32>
  return %d : tensor<400x1024xf32>
}
// Half of B would not stay beside another thread's, but nor would a copy of it: there is none.
// CHECK: remark: {"MThreads": 8, "NThreads": 2,
// CHECK: pack B: no
func.func @no_copy(%a: tensor<2048x1280xf32>, %b: tensor<1280x320xf32>, %c: tensor<2048x320xf32>) -> tensor<2048x320xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 8, NThreads = 2, KThreads = 1>} ins(%a, %b : tensor<2048x1280xf32>, tensor<1280x320xf32>) outs(%c : tensor<2048x320xf32>) -> tensor<2048x320xf32>
  return %d : tensor<2048x320xf32>
}
// 1 MiB of B is streamed.
// CHECK: remark: {"MThreads": 2, "NThreads": 1, "KThreads": 8, {{.*}}"KBlock": 64,
func.func @streamed(%a: tensor<24x2048xf32>, %b: tensor<2048x1024xf32>, %c: tensor<24x1024xf32>) -> tensor<24x1024xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 2, NThreads = 1, KThreads = 8>} ins(%a, %b : tensor<24x2048xf32>, tensor<2048x1024xf32>) outs(%c : tensor<24x1024xf32>) -> tensor<24x1024xf32>
  return %d : tensor<24x1024xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "int8_dot" = 1 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// Without tiles bytes are copied as fast as others.
// CHECK: remark: {"MThreads": 1, "NThreads": 1,
// CHECK: operands 93049 + results 0
func.func @dot_products(%a: tensor<16x3168xi8>, %b: tensor<3168x112xi8>, %c: tensor<16x112xi32>) -> tensor<16x112xi32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 1, KThreads = 1>} ins(%a, %b : tensor<16x3168xi8>, tensor<3168x112xi8>) outs(%c : tensor<16x112xi32>) -> tensor<16x112xi32>
  return %d : tensor<16x112xi32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "amx" = 1 : i32, "bf16_dot" = 1 : i32, "int8_dot" = 1 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// Bytes that are copied before all calls are not waited for.
// CHECK: remark: {"MThreads": 1, "NThreads": 1,
// CHECK: operands 0 + results 440
func.func @packed_ahead(%a: tensor<16x3168xi8>, %c: tensor<16x112xi32>) -> tensor<16x112xi32> {
  %b = arith.constant dense<3> : tensor<3168x112xi8>
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 1, KThreads = 1>} ins(%a, %b : tensor<16x3168xi8>, tensor<3168x112xi8>) outs(%c : tensor<16x112xi32>) -> tensor<16x112xi32>
  return %d : tensor<16x112xi32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// Rows of A, 0.8 MiB, are near where the third level is: there are 16 cores.
// CHECK: remark: {"MThreads": 1, "NThreads": 16,
// CHECK: operands 22294 + results 0
func.func @near_rows_of_a(%a: tensor<200x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<200x1024xf32>) -> tensor<200x1024xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 16, KThreads = 1>} ins(%a, %b : tensor<200x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<200x1024xf32>) -> tensor<200x1024xf32>
  return %d : tensor<200x1024xf32>
}
}
