// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// A panel of 64 columns of B and 1024 rows fills a quarter of the second level: 1536 rows are two equal parts.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "KBlock": 768, "innermostMBlock": 6, "innermostNBlock": 64,
func.func @equal_parts(%a: tensor<1536x1536xf32>, %b: tensor<1536x1536xf32>, %c: tensor<1536x1536xf32>) -> tensor<1536x1536xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1536x1536xf32>, tensor<1536x1536xf32>) outs(%c : tensor<1536x1536xf32>) -> tensor<1536x1536xf32>
  return %d : tensor<1536x1536xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32,
  "multiply_add_ns" = 0.18 : f64, "wait_l2_ns" = 4.0 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// Multiply-adds wait for panels from the second level: 8 rows of A read them half as often as 4 do.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "innermostMBlock": 8, "innermostNBlock": 48,
// CHECK: waiting for a KiB from L2 4.00
func.func @panels_from_l2(%a: tensor<16x1000xf32>, %b: tensor<1000x464xf32>, %c: tensor<16x464xf32>) -> tensor<16x464xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x1000xf32>, tensor<1000x464xf32>) outs(%c : tensor<16x464xf32>) -> tensor<16x464xf32>
  return %d : tensor<16x464xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32,
  "multiply_add_ns" = 0.18 : f64, "wait_l2_ns" = 4.0 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// A panel of 96 columns and 60 rows stays in the first level, where nothing waits for it.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "innermostMBlock": 4, "innermostNBlock": 96,
func.func @panels_in_l1(%a: tensor<16x60xf32>, %b: tensor<60x464xf32>, %c: tensor<16x464xf32>) -> tensor<16x464xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x60xf32>, tensor<60x464xf32>) outs(%c : tensor<16x464xf32>) -> tensor<16x464xf32>
  return %d : tensor<16x464xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32,
  "multiply_add_ns" = 0.18 : f64, "wait_l2_ns" = 4.0 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// Many rows: the block is that of a machine that does not wait.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "innermostMBlock": 6, "innermostNBlock": 64,
func.func @many_rows(%a: tensor<768x768xf32>, %b: tensor<768x768xf32>, %c: tensor<768x768xf32>) -> tensor<768x768xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<768x768xf32>, tensor<768x768xf32>) outs(%c : tensor<768x768xf32>) -> tensor<768x768xf32>
  return %d : tensor<768x768xf32>
}
}
