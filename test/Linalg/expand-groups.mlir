// What is around a convolution in groups gets its dimensions.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-expand-groups)' | FileCheck %s

#id = affine_map<(n, c, h, w) -> (n, c, h, w)>

// The padding, what the sums start from, and both elementwise ops behind, of which one changes the type.
// CHECK-LABEL: func.func @around
// CHECK: %[[X:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]{{\]}} {{.*}} : tensor<2x6x8x9xf32> into tensor<2x3x2x8x9xf32>
// CHECK: %[[START:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x4x8x9xf32>)
// CHECK: tensor.pad %[[X]] low[0, 0, 0, 1, 1] high[0, 0, 0, 1, 1]
// CHECK: %[[SUMS:.*]] = linalg.conv_2d_ngchw_gfchw {{.*}} outs(%[[START]] : tensor<2x3x4x8x9xf32>)
// CHECK: %[[NARROW:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] : tensor<2x3x4x8x9xf32>)
// CHECK: arith.truncf
// CHECK: %[[RELU:.*]] = linalg.generic {{.*}} ins(%[[NARROW]] : tensor<2x3x4x8x9xf16>)
// CHECK: %[[RESULT:.*]] = tensor.collapse_shape %[[RELU]]
// CHECK: return %[[RESULT]]
func.func @around(%x: tensor<2x6x8x9xf32>, %w: tensor<3x4x2x3x3xf32>, %b: tensor<12xf32>) -> tensor<2x12x8x9xf16> {
  %z = arith.constant 0.0 : f32
  %zero = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<2x6x8x9xf32> to tensor<2x6x10x11xf32>
  %e = tensor.empty() : tensor<2x12x8x9xf32>
  %start = linalg.broadcast ins(%b : tensor<12xf32>) outs(%e : tensor<2x12x8x9xf32>) dimensions = [0, 2, 3]
  %image = tensor.expand_shape %padded [[0], [1, 2], [3], [4]] output_shape [2, 3, 2, 10, 11] : tensor<2x6x10x11xf32> into tensor<2x3x2x10x11xf32>
  %init = tensor.expand_shape %start [[0], [1, 2], [3], [4]] output_shape [2, 3, 4, 8, 9] : tensor<2x12x8x9xf32> into tensor<2x3x4x8x9xf32>
  %sums = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %w : tensor<2x3x2x10x11xf32>, tensor<3x4x2x3x3xf32>) outs(%init : tensor<2x3x4x8x9xf32>) -> tensor<2x3x4x8x9xf32>
  %y = tensor.collapse_shape %sums [[0], [1, 2], [3], [4]] : tensor<2x3x4x8x9xf32> into tensor<2x12x8x9xf32>
  %n = tensor.empty() : tensor<2x12x8x9xf16>
  %narrow = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<2x12x8x9xf32>) outs(%n : tensor<2x12x8x9xf16>) {
  ^bb0(%a: f32, %o: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x12x8x9xf16>
  %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%narrow : tensor<2x12x8x9xf16>) outs(%n : tensor<2x12x8x9xf16>) {
  ^bb0(%a: f16, %o: f16):
    %m = arith.maximumf %a, %zero : f16
    linalg.yield %m : f16
  } -> tensor<2x12x8x9xf16>
  return %relu : tensor<2x12x8x9xf16>
}

// The image is the end of another kernel's chain, which stays whole; so do ops around convolutions without groups.
// CHECK-LABEL: func.func @image
// CHECK: %[[RELU:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x6x8x9xf32>)
// CHECK: tensor.expand_shape %[[RELU]]
func.func @image(%x: tensor<2x6x8x9xf32>, %w: tensor<3x4x2x3x3xf32>, %init: tensor<2x3x4x6x7xf32>) -> tensor<2x3x4x6x7xf32> {
  %e = tensor.empty() : tensor<2x6x8x9xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x6x8x9xf32>) outs(%e : tensor<2x6x8x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<2x6x8x9xf32>
  %image = tensor.expand_shape %n [[0], [1, 2], [3], [4]] output_shape [2, 3, 2, 8, 9] : tensor<2x6x8x9xf32> into tensor<2x3x2x8x9xf32>
  %sums = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %w : tensor<2x3x2x8x9xf32>, tensor<3x4x2x3x3xf32>) outs(%init : tensor<2x3x4x6x7xf32>) -> tensor<2x3x4x6x7xf32>
  return %sums : tensor<2x3x4x6x7xf32>
}

// A reduction behind one reads what was collapsed; so do elementwise ops behind others.
// CHECK-LABEL: func.func @others
// CHECK: tensor.collapse_shape
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: tensor.collapse_shape %arg2
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x12x6x7xf32>)
func.func @others(%x: tensor<2x3x2x8x9xf32>, %w: tensor<3x4x2x3x3xf32>, %init: tensor<2x3x4x6x7xf32>, %sum: tensor<2x12xf32>)
    -> (tensor<2x12xf32>, tensor<2x12x6x7xf32>) {
  %sums = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x3x2x8x9xf32>, tensor<3x4x2x3x3xf32>) outs(%init : tensor<2x3x4x6x7xf32>) -> tensor<2x3x4x6x7xf32>
  %y = tensor.collapse_shape %sums [[0], [1, 2], [3], [4]] : tensor<2x3x4x6x7xf32> into tensor<2x12x6x7xf32>
  %mean = linalg.generic {indexing_maps = [#id, affine_map<(n, c, h, w) -> (n, c)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%y : tensor<2x12x6x7xf32>) outs(%sum : tensor<2x12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<2x12xf32>
  %other = tensor.collapse_shape %init [[0], [1, 2], [3], [4]] : tensor<2x3x4x6x7xf32> into tensor<2x12x6x7xf32>
  %e = tensor.empty() : tensor<2x12x6x7xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%other : tensor<2x12x6x7xf32>) outs(%e : tensor<2x12x6x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<2x12x6x7xf32>
  return %mean, %n : tensor<2x12xf32>, tensor<2x12x6x7xf32>
}
