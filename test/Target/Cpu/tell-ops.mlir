// What became of each op, by the numbers in locations.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-number-ops)' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=NUMBERS
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-number-ops,xetile-tile-for-cpu{threads=1},xetile-tell-ops)' -o /dev/null 2>&1 | FileCheck %s
// Without numbers there is nothing to tell.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-tell-ops)' -o /dev/null 2>&1 | count 0

// NUMBERS: linalg.matmul {{.*}} loc("#1"("{{.*}}tell-ops.mlir":{{[0-9]+}}:{{[0-9]+}}))
// NUMBERS: math.tanh {{.*}} loc("#2"(
// CHECK-DAG: remark: 1: deep-tiled
// CHECK-DAG: remark: 2: in the loops of 1
// CHECK-DAG: remark: 3: in blocks of rows with 4, 5, 6
// CHECK-DAG: remark: 7: a loop nest of its own
// CHECK-NOT: remark: 0:
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L2_cache_size_in_bytes" = 65536 : i32>>
#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>
module attributes {dlti.target_system_spec = #machine} {
func.func @f(%a: tensor<64x8xf32>, %b: tensor<8x1024xf32>, %x: tensor<64x1024xf32>, %z: tensor<16xf32>)
    -> (tensor<64x1024xf32>, tensor<64x1024xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %all = tensor.empty() : tensor<64x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%all : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %d = linalg.matmul ins(%a, %b : tensor<64x8xf32>, tensor<8x1024xf32>) outs(%zeros : tensor<64x1024xf32>)
      -> tensor<64x1024xf32>
  %t = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<64x1024xf32>) outs(%all : tensor<64x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.tanh %in : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %some = tensor.empty() : tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%some : tensor<64xf32>) -> tensor<64xf32>
  %exp = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x1024xf32>) outs(%all : tensor<64x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x1024xf32>) outs(%none : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x1024xf32>, tensor<64xf32>) outs(%all : tensor<64x1024xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %q = linalg.sqrt ins(%z : tensor<16xf32>) outs(%z : tensor<16xf32>) -> tensor<16xf32>
  return %t, %y, %q : tensor<64x1024xf32>, tensor<64x1024xf32>, tensor<16xf32>
}
}
