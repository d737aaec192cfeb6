// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-split-frozen)' -split-input-file | FileCheck %s
// What depends on frozen arguments and constants only is computed by a function of its own; what the others need of
// it, they take.

#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#vector = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @norm(
// CHECK-SAME: %[[X:.*]]: tensor<64x32xf32> {xetile.argument = 0 : i64}, %[[S:.*]]: tensor<32xf32> {xetile.packed = 0 : i64})
// CHECK-NOT: math.rsqrt
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[S]] :
// CHECK-LABEL: func @norm_freeze(
// CHECK-SAME: %[[V:.*]]: tensor<32xf32> {xetile.argument = 1 : i64}) -> tensor<32xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[V]] :
// CHECK: math.rsqrt
// CHECK: return %[[R]]
func.func @norm(%x: tensor<64x32xf32>, %variance: tensor<32xf32> {xetile.frozen}) -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<32xf32>
  %s = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%variance : tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%v: f32, %unused: f32):
    %r = math.rsqrt %v : f32
    linalg.yield %r : f32
  } -> tensor<32xf32>
  %o = tensor.empty() : tensor<64x32xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<64x32xf32>, tensor<32xf32>) outs(%o : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// -----

// A copy of a small tensor that is many times as large, views, and arguments that are read themselves, too.
// CHECK-LABEL: func @kept(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32> {xetile.argument = 0 : i64}, %[[W:.*]]: tensor<32xf32> {xetile.argument = 1 : i64}, %[[B:.*]]: tensor<2048xf32> {xetile.argument = 2 : i64}, %[[T:.*]]: tensor<8x4xf32> {xetile.packed = 0 : i64})
// CHECK: tensor.expand_shape %[[W]]
// CHECK: linalg.add ins(%[[X]], %[[T]] :
// CHECK: linalg.broadcast ins(%[[B]] :
// CHECK-LABEL: func @kept_freeze(
// CHECK-SAME: %[[V:.*]]: tensor<32xf32> {xetile.argument = 1 : i64}) -> tensor<8x4xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[V]]
// CHECK: linalg.exp ins(%[[E]] :
func.func @kept(%x: tensor<8x4xf32>, %w: tensor<32xf32> {xetile.frozen}, %b: tensor<2048xf32> {xetile.frozen})
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x2048xf32>) {
  %v = tensor.expand_shape %w [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.exp ins(%v : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = linalg.add ins(%x, %t : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %f = tensor.empty() : tensor<4x2048xf32>
  %z = linalg.broadcast ins(%b : tensor<2048xf32>) outs(%f : tensor<4x2048xf32>) dimensions = [0]
  return %y, %v, %z : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x2048xf32>
}

// -----

// Nothing is frozen, or a size is the run's: the function stays whole.
// CHECK-LABEL: func @dynamic(
// CHECK: linalg.exp
// CHECK-NOT: func
func.func @dynamic(%x: tensor<?x4xf32>, %w: tensor<8x4xf32> {xetile.frozen}) -> (tensor<?x4xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.exp ins(%w : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %x, %t : tensor<?x4xf32>, tensor<8x4xf32>
}
