// What is computed before a matmul is gone from the host, too, if only its sizes, which a run knows, were asked for.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @batches(
// CHECK-NOT: linalg
// CHECK: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func
// CHECK: gpu.func @batches_kernel
// CHECK-NOT: linalg
// CHECK: xetile.tile_mma
// CHECK: xetile.store_tile
func.func @batches(%A: tensor<?x4x32xf16>, %B: tensor<?x1x32x?xf16>) -> tensor<1x4x?x?xf16> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f16
  %b = tensor.dim %A, %c0 : tensor<?x4x32xf16>
  %n = tensor.dim %B, %c3 : tensor<?x1x32x?xf16>
  %empty_t = tensor.empty(%b) : tensor<?x32x4xf16>
  %T = linalg.transpose ins(%A : tensor<?x4x32xf16>) outs(%empty_t : tensor<?x32x4xf16>) permutation = [0, 2, 1]
  %empty = tensor.empty(%b, %n) : tensor<1x4x?x?xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<1x4x?x?xf16>) -> tensor<1x4x?x?xf16>
  %D = linalg.generic {indexing_maps = [affine_map<(b, u, n, m, k) -> (b, k, m)>, affine_map<(b, u, n, m, k) -> (b, u, k, n)>,
                                        affine_map<(b, u, n, m, k) -> (u, m, b, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%T, %B : tensor<?x32x4xf16>, tensor<?x1x32x?xf16>) outs(%zeros : tensor<1x4x?x?xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<1x4x?x?xf16>
  return %D : tensor<1x4x?x?xf16>
}
