// What surrounds a matmul is computed in its kernel: nothing is left on the host, and no result in between is stored.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @layer(
// CHECK-NOT: linalg
// CHECK: memref.alloc() {{.*}} : memref<256x256xf16>
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func
// CHECK: gpu.func @layer_kernel
// CHECK-DAG: %[[START:.*]] = arith.constant dense<0.000000e+00> : vector<256x256xf32>
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[START]])
// relu(A) is zero where A is out of bounds: no mask.
// CHECK: %[[A:.*]] = xetile.load_tile %{{.*}} -> vector<256x32xf16>
// CHECK: arith.maximumf %[[A]]
// CHECK-NOT: arith.select
// CHECK: xetile.tile_mma
// The bias is a row, repeated.
// CHECK: memref.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [1, 256] : memref<256xf32> into memref<1x256xf32>
// CHECK: %[[BIAS:.*]] = xetile.load_tile %{{.*}} -> vector<1x256xf32>
// CHECK: %[[ALL:.*]] = xetile.tile_broadcast %[[BIAS]], [0]
// CHECK: arith.addf %[[SUM]], %[[ALL]]
// CHECK: %[[OUT:.*]] = arith.truncf {{.*}} : vector<256x256xf32> to vector<256x256xf16>
// CHECK: xetile.store_tile %[[OUT]]
// CHECK-NEXT: gpu.return
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @layer(%A: tensor<256x1000xf16>, %B: tensor<1000x256xf16>, %bias: tensor<256xf32>) -> tensor<256x256xf16> {
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : f16
  %empty_a = tensor.empty() : tensor<256x1000xf16>
  %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<256x1000xf16>) outs(%empty_a : tensor<256x1000xf16>) {
  ^bb0(%x: f16, %o: f16):
    %y = arith.maximumf %x, %zero16 : f16
    linalg.yield %y : f16
  } -> tensor<256x1000xf16>
  %empty = tensor.empty() : tensor<256x256xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %D = linalg.matmul ins(%relu, %B : tensor<256x1000xf16>, tensor<1000x256xf16>)
                     outs(%zeros : tensor<256x256xf32>) -> tensor<256x256xf32>
  %empty_d = tensor.empty() : tensor<256x256xf16>
  %E = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%D, %bias : tensor<256x256xf32>, tensor<256xf32>) outs(%empty_d : tensor<256x256xf16>) {
  ^bb0(%x: f32, %b: f32, %o: f16):
    %s = arith.addf %x, %b : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<256x256xf16>
  return %E : tensor<256x256xf16>
}
