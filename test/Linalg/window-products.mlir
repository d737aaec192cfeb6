// Convolutions whose windows do not overlap as products of matrices.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-channels-last{chip=pvc})' | FileCheck %s

#id = affine_map<(n, f, h, w) -> (n, f, h, w)>

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[OWN:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>

// Of windows of one pixel the image is a matrix as it is. The bias is added behind; what follows has the same dimensions.
// CHECK-LABEL: func.func @in_place
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{.*}} into tensor<2x40x64xf16>
// CHECK-DAG: %[[W:.*]] = tensor.collapse_shape %arg1 {{.*}} into tensor<33x40xf16>
// CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], #[[RESULT]]]{{.*}} ins(%[[X]], %[[W]]
// CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[OWN]], #[[ALL]]]{{.*}} ins(%[[P]], %arg2
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<2x33x64xf32>) outs(%{{.*}} : tensor<2x33x64xf16>)
// CHECK: %[[Y:.*]] = tensor.expand_shape %[[R]]
// CHECK: return %[[Y]]
func.func @in_place(%x: tensor<2x40x8x8xf16>, %w: tensor<33x40x1x1xf16>, %b: tensor<33xf32>) -> tensor<2x33x8x8xf16> {
  %e = tensor.empty() : tensor<2x33x8x8xf32>
  %s = linalg.broadcast ins(%b : tensor<33xf32>) outs(%e : tensor<2x33x8x8xf32>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x40x8x8xf16>, tensor<33x40x1x1xf16>) outs(%s : tensor<2x33x8x8xf32>) -> tensor<2x33x8x8xf32>
  %n = tensor.empty() : tensor<2x33x8x8xf16>
  %narrow = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<2x33x8x8xf32>) outs(%n : tensor<2x33x8x8xf16>) {
  ^bb0(%a: f32, %o: f16):
    %m = arith.truncf %a : f32 to f16
    linalg.yield %m : f16
  } -> tensor<2x33x8x8xf16>
  return %narrow : tensor<2x33x8x8xf16>
}

// Patches of few channels are rows of a matrix. What is beyond the last patch is in none.
// CHECK-LABEL: func.func @patches
// CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0] [2, 3, 8, 12] [1, 1, 1, 1]
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[PART]] {{.*}} output_shape [2, 3, 2, 4, 3, 4]
// CHECK: %[[MOVED:.*]] = linalg.transpose ins(%[[SPLIT]] {{.*}} permutation = [0, 2, 4, 1, 3, 5]
// CHECK: %[[X:.*]] = tensor.collapse_shape %[[MOVED]] {{.*}} into tensor<12x48xf16>
// CHECK: %[[W:.*]] = tensor.collapse_shape %arg1 {{.*}} into tensor<32x48xf16>
// CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#[[ROWS]], #[[COLUMNS]], #{{.*}}]{{.*}} ins(%[[X]], %[[W]]
// CHECK: tensor.expand_shape %{{.*}} output_shape [2, 2, 3, 32]
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
func.func @patches(%x: tensor<2x3x9x14xf16>, %w: tensor<32x3x4x4xf16>, %t: tensor<2x32x2x3xf32>) -> tensor<2x32x2x3xf32> {
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<4> : tensor<2xi64>}
      ins(%x, %w : tensor<2x3x9x14xf16>, tensor<32x3x4x4xf16>) outs(%t : tensor<2x32x2x3xf32>) -> tensor<2x32x2x3xf32>
  return %y : tensor<2x32x2x3xf32>
}

// With rows that block loads do not take, or steps between pixels, channels are last.
// CHECK-LABEL: func.func @last
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x6x6x32xf16>, tensor<1x1x32x32xf16>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x16x16x32xf16>, tensor<1x1x32x32xf16>)
func.func @last(%x: tensor<1x32x6x6xf16>, %w: tensor<32x32x1x1xf16>, %t: tensor<1x32x6x6xf32>, %z: tensor<1x32x16x16xf16>,
                %u: tensor<1x32x8x8xf32>) -> (tensor<1x32x6x6xf32>, tensor<1x32x8x8xf32>) {
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x32x6x6xf16>, tensor<32x32x1x1xf16>) outs(%t : tensor<1x32x6x6xf32>) -> tensor<1x32x6x6xf32>
  %v = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%z, %w : tensor<1x32x16x16xf16>, tensor<32x32x1x1xf16>) outs(%u : tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32>
  return %y, %v : tensor<1x32x6x6xf32>, tensor<1x32x8x8xf32>
}

// Windows with pixels between them, dilated ones, patches of less than 64 bytes, and few filters stay.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-4: linalg.conv_2d_nchw_fchw
func.func @stay(%x: tensor<1x3x9x9xf16>, %w: tensor<32x3x4x4xf16>, %t: tensor<1x32x2x2xf32>, %v: tensor<32x3x2x2xf16>,
                %u: tensor<1x32x4x4xf32>, %q: tensor<16x3x4x4xf16>, %r: tensor<1x16x2x2xf32>, %k: tensor<1x32x1x1xf32>)
    -> (tensor<1x32x2x2xf32>, tensor<1x32x1x1xf32>, tensor<1x32x4x4xf32>, tensor<1x16x2x2xf32>) {
  %a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<5> : tensor<2xi64>}
      ins(%x, %w : tensor<1x3x9x9xf16>, tensor<32x3x4x4xf16>) outs(%t : tensor<1x32x2x2xf32>) -> tensor<1x32x2x2xf32>
  %b = linalg.conv_2d_nchw_fchw {dilations = dense<2> : tensor<2xi64>, strides = dense<4> : tensor<2xi64>}
      ins(%x, %w : tensor<1x3x9x9xf16>, tensor<32x3x4x4xf16>) outs(%k : tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %v : tensor<1x3x9x9xf16>, tensor<32x3x2x2xf16>) outs(%u : tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  %d = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<4> : tensor<2xi64>}
      ins(%x, %q : tensor<1x3x9x9xf16>, tensor<16x3x4x4xf16>) outs(%r : tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  return %a, %b, %c, %d : tensor<1x32x2x2xf32>, tensor<1x32x1x1xf32>, tensor<1x32x4x4xf32>, tensor<1x16x2x2xf32>
}
