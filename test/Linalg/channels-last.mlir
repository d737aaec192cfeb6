// Convolutions as tiles of products are read.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-channels-last{chip=pvc})' | FileCheck %s
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-channels-last{chip=sm_90a})' | FileCheck %s --check-prefix=OTHER

// Other chips' convolutions stay.
// OTHER-COUNT-13: linalg.conv_2d
// OTHER-NOT: linalg.transpose {{.*}} permutation = [0, 2, 3, 1]

#id = affine_map<(n, f, h, w) -> (n, f, h, w)>

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d5, d2 * 2 + d6, d4)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d5, d6, d4, d3)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[FILTERS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>

// Channels get zeros behind them up to 64, the image's in the padding that it has. Who reads the result gets it back.
// CHECK-LABEL: func.func @padded
// CHECK: %[[LAST:.*]] = linalg.transpose ins(%arg0 : tensor<2x40x9x9xf16>) {{.*}} permutation = [0, 2, 3, 1]
// CHECK: %[[ROWS:.*]] = linalg.transpose ins(%arg1 : tensor<32x40x3x3xf16>) {{.*}} permutation = [2, 3, 1, 0]
// CHECK: %[[X:.*]] = tensor.pad %[[LAST]] low[0, 1, 1, 0] high[0, 1, 1, 24]
// CHECK: tensor<2x9x9x40xf16> to tensor<2x11x11x64xf16>
// CHECK: %[[W:.*]] = tensor.pad %[[ROWS]] {{.*}} high[0, 0, 24, 0]
// CHECK: linalg.fill {{.*}} -> tensor<2x5x5x32xf32>
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[X]], %[[W]]
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
// CHECK-NEXT: return
func.func @padded(%x: tensor<2x40x9x9xf16>, %w: tensor<32x40x3x3xf16>) -> tensor<2x32x5x5xf32> {
  %z = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f16
  } : tensor<2x40x9x9xf16> to tensor<2x40x11x11xf16>
  %e = tensor.empty() : tensor<2x32x5x5xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32x5x5xf32>) -> tensor<2x32x5x5xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%p, %w : tensor<2x40x11x11xf16>, tensor<32x40x3x3xf16>) outs(%s : tensor<2x32x5x5xf32>) -> tensor<2x32x5x5xf32>
  return %y : tensor<2x32x5x5xf32>
}

// Of a chain of layers the first image and the last result are transposed; a bias is repeated for channels that are last,
// and a pooling's windows are of such, too.
// CHECK-LABEL: func.func @chain
// CHECK: linalg.transpose ins(%arg0
// CHECK: linalg.transpose ins(%arg1
// CHECK: linalg.generic {indexing_maps = [#[[FILTERS]], #[[ALL]]]
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<1x14x14x32xbf16>
// CHECK-NOT: linalg.transpose
// CHECK: %[[NARROW:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ALL]]]{{.*}} ins(%[[FIRST]]
// CHECK: %[[POOL:.*]] = linalg.generic {{.*}} ins(%[[NARROW]], %{{.*}} : tensor<1x12x12x32xbf16>
// CHECK-NOT: ins(%[[POOL]]{{.*}}permutation
// CHECK: linalg.transpose ins(%arg3
// CHECK: linalg.generic {{.*}} ins(%[[POOL]], %{{.*}} : tensor<1x11x11x32xbf16>
// CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
// CHECK-NEXT: return
func.func @chain(%x: tensor<1x32x14x14xbf16>, %w: tensor<32x32x3x3xbf16>, %b: tensor<32xf32>, %v: tensor<64x32x3x3xbf16>,
                 %t: tensor<1x64x9x9xf32>) -> tensor<1x64x9x9xf32> {
  %low = arith.constant 0xFF80 : bf16
  %e = tensor.empty() : tensor<1x32x12x12xf32>
  %s = linalg.broadcast ins(%b : tensor<32xf32>) outs(%e : tensor<1x32x12x12xf32>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x32x14x14xbf16>, tensor<32x32x3x3xbf16>) outs(%s : tensor<1x32x12x12xf32>) -> tensor<1x32x12x12xf32>
  %n = tensor.empty() : tensor<1x32x12x12xbf16>
  %narrow = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x32x12x12xf32>) outs(%n : tensor<1x32x12x12xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %m = arith.truncf %a : f32 to bf16
    linalg.yield %m : bf16
  } -> tensor<1x32x12x12xbf16>
  %window = tensor.empty() : tensor<2x2xbf16>
  %q = tensor.empty() : tensor<1x32x11x11xbf16>
  %start = linalg.fill ins(%low : bf16) outs(%q : tensor<1x32x11x11xbf16>) -> tensor<1x32x11x11xbf16>
  %pool = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%narrow, %window : tensor<1x32x12x12xbf16>, tensor<2x2xbf16>) outs(%start : tensor<1x32x11x11xbf16>) -> tensor<1x32x11x11xbf16>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%pool, %v : tensor<1x32x11x11xbf16>, tensor<64x32x3x3xbf16>) outs(%t : tensor<1x64x9x9xf32>) -> tensor<1x64x9x9xf32>
  return %r : tensor<1x64x9x9xf32>
}

// Groups stand before the channels.
// CHECK-LABEL: func.func @groups
// CHECK: linalg.transpose ins(%arg0 : tensor<2x3x32x8x8xf16>) outs(%{{.*}} : tensor<2x8x8x3x32xf16>)
// CHECK: linalg.transpose ins(%arg1 : tensor<3x32x32x3x3xf16>) outs(%{{.*}} : tensor<3x3x3x32x32xf16>)
func.func @groups(%x: tensor<2x3x32x8x8xf16>, %w: tensor<3x32x32x3x3xf16>, %t: tensor<2x3x32x6x6xf32>) -> tensor<2x3x32x6x6xf32> {
  %y = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x3x32x8x8xf16>, tensor<3x32x32x3x3xf16>) outs(%t : tensor<2x3x32x6x6xf32>) -> tensor<2x3x32x6x6xf32>
  return %y : tensor<2x3x32x6x6xf32>
}

// f32 has shorter rows: 10 channels get zeros up to 16.
// CHECK-LABEL: func.func @single
// CHECK: %[[SINGLE:.*]] = tensor.pad {{.*}} high[0, 0, 0, 6]
// CHECK: tensor<1x8x8x10xf32> to tensor<1x8x8x16xf32>
// CHECK: linalg.generic {{.*}} ins(%[[SINGLE]], %{{.*}} : tensor<1x8x8x16xf32>, tensor<3x3x16x20xf32>)
func.func @single(%x: tensor<1x10x8x8xf32>, %w: tensor<20x10x3x3xf32>, %t: tensor<1x20x6x6xf32>) -> tensor<1x20x6x6xf32> {
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x10x8x8xf32>, tensor<20x10x3x3xf32>) outs(%t : tensor<1x20x6x6xf32>) -> tensor<1x20x6x6xf32>
  return %y : tensor<1x20x6x6xf32>
}

// Slices of an image are those of one whose channels are last, with zeros behind them. One that is few of its elements is
// moved alone. A pixel's filters multiply what has channels last, too, where rows of the slice lie apart in memory.
// CHECK-LABEL: func.func @slices
// CHECK: %[[FEW:.*]] = tensor.extract_slice %arg0[0, 0, 2, 0] [1, 40, 3, 3]
// CHECK: %[[WHOLE:.*]] = linalg.transpose ins(%arg0 : tensor<1x40x9x9xf16>) {{.*}} permutation = [0, 2, 3, 1]
// CHECK: %[[ZEROS:.*]] = tensor.pad %[[WHOLE]] {{.*}} high[0, 0, 0, 24]
// CHECK: %[[X:.*]] = tensor.extract_slice %[[ZEROS]][0, 1, 0, 0] [1, 8, 9, 64] [1, 1, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<1x8x9x64xf16>, tensor<3x3x64x32xf16>)
// CHECK: linalg.transpose ins(%[[FEW]]
// CHECK: %[[P:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 9, 8, 64] [1, 1, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[P]], %{{.*}} : tensor<1x9x8x64xf16>, tensor<1x1x64x32xf16>)
func.func @slices(%x: tensor<1x40x9x9xf16>, %w: tensor<32x40x3x3xf16>, %v: tensor<32x40x1x1xf16>,
                  %s: tensor<1x32x6x7xf32>, %t: tensor<1x32x1x1xf32>, %u: tensor<1x32x9x8xf32>)
    -> (tensor<1x32x6x7xf32>, tensor<1x32x1x1xf32>, tensor<1x32x9x8xf32>) {
  %most = tensor.extract_slice %x[0, 0, 1, 0] [1, 40, 8, 9] [1, 1, 1, 1] : tensor<1x40x9x9xf16> to tensor<1x40x8x9xf16>
  %few = tensor.extract_slice %x[0, 0, 2, 0] [1, 40, 3, 3] [1, 1, 1, 1] : tensor<1x40x9x9xf16> to tensor<1x40x3x3xf16>
  %cut = tensor.extract_slice %x[0, 0, 0, 0] [1, 40, 9, 8] [1, 1, 1, 1] : tensor<1x40x9x9xf16> to tensor<1x40x9x8xf16>
  %a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%most, %w : tensor<1x40x8x9xf16>, tensor<32x40x3x3xf16>) outs(%s : tensor<1x32x6x7xf32>) -> tensor<1x32x6x7xf32>
  %b = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%few, %w : tensor<1x40x3x3xf16>, tensor<32x40x3x3xf16>) outs(%t : tensor<1x32x1x1xf32>) -> tensor<1x32x1x1xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%cut, %v : tensor<1x40x9x8xf16>, tensor<32x40x1x1xf16>) outs(%u : tensor<1x32x9x8xf32>) -> tensor<1x32x9x8xf32>
  return %a, %b, %c : tensor<1x32x6x7xf32>, tensor<1x32x1x1xf32>, tensor<1x32x9x8xf32>
}

// Rows of 16 filters are too short to be read: they have zeros behind them, which nobody multiplies.
// CHECK-LABEL: func.func @few
// CHECK: %[[LONG:.*]] = tensor.pad %{{.*}} low[0, 0, 0, 0] high[0, 0, 0, 16]
// CHECK: tensor<3x3x32x16xf16> to tensor<3x3x32x32xf16>
// CHECK: %[[FEW:.*]] = tensor.extract_slice %[[LONG]][0, 0, 0, 0] [3, 3, 32, 16] [1, 1, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[FEW]] : tensor<1x8x8x32xf16>, tensor<3x3x32x16xf16>)
func.func @few(%x: tensor<1x32x8x8xf16>, %w: tensor<16x32x3x3xf16>, %t: tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32> {
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x32x8x8xf16>, tensor<16x32x3x3xf16>) outs(%t : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}

// f64 stays, as do few channels, few filters, and rows of filters that begin anywhere.
// CHECK-LABEL: func.func @stay
// CHECK-COUNT-4: linalg.conv_2d_nchw_fchw
func.func @stay(%x: tensor<1x32x8x8xf64>, %w: tensor<32x32x3x3xf64>, %t: tensor<1x32x6x6xf64>,
                %few: tensor<1x7x8x8xf32>, %q: tensor<32x7x3x3xf32>, %i: tensor<1x32x8x8xf32>, %p: tensor<12x32x3x3xf32>,
                %g: tensor<1x12x6x6xf32>, %l: tensor<18x32x3x3xf32>, %h: tensor<1x18x6x6xf32>, %f: tensor<1x32x6x6xf32>)
    -> (tensor<1x32x6x6xf64>, tensor<1x32x6x6xf32>, tensor<1x12x6x6xf32>, tensor<1x18x6x6xf32>) {
  %a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x32x8x8xf64>, tensor<32x32x3x3xf64>) outs(%t : tensor<1x32x6x6xf64>) -> tensor<1x32x6x6xf64>
  %b = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%few, %q : tensor<1x7x8x8xf32>, tensor<32x7x3x3xf32>) outs(%f : tensor<1x32x6x6xf32>) -> tensor<1x32x6x6xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%i, %p : tensor<1x32x8x8xf32>, tensor<12x32x3x3xf32>) outs(%g : tensor<1x12x6x6xf32>) -> tensor<1x12x6x6xf32>
  %d = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%i, %l : tensor<1x32x8x8xf32>, tensor<18x32x3x3xf32>) outs(%h : tensor<1x18x6x6xf32>) -> tensor<1x18x6x6xf32>
  return %a, %b, %c, %d : tensor<1x32x6x6xf64>, tensor<1x32x6x6xf32>, tensor<1x12x6x6xf32>, tensor<1x18x6x6xf32>
}
