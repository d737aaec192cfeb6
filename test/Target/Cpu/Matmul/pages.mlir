// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32,
  "L3_cache_size_in_bytes" = 314572800 : i64, "max_vector_width" = 512 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// A panel of 858 rows of B, of 1952 bytes each, is in 409 pages, which 77 blocks of 5 rows of A would visit.
// CHECK: remark: {"MThreads": 1
// CHECK: pack A: no {{.*}} pack B: yes (384312 cycles, waiting for it in place {{[0-9]+}};
func.func @many_rows(%a: tensor<385x858xf32>, %b: tensor<858x488xf32>, %c: tensor<385x488xf32>) -> tensor<385x488xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<385x858xf32>, tensor<858x488xf32>) outs(%c : tensor<385x488xf32>) -> tensor<385x488xf32>
  return %d : tensor<385x488xf32>
}
// The pages are visited once.
// CHECK: remark: {"MThreads": 1
// CHECK: pack B: no (
func.func @one_block_of_rows(%a: tensor<5x858xf32>, %b: tensor<858x488xf32>, %c: tensor<5x488xf32>) -> tensor<5x488xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<5x858xf32>, tensor<858x488xf32>) outs(%c : tensor<5x488xf32>) -> tensor<5x488xf32>
  return %d : tensor<5x488xf32>
}
// 8 rows at a time stream from the third level; a sixteenth of B stays in the second one, where sums do not have to be
// visited as often.
// CHECK: remark: {{.*}}"KBlock": 8,
// MANY: remark:
// MANY: remark:
// MANY: remark: {{.*}}"KThreads": 16, {{.*}}"KBlock": 128,
func.func @one_row(%a: tensor<1x2048xf32>, %b: tensor<2048x4096xf32>, %c: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1x2048xf32>, tensor<2048x4096xf32>) outs(%c : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %d : tensor<1x4096xf32>
}
// 1232 rows of B, which the second level keeps, come there once for all rows of A: a copy would be no nearer.
// CHECK: remark: {{.*}}"MBlock": 96, "NBlock": 96, "KBlock": 1232,
// CHECK: pack A: no {{.*}} pack B: no (
func.func @narrow(%a: tensor<96x6144xf32>, %b: tensor<6144x96xf32>, %c: tensor<96x96xf32>) -> tensor<96x96xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<96x6144xf32>, tensor<6144x96xf32>) outs(%c : tensor<96x96xf32>) -> tensor<96x96xf32>
  return %d : tensor<96x96xf32>
}
}

// -----

// Another machine does not wait for pages.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32,
  "L3_cache_size_in_bytes" = 314572800 : i64, "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// CHECK: remark: {"MThreads": 1
// CHECK: pack B: no (
func.func @near_pages(%a: tensor<385x858xf32>, %b: tensor<858x488xf32>, %c: tensor<385x488xf32>) -> tensor<385x488xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<385x858xf32>, tensor<858x488xf32>) outs(%c : tensor<385x488xf32>) -> tensor<385x488xf32>
  return %d : tensor<385x488xf32>
}
// Rows of B would come again for other rows of A,
// CHECK: remark: {"MThreads": 1
// CHECK: pack A: no {{.*}} pack B: yes (
func.func @several_blocks_of_rows(%a: tensor<400x6144xf32>, %b: tensor<6144x96xf32>, %c: tensor<400x96xf32>) -> tensor<400x96xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<400x6144xf32>, tensor<6144x96xf32>) outs(%c : tensor<400x96xf32>) -> tensor<400x96xf32>
  return %d : tensor<400x96xf32>
}
// or the second level would not keep as many.
// CHECK: remark: {"MThreads": 1
// CHECK: pack A: no {{.*}} pack B: yes (
func.func @large_block(%a: tensor<96x6144xf32>, %b: tensor<6144x288xf32>, %c: tensor<96x288xf32>) -> tensor<96x288xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<96x6144xf32>, tensor<6144x288xf32>) outs(%c : tensor<96x288xf32>) -> tensor<96x288xf32>
  return %d : tensor<96x288xf32>
}
}
