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

// -----

// All tiles at once, in f32: rows by the matrix that upstream has, then columns, then f16.
// CHECK-LABEL: func @winograd_filter
// CHECK-SAME:    %[[F:.*]]: tensor<5x3x3x2xf16>
// CHECK-DAG:     %[[G:.*]] = arith.constant dense<{{.*}}> : tensor<3x6xf32>
// CHECK:         %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[F]], %[[G]] : tensor<5x3x3x2xf16>, tensor<3x6xf32>)
// CHECK:           arith.mulf
// CHECK:         %[[BOTH:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %[[G]] : tensor<6x3x2x5xf32>, tensor<3x6xf32>)
// CHECK:         ins(%[[BOTH]] : tensor<6x6x2x5xf32>)
// CHECK:           arith.truncf
// CHECK-NOT:     scf.for
func.func @winograd_filter(%f: tensor<5x3x3x2xf16>, %e: tensor<6x6x2x5xf16>) -> tensor<6x6x2x5xf16> {
  %g = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<5x3x3x2xf16>) outs(%e : tensor<6x6x2x5xf16>) -> tensor<6x6x2x5xf16>
  return %g : tensor<6x6x2x5xf16>
}

// -----

// Tiles overlap; a filter of one column leaves rows alone.
// CHECK: #[[TILES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d2, d3 * 2 + d6, d5)>
// CHECK-LABEL: func @winograd_input
// CHECK:         linalg.generic {indexing_maps = [#[[TILES]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @winograd_input(%x: tensor<2x5x10x3xf32>, %e: tensor<1x4x5x4x2x3xf32>) -> tensor<1x4x5x4x2x3xf32> {
  %d = linalg.winograd_input_transform fmr(F_2_3) ins(%x : tensor<2x5x10x3xf32>) outs(%e : tensor<1x4x5x4x2x3xf32>) -> tensor<1x4x5x4x2x3xf32>
  return %d : tensor<1x4x5x4x2x3xf32>
}

// -----

// The result is scaled once for each dimension, and added to what is there.
// CHECK-LABEL: func @winograd_output
// CHECK-SAME:    %[[Y:[a-z0-9]*]]: tensor<1x8x8x2xf32>)
// CHECK:         %[[ALL:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4], [5]] : tensor<1x2x4x2x4x2xf32> into tensor<1x8x8x2xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[ALL]], %[[Y]]
// CHECK-COUNT-2:   arith.mulf %{{.*}}, %cst{{.*}}
// CHECK-NEXT:      arith.addf
func.func @winograd_output(%v: tensor<6x6x2x2x1x2xf32>, %y: tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32> {
  %r = linalg.winograd_output_transform fmr(F_4_3) ins(%v : tensor<6x6x2x2x1x2xf32>) outs(%y : tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  return %r : tensor<1x8x8x2xf32>
}
