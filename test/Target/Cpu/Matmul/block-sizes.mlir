// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s
//
// Few rows of A wait for B to be packed: whole rows of it, in order, in blocks of an eighth of the second level.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {{.*}}"NBlock": 256, "KBlock": 224,
// CHECK: at most 256 steps of k for few rows of A
func.func @few_rows(%a: tensor<120x1300xf32>, %b: tensor<1300x256xf32>, %c: tensor<120x256xf32>) -> tensor<120x256xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<120x1300xf32>, tensor<1300x256xf32>) outs(%c : tensor<120x256xf32>) -> tensor<120x256xf32>
  return %d : tensor<120x256xf32>
}
// No fewer than 64 steps, as each block visits C.
// CHECK-LABEL: remark: {{.*}}"MThreads": 1
// CHECK: at most 64 steps of k for few rows of A
func.func @longest_rows(%a: tensor<128x160xf32>, %b: tensor<160x2048xf32>, %c: tensor<128x2048xf32>) -> tensor<128x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<128x160xf32>, tensor<160x2048xf32>) outs(%c : tensor<128x2048xf32>) -> tensor<128x2048xf32>
  return %d : tensor<128x2048xf32>
}
// CHECK-LABEL: remark: {{.*}}"KBlock": 768,
// CHECK-NOT: steps of k for few rows
func.func @more_rows(%a: tensor<197x768xf32>, %b: tensor<768x768xf32>, %c: tensor<197x768xf32>) -> tensor<197x768xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<197x768xf32>, tensor<768x768xf32>) outs(%c : tensor<197x768xf32>) -> tensor<197x768xf32>
  return %d : tensor<197x768xf32>
}
// Rows are whole in longer blocks.
// CHECK-LABEL: remark: {{.*}}"KBlock": 1024,
// CHECK-NOT: steps of k for few rows
func.func @short_rows(%a: tensor<96x6144xf32>, %b: tensor<6144x96xf32>, %c: tensor<96x96xf32>) -> tensor<96x96xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<96x6144xf32>, tensor<6144x96xf32>) outs(%c : tensor<96x96xf32>) -> tensor<96x96xf32>
  return %d : tensor<96x96xf32>
}
// What stays where it is, in the second level.
// CHECK-LABEL: remark: {{.*}}"KBlock": 512,
// CHECK-NOT: steps of k for few rows
func.func @in_place(%a: tensor<64x512xf32>, %b: tensor<512x768xf32>, %c: tensor<64x768xf32>) -> tensor<64x768xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x512xf32>, tensor<512x768xf32>) outs(%c : tensor<64x768xf32>) -> tensor<64x768xf32>
  return %d : tensor<64x768xf32>
}
// A constant is packed before the program runs.
// CHECK-LABEL: remark: {{.*}}"MThreads": 1
// CHECK: pack B: yes
// CHECK-NOT: steps of k for few rows
func.func @constant(%a: tensor<64x2048xf32>, %c: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %b = arith.constant dense<2.0> : tensor<2048x512xf32>
  %d = linalg.matmul ins(%a, %b : tensor<64x2048xf32>, tensor<2048x512xf32>) outs(%c : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %d : tensor<64x512xf32>
}
// Groups of bf16 were not measured.
// CHECK-LABEL: remark: {{.*}}"MThreads": 1
// CHECK-NOT: steps of k for few rows
func.func @groups(%a: tensor<64x2048xbf16>, %b: tensor<2048x1024xbf16>, %c: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x2048xbf16>, tensor<2048x1024xbf16>) outs(%c : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %d : tensor<64x1024xf32>
}
}

// -----

// Where the third level is near copies take no longer.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {{.*}}"MThreads": 1
// CHECK: pack B: yes
// CHECK-NOT: steps of k for few rows
func.func @near(%a: tensor<128x2048xf32>, %b: tensor<2048x1024xf32>, %c: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<128x2048xf32>, tensor<2048x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
  return %d : tensor<128x1024xf32>
}
}
