// RUN: xetile-opt %s --xetile-rank-matmul-configs="threads=2 count=3" | FileCheck %s
// RUN: not xetile-opt %s --xetile-rank-matmul-configs="count=0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: xetile-opt %s --deep-tile-matmul="explain threads=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TAKEN

// NONE: error: count = 0: expected 1 or more

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32>>
// The model packs B; the second candidate does not.
// CHECK-DAG: #[[FIRST:.*]] = #xetile.matmul_config<MThreads = {{.*}}, innermostMBlock = 6, innermostNBlock = 64
// CHECK-LABEL: func @candidates
// CHECK: xetile.matmul_candidates = [{config = #[[FIRST]], cycles = {{[0-9.e+]*}} : f64, pack = "auto"},
// CHECK-SAME: {config = #{{.*}}, cycles = {{[0-9.e+]*}} : f64, pack = "never"},
// CHECK-SAME: {config = #{{.*}}, cycles = {{[0-9.e+]*}} : f64, pack = "{{[a-z]*}}"}]
// CHECK-SAME: xetile.matmul_key = "2048x2048x2048 (d0, d1, d2) -> (d0, d2) f32 (d0, d1, d2) -> (d2, d1) f32 (d0, d1, d2) -> (d0, d1) f32"
module attributes {dlti.target_system_spec = #machine} {
func.func @candidates(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}

// Nothing to multiply, and no matmul: no candidates.
// CHECK-LABEL: func @others
// CHECK-NOT: xetile.matmul
// CHECK: return
func.func @others(%a: tensor<8x0xf32>, %b: tensor<0x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<8x0xf32>, tensor<0x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = linalg.exp ins(%d : tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %e : tensor<8x8xf32>
}

// TAKEN: pack A: no
// TAKEN-SAME: pack B: yes
// TAKEN: "KBlock": 96
// TAKEN: pack A: no
// TAKEN-SAME: pack B: no
func.func @taken(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<KBlock = 96>, xetile.matmul_pack = "never"}
    ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %d : tensor<2048x2048xf32>
}
}
