// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// Vectors along k: a vector of a row of A, which comes from the second level, is multiplied by all of five columns.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "innermostMBlock": 30, "innermostNBlock": 5, "innermostKBlock": 16,
// CHECK: vectors of 16 run along k, {{.*}}; registers hold the sums of 5 rows and 5 columns
func.func @five_columns(%a: tensor<1000x392xf32>, %b: tensor<392x5xf32>, %c: tensor<1000x5xf32>) -> tensor<1000x5xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1000x392xf32>, tensor<392x5xf32>) outs(%c : tensor<1000x5xf32>) -> tensor<1000x5xf32>
  return %d : tensor<1000x5xf32>
}

// Left columns would be computed one by one: none are left of two times seven.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: registers hold the sums of 3 rows and 7 columns
func.func @no_column_left(%a: tensor<3077x392xf32>, %b: tensor<392x14xf32>, %c: tensor<3077x14xf32>) -> tensor<3077x14xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<3077x392xf32>, tensor<392x14xf32>) outs(%c : tensor<3077x14xf32>) -> tensor<3077x14xf32>
  return %d : tensor<3077x14xf32>
}

// So would be four rows of 64, of more than one call of the microkernel; of 16 rows in one call they are a tile.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: registers hold the sums of 4 rows and 4 columns
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: registers hold the sums of 6 rows and 4 columns
func.func @left_rows(%a: tensor<64x392xf32>, %b: tensor<392x4xf32>, %c: tensor<64x4xf32>,
    %e: tensor<16x1000xf32>, %f: tensor<1000x4xf32>, %g: tensor<16x4xf32>) -> (tensor<64x4xf32>, tensor<16x4xf32>) {
  %d = linalg.matmul ins(%a, %b : tensor<64x392xf32>, tensor<392x4xf32>) outs(%c : tensor<64x4xf32>) -> tensor<64x4xf32>
  %h = linalg.matmul ins(%e, %f : tensor<16x1000xf32>, tensor<1000x4xf32>) outs(%g : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %d, %h : tensor<64x4xf32>, tensor<16x4xf32>
}

// Two columns at a time would wait for rows of A from the second level, but not where the first one has all of them,
// or for a single tile of rows.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: registers hold the sums of 4 rows and 5 columns
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: registers hold the sums of 8 rows and 2 columns
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: registers hold the sums of 12 rows and 2 columns
func.func @rows_near(%a: tensor<64x392xf32>, %b: tensor<11x392xf32>, %c: tensor<64x11xf32>,
    %e: tensor<64x120xf32>, %f: tensor<11x120xf32>, %i: tensor<12x1000xf32>, %j: tensor<13x1000xf32>,
    %k: tensor<12x13xf32>) -> (tensor<64x11xf32>, tensor<64x11xf32>, tensor<12x13xf32>) {
  %d = linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<64x392xf32>, tensor<11x392xf32>) outs(%c : tensor<64x11xf32>) -> tensor<64x11xf32>
  %h = linalg.matmul indexing_maps = [#a, #b, #c] ins(%e, %f : tensor<64x120xf32>, tensor<11x120xf32>) outs(%c : tensor<64x11xf32>) -> tensor<64x11xf32>
  %l = linalg.matmul indexing_maps = [#a, #b, #c] ins(%i, %j : tensor<12x1000xf32>, tensor<13x1000xf32>) outs(%k : tensor<12x13xf32>) -> tensor<12x13xf32>
  return %d, %h, %l : tensor<64x11xf32>, tensor<64x11xf32>, tensor<12x13xf32>
}

// A last part of a vector takes as long as all of one: 49 of k are four vectors, which vectors along n are as fast as.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: registers hold 30 rows of 1 vectors of 16
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: vectors of 16 run along k
func.func @parts_of_vectors(%a: tensor<3000x49xf32>, %b: tensor<49x8xf32>, %c: tensor<3000x8xf32>,
    %e: tensor<3000x64xf32>, %f: tensor<64x8xf32>) -> (tensor<3000x8xf32>, tensor<3000x8xf32>) {
  %d = linalg.matmul ins(%a, %b : tensor<3000x49xf32>, tensor<49x8xf32>) outs(%c : tensor<3000x8xf32>) -> tensor<3000x8xf32>
  %h = linalg.matmul ins(%e, %f : tensor<3000x64xf32>, tensor<64x8xf32>) outs(%c : tensor<3000x8xf32>) -> tensor<3000x8xf32>
  return %d, %h : tensor<3000x8xf32>, tensor<3000x8xf32>
}

// One vector along n holds 15 columns nearly as well as five at a time along k do, and no lanes are added: f32 and f64 are
// multiplied from where they are, f16 after a conversion.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: registers hold 30 rows of 1 vectors of 16; 3404 cycles
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: vectors of 16 run along k
func.func @one_vector(%a: tensor<3077x392xf32>, %b: tensor<392x15xf32>, %c: tensor<3077x15xf32>,
    %e: tensor<3077x392xf16>, %f: tensor<392x15xf16>) -> (tensor<3077x15xf32>, tensor<3077x15xf32>) {
  %d = linalg.matmul ins(%a, %b : tensor<3077x392xf32>, tensor<392x15xf32>) outs(%c : tensor<3077x15xf32>) -> tensor<3077x15xf32>
  %h = linalg.matmul ins(%e, %f : tensor<3077x392xf16>, tensor<392x15xf16>) outs(%c : tensor<3077x15xf32>) -> tensor<3077x15xf32>
  return %d, %h : tensor<3077x15xf32>, tensor<3077x15xf32>
}

// Of more columns tiles of several vectors are compared as they were measured.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "innermostMBlock": 4, "innermostNBlock": 96,
func.func @more_vectors(%a: tensor<1888x1760xf32>, %b: tensor<1760x272xf32>, %c: tensor<1888x272xf32>) -> tensor<1888x272xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1888x1760xf32>, tensor<1760x272xf32>) outs(%c : tensor<1888x272xf32>) -> tensor<1888x272xf32>
  return %d : tensor<1888x272xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "name" = "emeraldrapids", "amx" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// One tile of columns: rows of A come once, and no copies of both operands to tiles are made for two columns.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: vectors of 64 run along k
func.func @one_tile(%a: tensor<2860x2765xi8>, %b: tensor<2765x2xi8>, %c: tensor<2860x2xi32>) -> tensor<2860x2xi32> {
  %d = linalg.matmul ins(%a, %b : tensor<2860x2765xi8>, tensor<2765x2xi8>) outs(%c : tensor<2860x2xi32>) -> tensor<2860x2xi32>
  return %d : tensor<2860x2xi32>
}
}
