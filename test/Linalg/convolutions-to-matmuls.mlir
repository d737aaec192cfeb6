// RUN: xetile-opt %s --xetile-convolutions-to-matmuls --canonicalize --cse | FileCheck %s

// 288 x 448 numbers are copied at once: 8 rows of 56.
// CHECK-DAG: #[[SEEN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d2 + d4)>
// CHECK-LABEL: func @channels_first
// CHECK-SAME: (%[[A:.*]]: tensor<4x32x58x58xf32>, %[[F:.*]]: tensor<64x32x3x3xf32>, %[[C:.*]]: tensor<4x64x56x56xf32>)
// CHECK: scf.forall (%[[N:.*]], %[[H:.*]]) = (0, 0) to (4, 56) step (1, 8) shared_outs(%[[R:.*]] = %[[C]])
// CHECK: %[[IMAGE:.*]] = tensor.extract_slice %[[A]][%[[N]], 0, %[[H]], 0] [1, 32, 10, 58] [1, 1, 1, 1]
// CHECK: %[[COPY:.*]] = linalg.generic {indexing_maps = [#[[SEEN]], {{.*}}} ins(%[[IMAGE]]
// CHECK: %[[B:.*]] = tensor.collapse_shape %[[COPY]] {{.*}} into tensor<288x448xf32>
// CHECK: %[[W:.*]] = tensor.collapse_shape %[[F]] {{.*}} into tensor<64x288xf32>
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[R]][%[[N]], 0, %[[H]], 0] [1, 64, 8, 56] [1, 1, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[B]] : {{.*}} outs({{.*}} : tensor<64x448xf32>)
// CHECK: tensor.parallel_insert_slice
// CHECK: {xetile.rows}
func.func @channels_first(%a: tensor<4x32x58x58xf32>, %f: tensor<64x32x3x3xf32>, %c: tensor<4x64x56x56xf32>)
    -> tensor<4x64x56x56xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%a, %f : tensor<4x32x58x58xf32>, tensor<64x32x3x3xf32>) outs(%c : tensor<4x64x56x56xf32>)
      -> tensor<4x64x56x56xf32>
  return %r : tensor<4x64x56x56xf32>
}

// A block begins with the fill, which is no pass over all of the result.
// CHECK-LABEL: func @filled
// CHECK-SAME: , %[[C:[a-z0-9]+]]: tensor<1x64x56x56xf32>)
// CHECK-NOT: linalg.fill
// CHECK: scf.forall (%{{.*}}) = (0) to (56) step (2) shared_outs(%{{.*}} = %[[C]])
// CHECK: linalg.fill {{.*}} tensor<64x112xf32>
func.func @filled(%a: tensor<1x64x58x58xf32>, %f: tensor<64x64x3x3xf32>, %c: tensor<1x64x56x56xf32>)
    -> tensor<1x64x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%a, %f : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%start : tensor<1x64x56x56xf32>)
      -> tensor<1x64x56x56xf32>
  return %r : tensor<1x64x56x56xf32>
}

// Blocks are padded where they are read: rows -1 to 2 of the image for the first one.
// CHECK-LABEL: func @padded
// CHECK-SAME: (%[[A:.*]]: tensor<1x64x56x56xf32>, %{{.*}}: tensor<64x64x3x3xf32>
// CHECK-NOT: tensor.pad
// CHECK: scf.forall
// CHECK: %[[SEEN:.*]] = tensor.extract_slice %[[A]][0, 0, %{{.*}}, 0] [1, 64, %[[ROWS:.*]], 56] [1, 1, 1, 1]
// CHECK: %[[BLOCK:.*]] = linalg.fill {{.*}} -> tensor<64x4x58xf32>
// CHECK: tensor.insert_slice %[[SEEN]] into %[[BLOCK]][0, %{{.*}}, 1] [64, %[[ROWS]], 56] [1, 1, 1]
func.func @padded(%a: tensor<1x64x56x56xf32>, %f: tensor<64x64x3x3xf32>, %c: tensor<1x64x56x56xf32>)
    -> tensor<1x64x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %ch: index, %h: index, %w: index):
    tensor.yield %zero : f32
  } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%wide, %f : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%c : tensor<1x64x56x56xf32>)
      -> tensor<1x64x56x56xf32>
  return %r : tensor<1x64x56x56xf32>
}

// A filter of 2 MiB that each block would read again: threads share the matmul of the whole image.
// CHECK-LABEL: func @large_filter
// CHECK-NOT: scf.for
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<256x196xf32>)
func.func @large_filter(%a: tensor<1x256x16x16xf32>, %f: tensor<256x256x3x3xf32>, %c: tensor<1x256x14x14xf32>)
    -> tensor<1x256x14x14xf32> {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%a, %f : tensor<1x256x16x16xf32>, tensor<256x256x3x3xf32>) outs(%c : tensor<1x256x14x14xf32>)
      -> tensor<1x256x14x14xf32>
  return %r : tensor<1x256x14x14xf32>
}

// Channels last: the image is the left operand, its bytes are widened by the matmul.
// CHECK-LABEL: func @channels_last
// CHECK: tensor.collapse_shape {{.*}} into tensor<3x6xi8>
// CHECK: tensor.collapse_shape {{.*}} into tensor<6x5xi8>
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<3x6xi8>, tensor<6x5xi8>) outs({{.*}} : tensor<3x5xi32>)
// CHECK: arith.extsi
// CHECK: arith.muli
// CHECK: arith.addi
func.func @channels_last(%a: tensor<1x7x2xi8>, %f: tensor<3x2x5xi8>, %c: tensor<1x3x5xi32>) -> tensor<1x3x5xi32> {
  %r = linalg.conv_1d_nwc_wcf {dilations = dense<1> : vector<1xi64>, strides = dense<2> : vector<1xi64>}
      ins(%a, %f : tensor<1x7x2xi8>, tensor<3x2x5xi8>) outs(%c : tensor<1x3x5xi32>) -> tensor<1x3x5xi32>
  return %r : tensor<1x3x5xi32>
}

// No channels are summed over, no matmul.
// CHECK-LABEL: func @depthwise
// CHECK: linalg.depthwise_conv_1d_ncw_cw
func.func @depthwise(%a: tensor<1x2x9xf32>, %f: tensor<2x3xf32>, %c: tensor<1x2x7xf32>) -> tensor<1x2x7xf32> {
  %r = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
      ins(%a, %f : tensor<1x2x9xf32>, tensor<2x3xf32>) outs(%c : tensor<1x2x7xf32>) -> tensor<1x2x7xf32>
  return %r : tensor<1x2x7xf32>
}

// A tensor that no process can address: rows as one dimension of a matrix would have a negative size.
// CHECK-LABEL: func @no_memory
// CHECK: linalg.conv_2d_nhwc_hwcf
func.func @no_memory(%a: tensor<1x4611686018427387905x3x8xf32>, %f: tensor<1x1x8x8xf32>, %c: tensor<1x4611686018427387905x3x8xf32>)
    -> tensor<1x4611686018427387905x3x8xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %f : tensor<1x4611686018427387905x3x8xf32>, tensor<1x1x8x8xf32>)
      outs(%c : tensor<1x4611686018427387905x3x8xf32>) -> tensor<1x4611686018427387905x3x8xf32>
  return %r : tensor<1x4611686018427387905x3x8xf32>
}
