// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain" -o /dev/null 2>&1 | FileCheck %s
//
// An Emerald Rapids, by its rates: wide rows a power of two apart share few sets, and its third level is far away.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32, "max_vector_width" = 512 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L1_cache_ways" = 12 : i32, "L2_cache_size_in_bytes" = 2097152 : i32,
  "L2_cache_ways" = 16 : i32, "L3_cache_size_in_bytes" = 272629760 : i32, "multiply_add_ns" = 0.183 : f64,
  "bf16_dot_ns" = 0.727 : f64, "int8_dot" = 1 : i32, "int8_dot_ns" = 0.181 : f64, "bf16_tiles_ns" = 7.0 : f64, "int8_tiles_ns" = 7.0 : f64,
  "read_l2_ns" = 8.0 : f64, "read_l3_ns" = 36.0 : f64, "copy_l2_ns" = 43.0 : f64, "copy_l3_ns" = 80.0 : f64,
  "write_l2_ns" = 11.5 : f64, "write_l3_ns" = 60.0 : f64, "wait_l3_ns" = 18.0 : f64, "wait_unaligned_ns" = 18.0 : f64,
  "fork_ns" = 2200.0 : f64, "amx" = 0 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// Half of B would fit L2, but not its panels.
// CHECK-LABEL: remark: {"MThreads": 1, "NThreads": 2
// CHECK: pack B: yes ({{.*}}; of a panel of 256 KiB 128 KiB fit L2 there)
func.func @large(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %d : tensor<1024x1024xf32>
}

// Its panels fit.
// CHECK-LABEL: remark: {"MThreads":
// CHECK: pack B: no ({{.*}} cycles, waiting for it in place 0; of a panel of 128 KiB 256 KiB fit L2 there)
func.func @near(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %d : tensor<512x512xf32>
}

// Rows that are no power of two apart fall into all sets.
// CHECK-LABEL: remark: {"MThreads":
// CHECK: of a panel of {{.*}} KiB 2048 KiB fit L2 there)
func.func @odd_pitch(%a: tensor<512x512xf32>, %b: tensor<512x520xf32>, %c: tensor<512x520xf32>) -> tensor<512x520xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x520xf32>) outs(%c : tensor<512x520xf32>) -> tensor<512x520xf32>
  return %d : tensor<512x520xf32>
}

// Dot products of bf16 take four times as long as multiply-adds, of two steps: they are not used.
// CHECK-LABEL: remark: {"MThreads":
// CHECK: cycles per step of k
// CHECK-NOT: k in groups of 2
func.func @bf16(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %d : tensor<512x512xf32>
}

// Those of bytes are as fast.
// CHECK-LABEL: remark: {"MThreads":
// CHECK: k in groups of 4
func.func @bytes(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %c: tensor<512x512xi32>) -> tensor<512x512xi32> {
  %d = linalg.matmul ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%c : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %d : tensor<512x512xi32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32, "max_vector_width" = 512 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L1_cache_ways" = 12 : i32, "L2_cache_size_in_bytes" = 2097152 : i32,
  "L2_cache_ways" = 16 : i32, "L3_cache_size_in_bytes" = 272629760 : i32, "multiply_add_ns" = 0.183 : f64,
  "bf16_dot_ns" = 0.727 : f64, "int8_dot" = 1 : i32, "int8_dot_ns" = 0.181 : f64, "bf16_tiles_ns" = 7.0 : f64, "int8_tiles_ns" = 7.0 : f64,
  "read_l2_ns" = 8.0 : f64, "read_l3_ns" = 36.0 : f64, "copy_l2_ns" = 43.0 : f64, "copy_l3_ns" = 80.0 : f64,
  "write_l2_ns" = 11.5 : f64, "write_l3_ns" = 60.0 : f64, "wait_l3_ns" = 18.0 : f64, "wait_unaligned_ns" = 18.0 : f64,
  "fork_ns" = 2200.0 : f64, "amx" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {"MThreads":
// CHECK: a product of tiles takes 38 cycles for 32 steps of k
func.func @tiles(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %d : tensor<1024x1024xf32>
}
}

// -----

// A measurement that differs from what is known of such a CPU by more than twice counts as twice; what it promises is
// followed where that is more than its uncertainty.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32, "max_vector_width" = 512 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L1_cache_ways" = 12 : i32, "L2_cache_size_in_bytes" = 2097152 : i32,
  "L2_cache_ways" = 16 : i32, "L3_cache_size_in_bytes" = 272629760 : i32, "name" = "emeraldrapids",
  "copy_l3_ns" = 500.0 : f64, "wait_l3_ns" = 9.5 : f64, "uncertainty" = 0.9 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {"MThreads":
// CHECK: rates (DLTI, within 90 %), ns: multiply-add of f32 0.18, {{.*}}from L3 160.00
// CHECK: copy_l3_ns: 500.00 ns were measured, 80.00 are known of such a CPU (median of its calibrations: 97.00): 160.00 count
// CHECK-NOT: wait_l3_ns: 9.50
func.func @limited(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %d : tensor<1024x1024xf32>
}
}

// -----

// Any other CPU with tile registers, as one that was measured.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"name" = "amx", "amx" = 1 : i32, "bf16_dot" = 1 : i32,
  "int8_dot" = 1 : i32, "max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {"MThreads":
// CHECK: rates (known of amx), ns: multiply-add of f32 0.18, {{.*}} product of tiles of bf16 4.65, {{.*}} from L3 39.30, copying a KiB from L2 43.00, from L3 102.50,
func.func @other_tiles(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
}

// -----

// Of a CPU with tile registers that is not in the table three rates are recorded, of one calibration.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32, "max_vector_width" = 512 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 503316480 : i32,
  "name" = "amx", "bf16_tiles_ns" = 20.0 : f64, "read_l3_ns" = 10.0 : f64, "write_l3_ns" = 500.0 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {"MThreads":
// CHECK: bf16_tiles_ns: 20.00 ns were measured, 4.65 are known of such a CPU (median of its calibrations: 4.65): 9.30 count
// CHECK: read_l3_ns: 10.00 ns were measured, 39.30 are known of such a CPU (median of its calibrations: 39.30): 19.65 count
// CHECK: write_l3_ns: 500.00 ns were measured, 60.00 are known of such a CPU: 120.00 count
func.func @other_tiles(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
}
