// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=4" -o /dev/null 2>&1 | FileCheck %s
//
// Which dimensions threads share, where cores share lines of caches.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// Rows of 5496 bytes end within lines: threads of n would both write to those of 187 rows.
// CHECK: remark: {"MThreads": 4, "NThreads": 1, "KThreads": 1,
// CHECK: results 0 + partial sums 0 +
func.func @shared_lines(%a: tensor<187x19xf32>, %b: tensor<19x1374xf32>, %c: tensor<187x1374xf32>) -> tensor<187x1374xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<187x19xf32>, tensor<19x1374xf32>) outs(%c : tensor<187x1374xf32>) -> tensor<187x1374xf32>
  return %d : tensor<187x1374xf32>
}
// Rows of whole lines have none in common.
// CHECK: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 1,
func.func @own_lines(%a: tensor<187x19xf32>, %b: tensor<19x1376xf32>, %c: tensor<187x1376xf32>) -> tensor<187x1376xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<187x19xf32>, tensor<19x1376xf32>) outs(%c : tensor<187x1376xf32>) -> tensor<187x1376xf32>
  return %d : tensor<187x1376xf32>
}
// 128 columns of rows that are 2 KiB apart reach 512 KiB of the second level, and a thread has 1120 KiB of them. All columns of
// a quarter of k reach all of it; to add up the sums costs another fork.
// CHECK: remark: {"MThreads": 1, "NThreads": 1, "KThreads": 4,
// CHECK: partial sums 81112 + fork 19672 =
func.func @few_sets(%a: tensor<16x2240xf32>, %b: tensor<2240x512xf32>, %c: tensor<16x512xf32>) -> tensor<16x512xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x2240xf32>, tensor<2240x512xf32>) outs(%c : tensor<16x512xf32>) -> tensor<16x512xf32>
  return %d : tensor<16x512xf32>
}
// CHECK: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 1,
func.func @all_sets(%a: tensor<16x2240xf32>, %b: tensor<2240x520xf32>, %c: tensor<16x520xf32>) -> tensor<16x520xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x2240xf32>, tensor<2240x520xf32>) outs(%c : tensor<16x520xf32>) -> tensor<16x520xf32>
  return %d : tensor<16x520xf32>
}
// A quarter of n, of rows that are 4 KiB apart, is 1 MiB and reaches half as much: it is streamed.
// CHECK: remark: {{.*}}"NThreads": 4, {{.*}}"KBlock": 64,
func.func @few_sets_of_a_part(%a: tensor<24x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<24x1024xf32>) -> tensor<24x1024xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 4, KThreads = 1>} ins(%a, %b : tensor<24x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<24x1024xf32>) -> tensor<24x1024xf32>
  return %d : tensor<24x1024xf32>
}
// A quarter of k is 2 MiB of B: more than stays in the second level beside other pages. It is streamed.
// CHECK: remark: {"MThreads": 1, "NThreads": 1, "KThreads": 4, {{.*}}"KBlock": 64,
func.func @all_of_the_second_level(%a: tensor<24x2048xf32>, %b: tensor<2048x1024xf32>, %c: tensor<24x1024xf32>) -> tensor<24x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<24x2048xf32>, tensor<2048x1024xf32>) outs(%c : tensor<24x1024xf32>) -> tensor<24x1024xf32>
  return %d : tensor<24x1024xf32>
}
// For many rows of A, which visit C for each block, B is streamed from four times as much on.
// CHECK: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 1, {{.*}}"KBlock": 672,
// CHECK: remark: {"MThreads": 1, "NThreads": 1, "KThreads": 4, {{.*}}"KBlock": 128,
func.func @several_panels(%a: tensor<48x1328xf32>, %b: tensor<1328x3824xf32>, %c: tensor<48x3824xf32>) -> tensor<48x3824xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<48x1328xf32>, tensor<1328x3824xf32>) outs(%c : tensor<48x3824xf32>) -> tensor<48x3824xf32>
  return %d : tensor<48x3824xf32>
}
func.func @streamed(%a: tensor<48x4000xf32>, %b: tensor<4000x3824xf32>, %c: tensor<48x3824xf32>) -> tensor<48x3824xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<48x4000xf32>, tensor<4000x3824xf32>) outs(%c : tensor<48x3824xf32>) -> tensor<48x3824xf32>
  return %d : tensor<48x3824xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// A core is sooner told what is in another one's lines.
// CHECK: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 1,
func.func @near(%a: tensor<187x19xf32>, %b: tensor<19x1374xf32>, %c: tensor<187x1374xf32>) -> tensor<187x1374xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<187x19xf32>, tensor<19x1374xf32>) outs(%c : tensor<187x1374xf32>) -> tensor<187x1374xf32>
  return %d : tensor<187x1374xf32>
}
// Nor do all threads wait for one another's sums: they were measured as this.
// CHECK: partial sums 49152 + fork
func.func @near_sums(%a: tensor<16x2240xf32>, %b: tensor<2240x512xf32>, %c: tensor<16x512xf32>) -> tensor<16x512xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 1, KThreads = 4>} ins(%a, %b : tensor<16x2240xf32>, tensor<2240x512xf32>) outs(%c : tensor<16x512xf32>) -> tensor<16x512xf32>
  return %d : tensor<16x512xf32>
}
// Streamed rows of B do not come again from a third level that is near.
// CHECK: remark: {"MThreads": 4, "NThreads": 1,
func.func @near_streams(%a: tensor<32x2400xf32>, %b: tensor<2400x2720xf32>, %c: tensor<32x2720xf32>) -> tensor<32x2720xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<32x2400xf32>, tensor<2400x2720xf32>) outs(%c : tensor<32x2720xf32>) -> tensor<32x2720xf32>
  return %d : tensor<32x2720xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "amx" = 1 : i32, "bf16_dot" = 1 : i32, "int8_dot" = 1 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// Lines come in pairs: parts of 48 columns end within one.
// CHECK: remark: {"MThreads": 2, "NThreads": 2, "KThreads": 1,
func.func @pairs(%a: tensor<752x16xf32>, %b: tensor<16x192xf32>, %c: tensor<752x192xf32>) -> tensor<752x192xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<752x16xf32>, tensor<16x192xf32>) outs(%c : tensor<752x192xf32>) -> tensor<752x192xf32>
  return %d : tensor<752x192xf32>
}
// CHECK: remark: {"MThreads": 1, "NThreads": 4, "KThreads": 1,
func.func @whole_pairs(%a: tensor<752x16xf32>, %b: tensor<16x256xf32>, %c: tensor<752x256xf32>) -> tensor<752x256xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<752x16xf32>, tensor<16x256xf32>) outs(%c : tensor<752x256xf32>) -> tensor<752x256xf32>
  return %d : tensor<752x256xf32>
}
// Of few rows they are written at once.
// CHECK: threads 1x3x1 {{.*}} results 0 +
func.func @few_pairs(%a: tensor<128x64xf32>, %b: tensor<64x144xf32>, %c: tensor<128x144xf32>) -> tensor<128x144xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 3, KThreads = 1, innermostMBlock = 8, innermostNBlock = 48>} ins(%a, %b : tensor<128x64xf32>, tensor<64x144xf32>) outs(%c : tensor<128x144xf32>) -> tensor<128x144xf32>
  return %d : tensor<128x144xf32>
}
// CHECK: threads 1x3x1 {{.*}} results 10574 +
func.func @more_pairs(%a: tensor<129x64xf32>, %b: tensor<64x144xf32>, %c: tensor<129x144xf32>) -> tensor<129x144xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 3, KThreads = 1, innermostMBlock = 8, innermostNBlock = 48>} ins(%a, %b : tensor<129x64xf32>, tensor<64x144xf32>) outs(%c : tensor<129x144xf32>) -> tensor<129x144xf32>
  return %d : tensor<129x144xf32>
}
// Tiles write to lines of both, too, which the whole estimate has.
// CHECK: remark: {"MThreads": 4, "NThreads": 1, "KThreads": 1,
func.func @tiles(%a: tensor<540x23xi8>, %b: tensor<23x317xi8>, %c: tensor<540x317xi32>) -> tensor<540x317xi32> {
  %d = linalg.matmul ins(%a, %b : tensor<540x23xi8>, tensor<23x317xi8>) outs(%c : tensor<540x317xi32>) -> tensor<540x317xi32>
  return %d : tensor<540x317xi32>
}
// CHECK: threads 2x2x1 {{.*}} results 152951 +
// CHECK: predicted: 33.03 us
func.func @given_tiles(%a: tensor<540x23xi8>, %b: tensor<23x317xi8>, %c: tensor<540x317xi32>) -> tensor<540x317xi32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 2, NThreads = 2, KThreads = 1>} ins(%a, %b : tensor<540x23xi8>, tensor<23x317xi8>) outs(%c : tensor<540x317xi32>) -> tensor<540x317xi32>
  return %d : tensor<540x317xi32>
}
// Vectors along k: a thread of n has whole columns.
// CHECK: threads 1x3x1 {{.*}} results 0 +
func.func @lanes(%a: tensor<200x999xf32>, %b: tensor<999x18xf32>, %c: tensor<200x18xf32>) -> tensor<200x18xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 3, KThreads = 1>} ins(%a, %b : tensor<200x999xf32>, tensor<999x18xf32>) outs(%c : tensor<200x18xf32>) -> tensor<200x18xf32>
  return %d : tensor<200x18xf32>
}
}
