// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s
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

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// Rows of A that come from beyond the second level, past a single panel of B, are read in longer parts where they are few.
// CHECK-LABEL: remark: {{.*}}"KBlock": 864, "innermostMBlock": 8, "innermostNBlock": 16,
func.func @far_rows(%a: tensor<688x1712xf32>, %b: tensor<1712x16xf32>, %c: tensor<688x16xf32>) -> tensor<688x16xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<688x1712xf32>, tensor<1712x16xf32>) outs(%c : tensor<688x16xf32>) -> tensor<688x16xf32>
  return %d : tensor<688x16xf32>
}
// They are not taken for slower by that than vectors along k would be.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 8, "innermostNBlock": 16,
func.func @far_columns(%a: tensor<2000x1000xf32>, %b: tensor<1000x14xf32>, %c: tensor<2000x14xf32>) -> tensor<2000x14xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2000x1000xf32>, tensor<1000x14xf32>) outs(%c : tensor<2000x14xf32>) -> tensor<2000x14xf32>
  return %d : tensor<2000x14xf32>
}
// The second level has them: 16 rows of 1 KiB or more, as many shorter ones as registers hold. Or there are two vectors of
// columns.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 16, "innermostNBlock": 16,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 30, "innermostNBlock": 16,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 15, "innermostNBlock": 16,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 13, "innermostNBlock": 32,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 13, "innermostNBlock": 32,
func.func @near_rows(%a: tensor<400x336xf32>, %b: tensor<336x16xf32>, %c: tensor<400x16xf32>) -> tensor<400x16xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<400x336xf32>, tensor<336x16xf32>) outs(%c : tensor<400x16xf32>) -> tensor<400x16xf32>
  return %d : tensor<400x16xf32>
}
func.func @short_rows(%a: tensor<3000x100xf32>, %b: tensor<100x16xf32>, %c: tensor<3000x16xf32>) -> tensor<3000x16xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<3000x100xf32>, tensor<100x16xf32>) outs(%c : tensor<3000x16xf32>) -> tensor<3000x16xf32>
  return %d : tensor<3000x16xf32>
}
func.func @equal_rows(%a: tensor<133x300xf32>, %b: tensor<300x16xf32>, %c: tensor<133x16xf32>) -> tensor<133x16xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<133x300xf32>, tensor<300x16xf32>) outs(%c : tensor<133x16xf32>) -> tensor<133x16xf32>
  return %d : tensor<133x16xf32>
}
func.func @two_vectors(%a: tensor<688x1712xf32>, %b: tensor<1712x32xf32>, %c: tensor<688x32xf32>) -> tensor<688x32xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<688x1712xf32>, tensor<1712x32xf32>) outs(%c : tensor<688x32xf32>) -> tensor<688x32xf32>
  return %d : tensor<688x32xf32>
}
func.func @thirteen_rows(%a: tensor<1000x500xf32>, %b: tensor<500x32xf32>, %c: tensor<1000x32xf32>) -> tensor<1000x32xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1000x500xf32>, tensor<500x32xf32>) outs(%c : tensor<1000x32xf32>) -> tensor<1000x32xf32>
  return %d : tensor<1000x32xf32>
}
// Wider tiles than of 4 vectors wait for more of B, of many rows of A, and are taken where others waste more.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 8, "innermostNBlock": 48,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 5, "innermostNBlock": 80,
func.func @wide(%a: tensor<336x160xf32>, %b: tensor<160x2768xf32>, %c: tensor<336x2768xf32>) -> tensor<336x2768xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<336x160xf32>, tensor<160x2768xf32>) outs(%c : tensor<336x2768xf32>) -> tensor<336x2768xf32>
  return %d : tensor<336x2768xf32>
}
func.func @one_wide_panel(%a: tensor<130x500xf32>, %b: tensor<500x80xf32>, %c: tensor<130x80xf32>) -> tensor<130x80xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<130x500xf32>, tensor<500x80xf32>) outs(%c : tensor<130x80xf32>) -> tensor<130x80xf32>
  return %d : tensor<130x80xf32>
}
// A B that is fetched ahead is read by tiles of up to 8 rows, of long parts of its rows; of 12 rows they are one.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 8, "innermostNBlock": 48,
// CHECK: 3795 cycles per step of k for 3072 vector multiply-adds
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 12, "innermostNBlock": 32,
func.func @fetched_ahead(%a: tensor<64x512xf32>, %b: tensor<512x768xf32>, %c: tensor<64x768xf32>) -> tensor<64x768xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x512xf32>, tensor<512x768xf32>) outs(%c : tensor<64x768xf32>) -> tensor<64x768xf32>
  return %d : tensor<64x768xf32>
}
func.func @one_tile_of_rows(%a: tensor<12x700xf32>, %b: tensor<700x512xf32>, %c: tensor<12x512xf32>) -> tensor<12x512xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<12x700xf32>, tensor<700x512xf32>) outs(%c : tensor<12x512xf32>) -> tensor<12x512xf32>
  return %d : tensor<12x512xf32>
}
// If it is packed after all, as it stays in few sets, tiles are those of packed operands.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 4, "innermostNBlock": 64,
// CHECK: pack B: yes
func.func @packed_after_all(%a: tensor<128x300xf32>, %b: tensor<300x1024xf32>, %c: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<128x300xf32>, tensor<300x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
  return %d : tensor<128x1024xf32>
}
// Rows along k would pass 12 panels of columns, each time from the second level; a narrow B is read in order.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 6, "innermostNBlock": 64,
// CHECK: pack B: no
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 30, "innermostNBlock": 5,
func.func @several_panels(%a: tensor<3990x2661xf32>, %b: tensor<2661x60xf32>, %c: tensor<3990x60xf32>) -> tensor<3990x60xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<3990x2661xf32>, tensor<2661x60xf32>) outs(%c : tensor<3990x60xf32>) -> tensor<3990x60xf32>
  return %d : tensor<3990x60xf32>
}
func.func @one_panel(%a: tensor<3990x2661xf32>, %b: tensor<2661x5xf32>, %c: tensor<3990x5xf32>) -> tensor<3990x5xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<3990x2661xf32>, tensor<2661x5xf32>) outs(%c : tensor<3990x5xf32>) -> tensor<3990x5xf32>
  return %d : tensor<3990x5xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// Where the third level is near rows are as many as registers hold, and run along k past several panels.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 30, "innermostNBlock": 16,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 30, "innermostNBlock": 5,
func.func @near_third_level(%a: tensor<3077x392xf32>, %b: tensor<392x16xf32>, %c: tensor<3077x16xf32>) -> tensor<3077x16xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<3077x392xf32>, tensor<392x16xf32>) outs(%c : tensor<3077x16xf32>) -> tensor<3077x16xf32>
  return %d : tensor<3077x16xf32>
}
func.func @near_panels(%a: tensor<3990x2661xf32>, %b: tensor<2661x60xf32>, %c: tensor<3990x60xf32>) -> tensor<3990x60xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<3990x2661xf32>, tensor<2661x60xf32>) outs(%c : tensor<3990x60xf32>) -> tensor<3990x60xf32>
  return %d : tensor<3990x60xf32>
}
// Rows of C of 7 vectors: 4 of them fill the registers, and multiply-adds read B from memory.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 4, "innermostNBlock": 112,
// CHECK: 4 rows of 7 vectors of 16; 7400 cycles per step
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 3, "innermostNBlock": 112,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 4, "innermostNBlock": 96,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 4, "innermostNBlock": 64,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 6, "innermostNBlock": 64,
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 6, "innermostNBlock": 64,
func.func @whole_rows(%a: tensor<1000x300xf32>, %b: tensor<300x112xf32>, %c: tensor<1000x112xf32>) -> tensor<1000x112xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1000x300xf32>, tensor<300x112xf32>) outs(%c : tensor<1000x112xf32>) -> tensor<1000x112xf32>
  return %d : tensor<1000x112xf32>
}
func.func @last_vector_has_one(%a: tensor<129x300xf32>, %b: tensor<300x97xf32>, %c: tensor<129x97xf32>) -> tensor<129x97xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<129x300xf32>, tensor<300x97xf32>) outs(%c : tensor<129x97xf32>) -> tensor<129x97xf32>
  return %d : tensor<129x97xf32>
}
func.func @six_vectors(%a: tensor<1000x300xf32>, %b: tensor<300x96xf32>, %c: tensor<1000x96xf32>) -> tensor<1000x96xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1000x300xf32>, tensor<300x96xf32>) outs(%c : tensor<1000x96xf32>) -> tensor<1000x96xf32>
  return %d : tensor<1000x96xf32>
}
// Not of few rows of A, of integers, which have no such instruction, or of narrower elements.
func.func @not_many_rows(%a: tensor<128x300xf32>, %b: tensor<300x112xf32>, %c: tensor<128x112xf32>) -> tensor<128x112xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<128x300xf32>, tensor<300x112xf32>) outs(%c : tensor<128x112xf32>) -> tensor<128x112xf32>
  return %d : tensor<128x112xf32>
}
func.func @integers(%a: tensor<1000x300xi32>, %b: tensor<300x112xi32>, %c: tensor<1000x112xi32>) -> tensor<1000x112xi32> {
  %d = linalg.matmul ins(%a, %b : tensor<1000x300xi32>, tensor<300x112xi32>) outs(%c : tensor<1000x112xi32>) -> tensor<1000x112xi32>
  return %d : tensor<1000x112xi32>
}
func.func @narrow(%a: tensor<1000x300xf16>, %b: tensor<300x112xf16>, %c: tensor<1000x112xf32>) -> tensor<1000x112xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1000x300xf16>, tensor<300x112xf16>) outs(%c : tensor<1000x112xf32>) -> tensor<1000x112xf32>
  return %d : tensor<1000x112xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 256 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// 16 registers hold 2 rows of 7 vectors, which load more than they multiply.
// CHECK-LABEL: remark: {{.*}}"innermostMBlock": 6, "innermostNBlock": 16,
func.func @few_registers(%a: tensor<1000x20xf32>, %b: tensor<20x56xf32>, %c: tensor<1000x56xf32>) -> tensor<1000x56xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1000x20xf32>, tensor<20x56xf32>) outs(%c : tensor<1000x56xf32>) -> tensor<1000x56xf32>
  return %d : tensor<1000x56xf32>
}
}
