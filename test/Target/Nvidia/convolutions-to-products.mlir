// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

#same = affine_map<(n, f, y, x) -> (n, f, y, x)>
#channel = affine_map<(n, f, y, x) -> (f)>
// Zeros around the image are the matrix's: its memory is as it was. What follows has the product's shape.
// CHECK-DAG: #[[MATRIX:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-DAG: #[[SUMS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK: module attributes {xetile.schedule = "matmul"}
// CHECK-LABEL: func.func @first
// CHECK-SAME: xetile.window = {axes = array<i64: 28, 1, 28, 28, 1, 1>, batches = array<i64: 25088>,
// CHECK-SAME: k = array<i64: 32, 784, -1, 1, 3, 28, 0, 1, 3, 1, 1, 1>, operand = 1 : i64,
// CHECK-SAME: pixels = array<i64: 14, 56, 0, 2, 28, 1, 1, 1>}
// CHECK-NOT: tensor.pad
// CHECK: %[[BUFFER:.*]] = bufferization.to_buffer %arg0 read_only
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[BUFFER]] to offset: [0], sizes: [2, 288, 392]
// CHECK: %[[IMAGE:.*]] = bufferization.to_tensor %[[VIEW]] restrict
// CHECK: %[[WEIGHTS:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0], [1, 2, 3]]
// CHECK: linalg.generic {indexing_maps = [#[[MATRIX]], #[[FILTER]], #[[SUMS]]]
// CHECK-SAME: ins(%[[IMAGE]], %[[WEIGHTS]] : tensor<2x288x392xf32>, tensor<48x288xf32>)
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "parallel"]}
// CHECK: tensor.expand_shape
module {
  module attributes {xetile.schedule = "convolution"} {
    func.func @first(%X: tensor<2x32x28x28xf32>, %W: tensor<48x32x3x3xf32>, %bias: tensor<48xf32>) -> tensor<2x48x14x28xf32> {
      %zero = arith.constant 0.0 : f32
      %P = tensor.pad %X low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb0(%a: index, %b: index, %c: index, %d: index):
        tensor.yield %zero : f32
      } : tensor<2x32x28x28xf32> to tensor<2x32x30x30xf32>
      %e = tensor.empty() : tensor<2x48x14x28xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x48x14x28xf32>) -> tensor<2x48x14x28xf32>
      %D = linalg.conv_2d_nchw_fchw {strides = dense<[2, 1]> : tensor<2xi64>}
          ins(%P, %W : tensor<2x32x30x30xf32>, tensor<48x32x3x3xf32>)
          outs(%z : tensor<2x48x14x28xf32>) -> tensor<2x48x14x28xf32>
      %R = linalg.generic {indexing_maps = [#same, #channel, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%D, %bias : tensor<2x48x14x28xf32>, tensor<48xf32>) outs(%e : tensor<2x48x14x28xf32>) {
      ^bb0(%x: f32, %b: f32, %o: f32):
        %s = arith.addf %x, %b : f32
        linalg.yield %s : f32
      } -> tensor<2x48x14x28xf32>
      return %R : tensor<2x48x14x28xf32>
    }
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "matrix" -> !transform.any_param
    %chip = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.convolutions_to_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// With channels last pixels are the rows of A.
// CHECK: module attributes {xetile.schedule = "matmul"}
// CHECK-LABEL: func.func @last
// CHECK-SAME: k = array<i64: 3, 960, -1, 1, 3, 32, -1, 1, 32, 1, -1, 1>, operand = 0 : i64
// CHECK: sizes: [2, 784, 288]
module {
  module attributes {xetile.schedule = "convolution"} {
    func.func @last(%X: tensor<2x30x30x32xf32>, %W: tensor<3x3x32x48xf32>, %C: tensor<2x28x28x48xf32>) -> tensor<2x28x28x48xf32> {
      %D = linalg.conv_2d_nhwc_hwcf ins(%X, %W : tensor<2x30x30x32xf32>, tensor<3x3x32x48xf32>)
          outs(%C : tensor<2x28x28x48xf32>) -> tensor<2x28x28x48xf32>
      return %D : tensor<2x28x28x48xf32>
    }
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "matrix" -> !transform.any_param
    %chip = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.convolutions_to_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// What is computed of channels alone, as a norm of batches is, is computed where it is read.
// CHECK: module attributes {xetile.schedule = "matmul"}
// CHECK-LABEL: func.func @norm
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x288x784xf32>, tensor<48x288xf32>)
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x48x784xf32>, tensor<48xf32>, tensor<48xf32>)
// CHECK: math.rsqrt
// CHECK-NOT: math.rsqrt
// CHECK: return
// What is computed of the convolution in another shape stays with it on vector units.
// CHECK: module attributes {xetile.schedule = "convolution"}
// CHECK-LABEL: func.func @smaller
#place = affine_map<(n, f, y, x) -> (n, f, y, x)>
#of_channel = affine_map<(n, f, y, x) -> (f, 0, 0)>
#units = affine_map<(f, y, x) -> (f, y, x)>
#first = affine_map<(n, f) -> (n, f, 0, 0)>
#each = affine_map<(n, f) -> (n, f)>
module {
  module attributes {xetile.schedule = "convolution"} {
    func.func @norm(%X: tensor<2x32x30x30xf32>, %W: tensor<48x32x3x3xf32>, %s: tensor<48x1x1xf32>, %v: tensor<48x1x1xf32>) -> tensor<2x48x28x28xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<2x48x28x28xf32>
      %u = tensor.empty() : tensor<48x1x1xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32>
      %D = linalg.conv_2d_nchw_fchw ins(%X, %W : tensor<2x32x30x30xf32>, tensor<48x32x3x3xf32>) outs(%z : tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32>
      %r = linalg.generic {indexing_maps = [#units, #units, #units], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%s, %v : tensor<48x1x1xf32>, tensor<48x1x1xf32>) outs(%u : tensor<48x1x1xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %q = math.rsqrt %b : f32
        %p = arith.mulf %a, %q : f32
        linalg.yield %p : f32
      } -> tensor<48x1x1xf32>
      %R = linalg.generic {indexing_maps = [#place, #of_channel, #place], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%D, %r : tensor<2x48x28x28xf32>, tensor<48x1x1xf32>) outs(%e : tensor<2x48x28x28xf32>) {
      ^bb0(%x: f32, %b: f32, %o: f32):
        %p = arith.mulf %x, %b : f32
        linalg.yield %p : f32
      } -> tensor<2x48x28x28xf32>
      return %R : tensor<2x48x28x28xf32>
    }
  }
  module attributes {xetile.schedule = "convolution"} {
    func.func @smaller(%X: tensor<2x32x30x30xf32>, %W: tensor<48x32x3x3xf32>, %C: tensor<2x48x28x28xf32>) -> (tensor<2x48x28x28xf32>, tensor<2x48xf32>) {
      %D = linalg.conv_2d_nchw_fchw ins(%X, %W : tensor<2x32x30x30xf32>, tensor<48x32x3x3xf32>) outs(%C : tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32>
      %u = tensor.empty() : tensor<2x48xf32>
      %r = linalg.generic {indexing_maps = [#first, #each], iterator_types = ["parallel", "parallel"]}
          ins(%D : tensor<2x48x28x28xf32>) outs(%u : tensor<2x48xf32>) {
      ^bb0(%a: f32, %o: f32):
        %p = arith.negf %a : f32
        linalg.yield %p : f32
      } -> tensor<2x48xf32>
      return %D, %r : tensor<2x48x28x28xf32>, tensor<2x48xf32>
    }
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "matrix" -> !transform.any_param
    %chip = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.convolutions_to_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

// What stays: an image that the kernel computes, ones around it, sizes of a run, few filters, a result in another order.
// CHECK-COUNT-5: module attributes {xetile.schedule = "convolution"}
// CHECK-NOT: xetile.window
module {
  module attributes {xetile.schedule = "convolution"} {
    func.func @computed(%X: tensor<2x32x30x30xf32>, %W: tensor<48x32x3x3xf32>, %C: tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32> {
      %e = tensor.empty() : tensor<2x32x30x30xf32>
      %E = linalg.exp ins(%X : tensor<2x32x30x30xf32>) outs(%e : tensor<2x32x30x30xf32>) -> tensor<2x32x30x30xf32>
      %D = linalg.conv_2d_nchw_fchw ins(%E, %W : tensor<2x32x30x30xf32>, tensor<48x32x3x3xf32>)
          outs(%C : tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32>
      return %D : tensor<2x48x28x28xf32>
    }
  }
  module attributes {xetile.schedule = "convolution"} {
    func.func @ones(%X: tensor<2x32x28x28xf32>, %W: tensor<48x32x3x3xf32>, %C: tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32> {
      %one = arith.constant 1.0 : f32
      %P = tensor.pad %X low[0, 0, 1, 1] high[0, 0, 1, 1] {
      ^bb0(%a: index, %b: index, %c: index, %d: index):
        tensor.yield %one : f32
      } : tensor<2x32x28x28xf32> to tensor<2x32x30x30xf32>
      %D = linalg.conv_2d_nchw_fchw ins(%P, %W : tensor<2x32x30x30xf32>, tensor<48x32x3x3xf32>)
          outs(%C : tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32>
      return %D : tensor<2x48x28x28xf32>
    }
  }
  module attributes {xetile.schedule = "convolution"} {
    func.func @of_a_run(%X: tensor<?x32x30x30xf32>, %W: tensor<48x32x3x3xf32>, %C: tensor<?x48x28x28xf32>) -> tensor<?x48x28x28xf32> {
      %D = linalg.conv_2d_nchw_fchw ins(%X, %W : tensor<?x32x30x30xf32>, tensor<48x32x3x3xf32>)
          outs(%C : tensor<?x48x28x28xf32>) -> tensor<?x48x28x28xf32>
      return %D : tensor<?x48x28x28xf32>
    }
  }
  module attributes {xetile.schedule = "convolution"} {
    func.func @few(%X: tensor<2x32x30x30xf32>, %W: tensor<7x32x3x3xf32>, %C: tensor<2x7x28x28xf32>) -> tensor<2x7x28x28xf32> {
      %D = linalg.conv_2d_nchw_fchw ins(%X, %W : tensor<2x32x30x30xf32>, tensor<7x32x3x3xf32>)
          outs(%C : tensor<2x7x28x28xf32>) -> tensor<2x7x28x28xf32>
      return %D : tensor<2x7x28x28xf32>
    }
  }
  module attributes {xetile.schedule = "convolution"} {
    func.func @in_another_order(%X: tensor<2x32x30x30xf32>, %W: tensor<48x32x3x3xf32>, %C: tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32> {
      %D = linalg.conv_2d_nchw_fchw ins(%X, %W : tensor<2x32x30x30xf32>, tensor<48x32x3x3xf32>)
          outs(%C : tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32>
      %e = tensor.empty() : tensor<2x48x28x28xf32>
      %T = linalg.transpose ins(%D : tensor<2x48x28x28xf32>) outs(%e : tensor<2x48x28x28xf32>) permutation = [0, 1, 3, 2]
      return %T : tensor<2x48x28x28xf32>
    }
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %units = transform.param.constant "matrix" -> !transform.any_param
    %chip = transform.param.constant "sm_90a" -> !transform.any_param
    transform.xetile.convolutions_to_products %root units = %units chip = %chip
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}
