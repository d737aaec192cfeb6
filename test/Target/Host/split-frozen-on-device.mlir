// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-split-frozen{on-device=true})' -split-input-file | FileCheck %s
// For a device frozen arguments themselves are results of the second function: they are uploaded once.

#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func @f(
// CHECK-SAME: %[[X:.*]]: tensor<8x32xf32> {xetile.argument = 0 : i64},
// CHECK-SAME: %[[S:.*]]: tensor<16xf32> {xetile.on_device, xetile.packed = 0 : i64},
// CHECK-SAME: %[[W:.*]]: tensor<32x16xf32> {xetile.on_device, xetile.packed = 1 : i64})
// CHECK: linalg.matmul ins(%[[X]], %[[W]] :
// CHECK: linalg.generic {{.*}} ins({{.*}}, %[[S]] :
// CHECK-LABEL: func @f_freeze(
// CHECK-SAME: %[[U:.*]]: tensor<32x16xf32> {xetile.argument = 1 : i64}, %[[V:.*]]: tensor<16xf32> {xetile.argument = 2 : i64})
// CHECK-SAME: -> (tensor<16xf32> {xetile.on_device}, tensor<32x16xf32> {xetile.on_device})
// CHECK: %[[R:.*]] = linalg.rsqrt ins(%[[V]] :
// CHECK: return %[[R]], %[[U]]

func.func @f(%x: tensor<8x32xf32>, %w: tensor<32x16xf32> {xetile.frozen}, %v: tensor<16xf32> {xetile.frozen})
    -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %s = linalg.rsqrt ins(%v : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<8x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%o : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%m, %s : tensor<8x16xf32>, tensor<16xf32>) outs(%o : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

// What the host reads stays with the function, and so does what has no elements; what a body reads is a kernel's.
// CHECK-LABEL: func @host(
// CHECK-SAME: tensor<4xf32> {xetile.argument = 0 : i64}, %{{.*}}: tensor<f32> {xetile.argument = 1 : i64}, %{{.*}}: tensor<0xf32> {xetile.argument = 2 : i64}
// CHECK-SAME: tensor<9xf32> {xetile.on_device, xetile.packed = 0 : i64})
// CHECK-LABEL: func @host_freeze(
// CHECK-SAME: tensor<9xf32> {xetile.argument = 3 : i64}) -> (tensor<9xf32> {xetile.on_device})
func.func @host(%x: tensor<4xf32>, %limit: tensor<f32> {xetile.frozen}, %none: tensor<0xf32> {xetile.frozen},
                %table: tensor<9xf32> {xetile.frozen}) -> (tensor<4xf32>, tensor<0xf32>) {
  %c0 = arith.constant 0.0 : f32
  %v = tensor.extract %limit[] : tensor<f32>
  %positive = arith.cmpf ogt, %v, %c0 : f32
  %y = scf.if %positive -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    %e = tensor.empty() : tensor<4xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%e : tensor<4xf32>) {
    ^bb0(%unused: f32):
      %i = linalg.index 0 : index
      %t = tensor.extract %table[%i] : tensor<9xf32>
      linalg.yield %t : f32
    } -> tensor<4xf32>
    scf.yield %g : tensor<4xf32>
  }
  return %y, %none : tensor<4xf32>, tensor<0xf32>
}
