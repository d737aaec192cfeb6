// 4096 x 4096 x 4096: nine loops where a configuration asks for them, blocks that fit the machine's caches by default.
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="machine=dlti pack=never" --canonicalize | FileCheck %s

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
    "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32,
    "L3_cache_size_in_bytes" = 67108864 : i32, "max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// Threads of m, n and k; a thread's part is 1024 x 2048 x 2048.
// CHECK-LABEL: func @nine_loops_f32
// CHECK: tensor.empty() : tensor<2x4096x4096xf32>
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (4, 2, 2)
// Blocks in the order k, m, n.
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c256 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c128 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c512 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c8 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c32 iter_args
// CHECK: linalg.batch_reduce_matmul
// CHECK-SAME: tensor<1x8x256xf32>, tensor<1x256x32xf32>) outs({{.*}} : tensor<8x32xf32>)
// CHECK-NOT: scf.for %
// CHECK: scf.forall.in_parallel
func.func @nine_loops_f32(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 4, NThreads = 2, KThreads = 2,
      MBlock = 128, NBlock = 512, KBlock = 256, innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 16,
      loopOrder = 4>}
      ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %d : tensor<4096x4096xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 16 : i32,
    "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32,
    "L3_cache_size_in_bytes" = 67108864 : i32, "max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @nine_loops_bf16
// CHECK: tensor.empty() : tensor<2x4096x4096xf32>
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (4, 2, 2)
// Blocks in the order n, m, k.
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c512 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c1024 step %c128 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c2048 step %c512 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c32 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c8 iter_args
// CHECK: linalg.batch_reduce_matmul
// CHECK-SAME: tensor<1x8x512xbf16>, tensor<1x512x32xbf16>) outs({{.*}} : tensor<8x32xf32>)
// CHECK-NOT: scf.for %
// CHECK: scf.forall.in_parallel
func.func @nine_loops_bf16(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 4, NThreads = 2, KThreads = 2,
      MBlock = 128, NBlock = 512, KBlock = 512, innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 32,
      loopOrder = 2>}
      ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %d : tensor<4096x4096xf32>
}
}
