// RUN: xetile-opt %s --deep-tile-matmul="explain threads=4" -o /dev/null 2>&1 | FileCheck %s
// RUN: xetile-opt %s --deep-tile-matmul="explain threads=4 config={\"MThreads\":2}" -o /dev/null 2>&1 | FileCheck %s

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 4 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
  "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// Threads share the parallel loop: its matmuls have one each, whatever is asked for.
// CHECK: remark: {"MThreads": 1, "NThreads": 1, "KThreads": 1,
// CHECK: one thread: a parallel loop is around it
func.func @blocks(%a: tensor<8x256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<8x256x256xf32>) -> tensor<8x256x256xf32> {
  %r = scf.forall (%i) in (8) shared_outs(%all = %c) -> (tensor<8x256x256xf32>) {
    %x = tensor.extract_slice %a[%i, 0, 0] [1, 256, 256] [1, 1, 1] : tensor<8x256x256xf32> to tensor<256x256xf32>
    %y = tensor.extract_slice %all[%i, 0, 0] [1, 256, 256] [1, 1, 1] : tensor<8x256x256xf32> to tensor<256x256xf32>
    %z = linalg.matmul ins(%x, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%y : tensor<256x256xf32>) -> tensor<256x256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %z into %all[%i, 0, 0] [1, 256, 256] [1, 1, 1] : tensor<256x256xf32> into tensor<8x256x256xf32>
    }
  }
  return %r : tensor<8x256x256xf32>
}
}
