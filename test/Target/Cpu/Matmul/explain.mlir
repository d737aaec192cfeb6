// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32,
  "L2_cache_ways" = 8 : i32, "multiply_add_ns" = 0.25 : f64, "copy_l2_ns" = 25.0 : f64, "copy_l3_ns" = 30.0 : f64,
  "wait_l3_ns" = 1.0 : f64, "wait_unaligned_ns" = 5.0 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// All of B fits the second-level cache: it is read from there for each row of tiles.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: rates (DLTI), ns: multiply-add of f32 0.25,
// CHECK-SAME: copying a KiB from L2 25.00, from L3 30.00,
// CHECK-SAME: multiply-adds waiting for a KiB from L3 1.00, not at a line 5.00
// CHECK: pack A: no (its rows are read in place), pack B: no (25000 cycles, waiting for it in place 0; of a panel of
func.func @small_b(%a: tensor<512x1000xf32>, %b: tensor<1000x64xf32>, %c: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<512x1000xf32>, tensor<1000x64xf32>) outs(%c : tensor<512x64xf32>) -> tensor<512x64xf32>
  return %d : tensor<512x64xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32,
  "L2_cache_ways" = 8 : i32, "multiply_add_ns" = 0.25 : f64, "copy_l2_ns" = 25.0 : f64, "copy_l3_ns" = 30.0 : f64,
  "wait_l3_ns" = 1.0 : f64, "wait_unaligned_ns" = 5.0 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// 342 rows of tiles read a large B: copying it once costs less.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: pack A: no (its rows are read in place), pack B: yes (1966080 cycles, waiting for it in place 112066560; of a panel of 256 KiB 32 KiB fit L2 there)
// CHECK: blocks 126x2048x1024: rows of A 24 KiB of 32 KiB L1, block of A 504 KiB of 1024 KiB L2, block of B 8192 KiB of 32768 KiB L3
func.func @large(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// One block of m: a block of B is used right after it is packed, and stays near.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: cycles per 2 steps of k
// CHECK: pack A: no (its rows are read in place), pack B: yes (for products of groups of 2)
// CHECK: blocks 16x128x1024: {{.*}}, block of B 256 KiB of 1024 KiB L2, as all of m is one block
// CHECK: the block of B that is packed next is fetched to L2
func.func @few_rows(%a: tensor<16x1024xbf16>, %b: tensor<1024x1024xbf16>, %c: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x1024xbf16>, tensor<1024x1024xbf16>) outs(%c : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %d : tensor<16x1024xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// The last pair of an odd k has to be filled up; a k that is not known may be odd.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: pack A: yes (1024 elements of n use it), pack B: yes
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: pack A: yes (1024 elements of n use it), pack B: yes
func.func @odd_k(%a: tensor<16x1023xbf16>, %b: tensor<1023x1024xbf16>, %c: tensor<16x1024xf32>,
    %e: tensor<16x?xbf16>, %f: tensor<?x1024xbf16>) -> (tensor<16x1024xf32>, tensor<16x1024xf32>) {
  %d = linalg.matmul ins(%a, %b : tensor<16x1023xbf16>, tensor<1023x1024xbf16>) outs(%c : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %g = linalg.matmul ins(%e, %f : tensor<16x?xbf16>, tensor<?x1024xbf16>) outs(%c : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %d, %g : tensor<16x1024xf32>, tensor<16x1024xf32>
}
}
