// Elementwise ops on tensors become linalg.generic, each by itself; nothing is folded, and numbers stay.
// RUN: xetile-opt %s --xetile-elementwise-to-linalg | FileCheck %s

// CHECK-LABEL: func @f(
// CHECK-SAME: %[[B:.*]]: tensor<?xf32>, %[[S:.*]]: f32)
func.func @f(%b: tensor<?xf32>, %s: f32) -> (tensor<?xf32>, f32) {
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[B]], %[[B]] : tensor<?xf32>, tensor<?xf32>)
  // CHECK: arith.addf
  // CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<?xf32>)
  // CHECK: math.exp
  %e = arith.addf %b, %b : tensor<?xf32>
  %x = math.exp %e : tensor<?xf32>
  // CHECK: arith.mulf %[[S]], %[[S]] : f32
  %t = arith.mulf %s, %s : f32
  return %x, %t : tensor<?xf32>, f32
}

// A folder would make a constant of an unknown shape of it.
// CHECK-LABEL: func @no_folder
// CHECK: linalg.generic
// CHECK: arith.xori
func.func @no_folder(%x: tensor<?xi32>) -> tensor<?xi32> {
  %zero = arith.xori %x, %x : tensor<?xi32>
  return %zero : tensor<?xi32>
}

// CHECK-LABEL: func @splat
// CHECK-SAME: %[[S:.*]]: f32, %[[N:.*]]: index)
func.func @splat(%s: f32, %n: index) -> tensor<?x4xf32> {
  // CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
  // CHECK: linalg.fill ins(%[[S]] : f32) outs(%[[E]] : tensor<?x4xf32>)
  %x = tensor.splat %s[%n] : tensor<?x4xf32>
  return %x : tensor<?x4xf32>
}
