// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=8" -o /dev/null 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=9" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NINE
//
// More threads than half of the cores, two of which may be one: they share its second level and wait for each other.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// 16 threads have 1 MiB each: 240 whole columns of B, 0.8 MiB, and no 1.4 MiB. 8 have 2 MiB, as each has a core of its own; 9
// have not, so 8 of them compute.
// ALL: remark: {"MThreads": 1, "NThreads": 16, "KThreads": 1,
// HALF: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 2,
// NINE: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 2,
func.func @few_rows(%a: tensor<16x832xf32>, %b: tensor<832x3408xf32>, %c: tensor<16x3408xf32>) -> tensor<16x3408xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x832xf32>, tensor<832x3408xf32>) outs(%c : tensor<16x3408xf32>) -> tensor<16x3408xf32>
  return %d : tensor<16x3408xf32>
}
// Parts of 1088 rows begin in more pages than are remembered.
// ALL: remark: {"MThreads": 1, "NThreads": 8, "KThreads": 2,
// HALF: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 2,
// NINE: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 2,
func.func @more_pages(%a: tensor<16x1088xf32>, %b: tensor<1088x2256xf32>, %c: tensor<16x2256xf32>) -> tensor<16x2256xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x1088xf32>, tensor<1088x2256xf32>) outs(%c : tensor<16x2256xf32>) -> tensor<16x2256xf32>
  return %d : tensor<16x2256xf32>
}
// 16 threads have one block or two, 10 have two each. Of 8 threads it is the busiest that counts.
// ALL: remark: {"MThreads": 1, "NThreads": 16, "KThreads": 1,
// HALF: remark: {"MThreads": 1, "NThreads": 7, "KThreads": 1,
// NINE: remark: {"MThreads": 1, "NThreads": 9, "KThreads": 1,
func.func @twenty_blocks(%a: tensor<7x1180xf32>, %b: tensor<1180x929xf32>, %c: tensor<7x929xf32>) -> tensor<7x929xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<7x1180xf32>, tensor<1180x929xf32>) outs(%c : tensor<7x929xf32>) -> tensor<7x929xf32>
  return %d : tensor<7x929xf32>
}
// Parts of rows 2 KiB apart, which reach few sets, do not share these: threads with other columns fill others.
// ALL: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 4,
// HALF: remark: {"MThreads": 2, "NThreads": 1, "KThreads": 4,
// NINE: remark: {"MThreads": 1, "NThreads": 3, "KThreads": 3,
func.func @few_sets(%a: tensor<16x2240xf32>, %b: tensor<2240x512xf32>, %c: tensor<16x512xf32>) -> tensor<16x512xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x2240xf32>, tensor<2240x512xf32>) outs(%c : tensor<16x512xf32>) -> tensor<16x512xf32>
  return %d : tensor<16x512xf32>
}
// Half of B would be 1.1 MiB. A copy would share the second level, too: there is none.
// ALL: remark: {"MThreads": 4, "NThreads": 4, "KThreads": 1,
// ALL: pack B: no
// HALF: remark: {"MThreads": 2, "NThreads": 4, "KThreads": 1,
// NINE: remark: {"MThreads": 3, "NThreads": 3, "KThreads": 1,
func.func @many_rows(%a: tensor<768x768xf32>, %b: tensor<768x768xf32>, %c: tensor<768x768xf32>) -> tensor<768x768xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<768x768xf32>, tensor<768x768xf32>) outs(%c : tensor<768x768xf32>) -> tensor<768x768xf32>
  return %d : tensor<768x768xf32>
}
// Tiles have rows that all threads have as many of.
// ALL: remark: {"MThreads": 16, {{.*}}"innermostMBlock": 9,
// HALF: remark: {"MThreads": 8, {{.*}}"innermostMBlock": 9,
// NINE: remark: {"MThreads": 9, {{.*}}"innermostMBlock": 16,
func.func @one_vector(%a: tensor<144x2368xf32>, %b: tensor<2368x16xf32>, %c: tensor<144x16xf32>) -> tensor<144x16xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<144x2368xf32>, tensor<2368x16xf32>) outs(%c : tensor<144x16xf32>) -> tensor<144x16xf32>
  return %d : tensor<144x16xf32>
}
// ALL: remark: {"MThreads": 2, "NThreads": 8, "KThreads": 1,
// HALF: remark: {"MThreads": 2, "NThreads": 4, "KThreads": 1,
// NINE: remark: {"MThreads": 1, "NThreads": 9, "KThreads": 1,
func.func @wide(%a: tensor<48x464xf32>, %b: tensor<464x3120xf32>, %c: tensor<48x3120xf32>) -> tensor<48x3120xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<48x464xf32>, tensor<464x3120xf32>) outs(%c : tensor<48x3120xf32>) -> tensor<48x3120xf32>
  return %d : tensor<48x3120xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "amx" = 1 : i32, "bf16_dot" = 1 : i32, "int8_dot" = 1 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// Tiles: for 8 threads of n each would copy all of A for its columns, which costs more than what they compute.
// ALL: remark: {"MThreads": 4, "NThreads": 4, "KThreads": 1,
// HALF: remark: {"MThreads": 2, "NThreads": 4, "KThreads": 1,
// NINE: remark: {"MThreads": 3, "NThreads": 3, "KThreads": 1,
func.func @copies_of_a(%a: tensor<1414x680xbf16>, %b: tensor<680x1577xbf16>, %c: tensor<1414x1577xf32>) -> tensor<1414x1577xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1414x680xbf16>, tensor<680x1577xbf16>) outs(%c : tensor<1414x1577xf32>) -> tensor<1414x1577xf32>
  return %d : tensor<1414x1577xf32>
}
// ALL: remark: {"MThreads": 4, "NThreads": 4, "KThreads": 1,
// HALF: remark: {"MThreads": 2, "NThreads": 4, "KThreads": 1,
// NINE: remark: {"MThreads": 2, "NThreads": 4, "KThreads": 1,
func.func @long_rows(%a: tensor<306x3736xbf16>, %b: tensor<3736x482xbf16>, %c: tensor<306x482xf32>) -> tensor<306x482xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<306x3736xbf16>, tensor<3736x482xbf16>) outs(%c : tensor<306x482xf32>) -> tensor<306x482xf32>
  return %d : tensor<306x482xf32>
}
// What is estimated to gain less than a twentieth is not taken.
// ALL: remark: {"MThreads": 16, "NThreads": 1, "KThreads": 1,
// HALF: remark: {"MThreads": 8, "NThreads": 1, "KThreads": 1,
// NINE: remark: {"MThreads": 9, "NThreads": 1, "KThreads": 1,
func.func @short_k(%a: tensor<4064x16xbf16>, %b: tensor<16x224xbf16>, %c: tensor<4064x224xf32>) -> tensor<4064x224xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4064x16xbf16>, tensor<16x224xbf16>) outs(%c : tensor<4064x224xf32>) -> tensor<4064x224xf32>
  return %d : tensor<4064x224xf32>
}
// Copying bytes to groups takes longer than their products: k is shared.
// ALL: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 4,
// HALF: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 1,
// NINE: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 1,
func.func @bytes(%a: tensor<16x3168xi8>, %b: tensor<3168x112xi8>, %c: tensor<16x112xi32>) -> tensor<16x112xi32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x3168xi8>, tensor<3168x112xi8>) outs(%c : tensor<16x112xi32>) -> tensor<16x112xi32>
  return %d : tensor<16x112xi32>
}
// All of A, 2 MiB, stays where a core has one thread.
// ALL: remark: {"MThreads": 2, "NThreads": 8, "KThreads": 1,
// HALF: remark: {"MThreads": 1, "NThreads": 8, "KThreads": 1,
// NINE: remark: {"MThreads": 1, "NThreads": 8, "KThreads": 1,
func.func @a_beyond(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %d : tensor<1024x1024xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// Not where the third level is near.
// ALL: remark: {"MThreads": 1, "NThreads": 10, "KThreads": 1,
// HALF: remark: {"MThreads": 1, "NThreads": 7, "KThreads": 1,
// NINE: remark: {"MThreads": 1, "NThreads": 7, "KThreads": 1,
func.func @near(%a: tensor<7x1180xf32>, %b: tensor<1180x929xf32>, %c: tensor<7x929xf32>) -> tensor<7x929xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<7x1180xf32>, tensor<1180x929xf32>) outs(%c : tensor<7x929xf32>) -> tensor<7x929xf32>
  return %d : tensor<7x929xf32>
}
}
