// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32,
  "L3_cache_size_in_bytes" = 314572800 : i64, "max_vector_width" = 512 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// B fills 0.8 of the second level, whose sets do not get the same number of pages of 4 KiB each; 77 blocks of 5 rows of A
// would wait for what is lost, and visit the 409 pages of a panel of 858 rows of 1952 bytes again.
// CHECK: remark: {"MThreads": 1
// CHECK: pack A: no {{.*}} pack B: yes (715000 cycles, waiting for it in place {{[0-9]+}};
func.func @many_rows(%a: tensor<385x858xf32>, %b: tensor<858x488xf32>, %c: tensor<385x488xf32>) -> tensor<385x488xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<385x858xf32>, tensor<858x488xf32>) outs(%c : tensor<385x488xf32>) -> tensor<385x488xf32>
  return %d : tensor<385x488xf32>
}
// Rows of 1 KiB reach a quarter of the sets, of which half is for a panel: 1024 rows of 64 columns fill that half.
// CHECK: remark: {"MThreads": 1
// CHECK: pack B: no (
func.func @half_of_the_sets(%a: tensor<128x1024xf32>, %b: tensor<1024x256xf32>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<128x1024xf32>, tensor<1024x256xf32>) outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %d : tensor<128x256xf32>
}
// CHECK: remark: {"MThreads": 1
// CHECK: pack B: yes (
func.func @more_of_the_sets(%a: tensor<128x1280xf32>, %b: tensor<1280x256xf32>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<128x1280xf32>, tensor<1280x256xf32>) outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %d : tensor<128x256xf32>
}
// Three quarters of the second level stay there. A copy beside them would not: it is one of the third level.
// CHECK: remark: {"MThreads": 1
// CHECK: pack B: no (671475 cycles, waiting
func.func @three_quarters(%a: tensor<128x512xf32>, %b: tensor<512x768xf32>, %c: tensor<128x768xf32>) -> tensor<128x768xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<128x512xf32>, tensor<512x768xf32>) outs(%c : tensor<128x768xf32>) -> tensor<128x768xf32>
  return %d : tensor<128x768xf32>
}
// The pages are visited once: it waits for what the second level lost since the last call alone.
// CHECK: remark: {"MThreads": 1
// CHECK: pack B: no ({{[0-9]+}} cycles, waiting for it in place 37123;
func.func @one_block_of_rows(%a: tensor<5x858xf32>, %b: tensor<858x488xf32>, %c: tensor<5x488xf32>) -> tensor<5x488xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<5x858xf32>, tensor<858x488xf32>) outs(%c : tensor<5x488xf32>) -> tensor<5x488xf32>
  return %d : tensor<5x488xf32>
}
// 8 rows at a time stream from the third level; a sixteenth of B stays in the second one, where sums do not have to be
// visited as often.
// CHECK: remark: {{.*}}"KBlock": 8,
// MANY: remark: {{.*}}"KThreads": 16, {{.*}}"KBlock": 128,
func.func @one_row(%a: tensor<1x2048xf32>, %b: tensor<2048x4096xf32>, %c: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1x2048xf32>, tensor<2048x4096xf32>) outs(%c : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %d : tensor<1x4096xf32>
}
// Rows of 4 KiB begin in few sets, which do not keep a thread's 64 columns: B would come again for each row of tiles.
// MANY: remark: {{.*}}"NThreads": 16,
// MANY: pack B: yes (
// CHECK: remark: {"MThreads": 1
func.func @crowded(%a: tensor<77x1280xf32>, %b: tensor<1280x1024xf32>, %c: tensor<77x1024xf32>) -> tensor<77x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<77x1280xf32>, tensor<1280x1024xf32>) outs(%c : tensor<77x1024xf32>) -> tensor<77x1024xf32>
  return %d : tensor<77x1024xf32>
}
// 1024 rows of B, which the second level keeps, come there once for all rows of A: a copy would be no nearer. They follow one
// another for hardware, too, and need not be read in shorter blocks.
// CHECK: remark: {{.*}}"MBlock": 96, "NBlock": 96, "KBlock": 1024,
// CHECK: pack A: no {{.*}} pack B: no (
func.func @narrow(%a: tensor<96x6144xf32>, %b: tensor<6144x96xf32>, %c: tensor<96x96xf32>) -> tensor<96x96xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<96x6144xf32>, tensor<6144x96xf32>) outs(%c : tensor<96x96xf32>) -> tensor<96x96xf32>
  return %d : tensor<96x96xf32>
}
// 16 threads along n would each begin 1872 rows in pages of their own, more than are remembered: k is shared, too.
// A thread that has whole rows fills their pages.
// MANY: remark: {"MThreads": 1, "NThreads": 5, "KThreads": 3,
// CHECK: remark: {"MThreads": 1
// CHECK: waiting for it in place 811976;
func.func @parts_of_rows(%a: tensor<16x1872xf32>, %b: tensor<1872x1424xf32>, %c: tensor<16x1424xf32>) -> tensor<16x1424xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x1872xf32>, tensor<1872x1424xf32>) outs(%c : tensor<16x1424xf32>) -> tensor<16x1424xf32>
  return %d : tensor<16x1424xf32>
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
// Nor for what is lost of the second level, as the third is near.
// CHECK: remark: {"MThreads": 1
// CHECK: pack B: no (
func.func @nearly_all(%a: tensor<385x680xf32>, %b: tensor<680x768xf32>, %c: tensor<385x768xf32>) -> tensor<385x768xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<385x680xf32>, tensor<680x768xf32>) outs(%c : tensor<385x768xf32>) -> tensor<385x768xf32>
  return %d : tensor<385x768xf32>
}
// MANY: remark:
// MANY: remark:
// MANY: remark:
// MANY: waiting for it in place 0;
func.func @parts_of_rows(%a: tensor<16x1872xf32>, %b: tensor<1872x1424xf32>, %c: tensor<16x1424xf32>) -> tensor<16x1424xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x1872xf32>, tensor<1872x1424xf32>) outs(%c : tensor<16x1424xf32>) -> tensor<16x1424xf32>
  return %d : tensor<16x1424xf32>
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
