// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s
//
// Rows of C, longer than a page, are written from one end to the other where the second level does not have C: loop order
// 0 (mnk). A panel of B for all rows, 3 (nkm), would write a few lines of a row at a time, which nothing prefetches.

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 0 (mnk), chosen: A 0 + B 717639 + C 5371803 + microkernels 875520 =
// CHECK: loop order 3 (nkm): A 0 + B 0 + C 8594885 +
func.func @long_rows(%a: tensor<2048x12xf32>, %b: tensor<12x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2048x12xf32>, tensor<12x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// The second level has C.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 3 (nkm), chosen
func.func @near(%a: tensor<300x16xf32>, %b: tensor<16x1500xf32>, %c: tensor<300x1500xf32>) -> tensor<300x1500xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<300x16xf32>, tensor<16x1500xf32>) outs(%c : tensor<300x1500xf32>) -> tensor<300x1500xf32>
  return %d : tensor<300x1500xf32>
}

// Rows of less than a page are near one another: they wait a third as long.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 0 (mnk), chosen: A 0 + B 455943 + C 5122951 + microkernels 710220 =
// CHECK: loop order 3 (nkm): A 0 + B 0 + C 6147541 +
func.func @short_rows(%a: tensor<4000x12xf32>, %b: tensor<12x1000xf32>, %c: tensor<4000x1000xf32>) -> tensor<4000x1000xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4000x12xf32>, tensor<12x1000xf32>) outs(%c : tensor<4000x1000xf32>) -> tensor<4000x1000xf32>
  return %d : tensor<4000x1000xf32>
}

// 32 KiB of B stay in the first level beside rows of A and lines of C; 36 KiB do not, and are waited for.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 0 (mnk), chosen: A 0 + B 0 + C
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 0 (mnk){{.*}}: A 0 + B {{[1-9][0-9]*}} + C
func.func @b_in_l1(%a: tensor<4000x16xf32>, %b: tensor<16x512xf32>, %c: tensor<4000x512xf32>,
    %e: tensor<16x576xf32>, %f: tensor<4000x576xf32>) -> (tensor<4000x512xf32>, tensor<4000x576xf32>) {
  %d = linalg.matmul ins(%a, %b : tensor<4000x16xf32>, tensor<16x512xf32>) outs(%c : tensor<4000x512xf32>) -> tensor<4000x512xf32>
  %g = linalg.matmul ins(%a, %e : tensor<4000x16xf32>, tensor<16x576xf32>) outs(%f : tensor<4000x576xf32>) -> tensor<4000x576xf32>
  return %d, %g : tensor<4000x512xf32>, tensor<4000x576xf32>
}

// A block of n is less than a page.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "NBlock": 128,
// CHECK: loop order 3 (nkm), chosen
func.func @short_blocks(%a: tensor<197x768xf32>, %b: tensor<768x3072xf32>, %c: tensor<197x3072xf32>) -> tensor<197x3072xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<197x768xf32>, tensor<768x3072xf32>) outs(%c : tensor<197x3072xf32>) -> tensor<197x3072xf32>
  return %d : tensor<197x3072xf32>
}

// All of B would come from the second level for each six rows of C: for 64 steps of k that is more than what it spares,
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 3 (nkm), chosen
func.func @long_k(%a: tensor<2048x64xf32>, %b: tensor<64x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2048x64xf32>, tensor<64x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// unless one panel would come from there, too.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 0 (mnk), chosen: A 0 + B 201930 +
func.func @panel_in_l2(%a: tensor<2000x200xf32>, %b: tensor<200x1100xf32>, %c: tensor<2000x1100xf32>) -> tensor<2000x1100xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2000x200xf32>, tensor<200x1100xf32>) outs(%c : tensor<2000x1100xf32>) -> tensor<2000x1100xf32>
  return %d : tensor<2000x1100xf32>
}

// Vectors along k write a few columns of a row in any order.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: vectors of 16 run along k
// CHECK: loop order 0 (mnk): A 0 + B 1967213 + C 819672 +
// CHECK: loop order 3 (nkm), chosen: A 0 + B 1967213 + C 819672 +
func.func @along_k(%a: tensor<8x64xf32>, %b: tensor<80000x64xf32>, %c: tensor<8x80000xf32>) -> tensor<8x80000xf32> {
  %d = linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<8x64xf32>, tensor<80000x64xf32>) outs(%c : tensor<8x80000xf32>) -> tensor<8x80000xf32>
  return %d : tensor<8x80000xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "name" = "emeraldrapids", "amx" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// Lines that tiles are written to are prefetched by the microkernel.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: a product of tiles
// CHECK: loop order 0 (mnk), chosen: A 30077 + B 30077 + C 5371803 +
// CHECK: loop order 3 (nkm): A 30077 + B 30077 + C 5371803 +
func.func @tiles(%a: tensor<2048x32xbf16>, %b: tensor<32x2048xbf16>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2048x32xbf16>, tensor<32x2048xbf16>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// The next row, of less than a page, comes in time from a third level that is near.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 3 (nkm), chosen
func.func @near_rows(%a: tensor<4000x4xf32>, %b: tensor<4x1000xf32>, %c: tensor<4000x1000xf32>) -> tensor<4000x1000xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4000x4xf32>, tensor<4x1000xf32>) outs(%c : tensor<4000x1000xf32>) -> tensor<4000x1000xf32>
  return %d : tensor<4000x1000xf32>
}
// Multiply-adds do not wait for the second level, but for the third.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 0 (mnk), chosen
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: loop order 3 (nkm), chosen
func.func @b_in_l2(%a: tensor<2048x48xf32>, %b: tensor<48x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2048x48xf32>, tensor<48x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}
func.func @b_in_l3(%a: tensor<2048x128xf32>, %b: tensor<128x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2048x128xf32>, tensor<128x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 256 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// Tiles of shorter vectors are more: the 12 lines of a panel, which comes again for each of them, are still few.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "innermostNBlock": 16,
// CHECK: loop order 0 (mnk), chosen
func.func @shorter_vectors(%a: tensor<2048x12xf32>, %b: tensor<12x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2048x12xf32>, tensor<12x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}
}
