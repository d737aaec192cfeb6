// B that is packed before a loop, and where it is not: vectors run along k in a loop as they do without one, so that the
// order of sums does not depend on the steps that a thread has.
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1" | FileCheck %s --check-prefix=TILED

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// In a loop, and without one.
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "innermostMBlock": [[ROWS:[0-9]+]], "innermostNBlock": [[COLUMNS:[0-9]+]]
// CHECK: vectors of 16 run along k
// CHECK: pack B: no (it is copied to rows along k)
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK-SAME: "innermostMBlock": [[ROWS]], "innermostNBlock": [[COLUMNS]]
// CHECK: vectors of 16 run along k
// CHECK: pack B: no (it is copied to rows along k)
func.func @four_columns(%a: tensor<256x512xf32>, %b: tensor<512x4xf32>, %c: tensor<256x4xf32>, %d: tensor<64x512xf32>,
                        %e: tensor<64x4xf32>) -> (tensor<256x4xf32>, tensor<64x4xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %r = scf.for %i = %c0 to %c256 step %c64 iter_args(%all = %c) -> (tensor<256x4xf32>) {
    %x = tensor.extract_slice %a[%i, 0] [64, 512] [1, 1] : tensor<256x512xf32> to tensor<64x512xf32>
    %y = tensor.extract_slice %all[%i, 0] [64, 4] [1, 1] : tensor<256x4xf32> to tensor<64x4xf32>
    %z = linalg.matmul {xetile.matmul_pack_before_loop} ins(%x, %b : tensor<64x512xf32>, tensor<512x4xf32>)
        outs(%y : tensor<64x4xf32>) -> tensor<64x4xf32>
    %next = tensor.insert_slice %z into %all[%i, 0] [64, 4] [1, 1] : tensor<64x4xf32> into tensor<256x4xf32>
    scf.yield %next : tensor<256x4xf32>
  }
  %one = linalg.matmul ins(%d, %b : tensor<64x512xf32>, tensor<512x4xf32>) outs(%e : tensor<64x4xf32>) -> tensor<64x4xf32>
  return %r, %one : tensor<256x4xf32>, tensor<64x4xf32>
}

// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: pack B: yes
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: pack B: no
// TILED-LABEL: func @wide(
// TILED: %[[PACKED:.*]] = scf.for {{.*}} -> (tensor<1x512x64xf32>)
// TILED: scf.for {{.*}} step %c64 {{.*}} -> (tensor<256x64xf32>)
// TILED: tensor.extract_slice %[[PACKED]]
func.func @wide(%a: tensor<256x512xf32>, %b: tensor<512x64xf32>, %c: tensor<256x64xf32>, %d: tensor<64x512xf32>,
                %e: tensor<64x64xf32>) -> (tensor<256x64xf32>, tensor<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %r = scf.for %i = %c0 to %c256 step %c64 iter_args(%all = %c) -> (tensor<256x64xf32>) {
    %x = tensor.extract_slice %a[%i, 0] [64, 512] [1, 1] : tensor<256x512xf32> to tensor<64x512xf32>
    %y = tensor.extract_slice %all[%i, 0] [64, 64] [1, 1] : tensor<256x64xf32> to tensor<64x64xf32>
    %z = linalg.matmul {xetile.matmul_pack_before_loop} ins(%x, %b : tensor<64x512xf32>, tensor<512x64xf32>)
        outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = tensor.insert_slice %z into %all[%i, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<256x64xf32>
    scf.yield %next : tensor<256x64xf32>
  }
  %one = linalg.matmul ins(%d, %b : tensor<64x512xf32>, tensor<512x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r, %one : tensor<256x64xf32>, tensor<64x64xf32>
}
}

// -----

// Copies that were measured would choose vectors along n; what is known of such a CPU is followed, with and without a loop.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32, "name" = "znver4",
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32, "copy_l2_ns" = 47.0 : f64,
  "copy_l3_ns" = 47.0 : f64, "uncertainty" = 0.9 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: vectors of 16 run along k
// CHECK: pack B: no (it is copied to rows along k)
func.func @slow_copies(%a: tensor<64x512xf32>, %b: tensor<512x12xf32>, %c: tensor<64x12xf32>) -> tensor<64x12xf32> {
  %z = linalg.matmul {xetile.matmul_pack_before_loop} ins(%a, %b : tensor<64x512xf32>, tensor<512x12xf32>)
      outs(%c : tensor<64x12xf32>) -> tensor<64x12xf32>
  return %z : tensor<64x12xf32>
}
}

// -----

// Here those that were measured are followed, which choose vectors along k.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32, "name" = "znver4",
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32, "copy_l2_ns" = 11.8 : f64,
  "copy_l3_ns" = 11.8 : f64, "uncertainty" = 0.0 : f64>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: remark: {"MThreads": 1
// CHECK: vectors of 16 run along k
// CHECK: pack B: no (it is copied to rows along k)
func.func @fast_copies(%a: tensor<64x512xf32>, %b: tensor<512x13xf32>, %c: tensor<64x13xf32>) -> tensor<64x13xf32> {
  %z = linalg.matmul {xetile.matmul_pack_before_loop} ins(%a, %b : tensor<64x512xf32>, tensor<512x13xf32>)
      outs(%c : tensor<64x13xf32>) -> tensor<64x13xf32>
  return %z : tensor<64x13xf32>
}
}
