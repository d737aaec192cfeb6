// Slices of what has been reshaped.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-slice-reshapes)' | FileCheck %s

// Heads of a part of what is projected at once.
// CHECK-LABEL: func.func @heads
// CHECK: %[[ALL:.*]] = tensor.collapse_shape %arg0 {{.*}} into tensor<300x512xf16>
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[ALL]] {{.*}} into tensor<300x16x32xf16>
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[SPLIT]][100, 0, 0] [100, 16, 32] [1, 1, 1]
// CHECK: return %[[PART]]
func.func @heads(%x: tensor<3x100x2x256xf16>) -> tensor<100x16x32xf16> {
  %k = tensor.extract_slice %x[1, 0, 0, 0] [1, 100, 2, 256] [1, 1, 1, 1] : tensor<3x100x2x256xf16> to tensor<1x100x2x256xf16>
  %rows = tensor.collapse_shape %k [[0, 1], [2, 3]] : tensor<1x100x2x256xf16> into tensor<100x512xf16>
  %heads = tensor.expand_shape %rows [[0], [1, 2]] output_shape [100, 16, 32] : tensor<100x512xf16> into tensor<100x16x32xf16>
  return %heads : tensor<100x16x32xf16>
}

// One row, and a part of it.
// CHECK-LABEL: func.func @part_of_a_row
// CHECK: %[[ALL:.*]] = tensor.collapse_shape %arg0 {{.*}} into tensor<35xf16>
// CHECK: tensor.extract_slice %[[ALL]][16] [3] [1]
func.func @part_of_a_row(%x: tensor<5x7xf16>) -> tensor<3xf16> {
  %k = tensor.extract_slice %x[2, 2] [1, 3] [1, 1] : tensor<5x7xf16> to tensor<1x3xf16>
  %row = tensor.collapse_shape %k [[0, 1]] : tensor<1x3xf16> into tensor<3xf16>
  return %row : tensor<3xf16>
}

// Channels of a part of an image with zeros around it are split to groups.
// CHECK-LABEL: func.func @groups
// CHECK: %[[PADDED:.*]] = tensor.pad %arg0
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[PADDED]] {{.*}} into tensor<2x3x9xf16>
// CHECK: tensor.extract_slice %[[SPLIT]][0, 0, 1] [2, 3, 8] [1, 1, 1]
func.func @groups(%x: tensor<6x7xf16>) -> tensor<2x3x8xf16> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<6x7xf16> to tensor<6x9xf16>
  %k = tensor.extract_slice %p[0, 1] [6, 8] [1, 1] : tensor<6x9xf16> to tensor<6x8xf16>
  %groups = tensor.expand_shape %k [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf16> into tensor<2x3x8xf16>
  return %groups : tensor<2x3x8xf16>
}

// Parts of several rows lie apart; a part that is split has no rows in the whole; steps, and places of a run.
// CHECK-LABEL: func.func @stay
// CHECK: %[[A:.*]] = tensor.extract_slice %arg0[0, 2] [2, 3] [1, 1]
// CHECK: tensor.collapse_shape %[[A]]
// CHECK: %[[B:.*]] = tensor.extract_slice %{{.*}}[4] [10] [1] : tensor<35xf16> to tensor<10xf16>
// CHECK: tensor.expand_shape %[[B]]
// CHECK: %[[C:.*]] = tensor.extract_slice %arg0[0, 0] [2, 7] [2, 1]
// CHECK: tensor.collapse_shape %[[C]]
// CHECK: %[[D:.*]] = tensor.extract_slice %arg0[%arg1, 0] [2, 7] [1, 1]
// CHECK: tensor.collapse_shape %[[D]]
func.func @stay(%x: tensor<5x7xf16>, %i: index) -> (tensor<6xf16>, tensor<2x5xf16>, tensor<14xf16>, tensor<14xf16>) {
  %a = tensor.extract_slice %x[0, 2] [2, 3] [1, 1] : tensor<5x7xf16> to tensor<2x3xf16>
  %ra = tensor.collapse_shape %a [[0, 1]] : tensor<2x3xf16> into tensor<6xf16>
  %all = tensor.collapse_shape %x [[0, 1]] : tensor<5x7xf16> into tensor<35xf16>
  %b = tensor.extract_slice %all[4] [10] [1] : tensor<35xf16> to tensor<10xf16>
  %rb = tensor.expand_shape %b [[0, 1]] output_shape [2, 5] : tensor<10xf16> into tensor<2x5xf16>
  %c = tensor.extract_slice %x[0, 0] [2, 7] [2, 1] : tensor<5x7xf16> to tensor<2x7xf16>
  %rc = tensor.collapse_shape %c [[0, 1]] : tensor<2x7xf16> into tensor<14xf16>
  %d = tensor.extract_slice %x[%i, 0] [2, 7] [1, 1] : tensor<5x7xf16> to tensor<2x7xf16>
  %rd = tensor.collapse_shape %d [[0, 1]] : tensor<2x7xf16> into tensor<14xf16>
  return %ra, %rb, %rc, %rd : tensor<6xf16>, tensor<2x5xf16>, tensor<14xf16>, tensor<14xf16>
}
