// REQUIRES: cpu
// RUN: xetile-opt %s --split-input-file --xetile-decompose-linalg --verify-diagnostics | FileCheck %s
// RUN: xetile-opt %s --split-input-file --xetile-compile=target=cpu --verify-diagnostics > /dev/null

// Narrow floats are rounded once: between the first and the last op everything is f32.
// CHECK-LABEL: func @softmax
// CHECK-NOT: linalg.softmax
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.maxnumf
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.divf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @softmax(%x: tensor<?x64xf16>, %e: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x64xf16>) outs(%e : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %r : tensor<?x64xf16>
}

// -----

// CHECK-LABEL: func @static
// CHECK: tensor.pad
// CHECK: linalg.transpose
// CHECK-NOT: linalg.pack
// CHECK: tensor.extract_slice
// CHECK-NOT: linalg.unpack
func.func @static(%a: tensor<16x3xf32>, %p: tensor<2x1x8x16xf32>, %u: tensor<16x3xf32>) -> tensor<16x3xf32> {
  %z = arith.constant 0.0 : f32
  %0 = linalg.pack %a padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 16] into %p : tensor<16x3xf32> -> tensor<2x1x8x16xf32>
  %1 = linalg.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [8, 16] into %u : tensor<2x1x8x16xf32> -> tensor<16x3xf32>
  return %1 : tensor<16x3xf32>
}

// -----

// Of sizes that the run knows each element is looked up, inside of the tensor only.
// CHECK-LABEL: func @dynamic
// CHECK-SAME: (%[[A:.*]]: tensor<?x?xf32>, %[[P:.*]]: tensor<?x?x8x4xf32>
// CHECK: linalg.generic {{.*}} outs(%[[P]] : tensor<?x?x8x4xf32>)
// CHECK: %[[INSIDE:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: tensor.extract %[[A]]
// CHECK: } else {
// CHECK: scf.yield %{{.*}} : f32
func.func @dynamic(%a: tensor<?x?xf32>, %p: tensor<?x?x8x4xf32>, %u: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %0 = linalg.pack %a padding_value(%z : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %p : tensor<?x?xf32> -> tensor<?x?x8x4xf32>
  %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %u : tensor<?x?x8x4xf32> -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
