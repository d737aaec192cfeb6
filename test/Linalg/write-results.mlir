// What a function returns and does not compute is written by an op: constants, and arguments where nothing is computed.
// RUN: xetile-opt %s --split-input-file --xetile-write-results | FileCheck %s

// CHECK-LABEL: func.func @constants
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[T:.*]] = arith.constant dense<[1, 2]> : tensor<2xi32>
// CHECK: %[[EXP:.*]] = math.exp %[[X]]
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK: %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: %[[FILLED:.*]] = linalg.fill ins(%[[C]] : f32) outs(%[[E]] : tensor<2x3xf32>)
// CHECK: %[[COPIED:.*]] = linalg.copy ins(%[[T]] : tensor<2xi32>)
// CHECK: return %[[FILLED]], %[[EXP]], %[[X]], %[[COPIED]]
func.func @constants(%x: tensor<4xf32>) -> (tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi32>) {
  %c = arith.constant dense<2.0> : tensor<2x3xf32>
  %t = arith.constant dense<[1, 2]> : tensor<2xi32>
  %y = math.exp %x : tensor<4xf32>
  return %c, %y, %x, %t : tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @reshaped
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf32>
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[X]]
// CHECK: %[[Y:.*]] = linalg.copy ins(%[[R]] : tensor<20xf32>)
// CHECK: %[[Z:.*]] = linalg.copy ins(%[[X]] : tensor<4x5xf32>)
// CHECK: return %[[Y]], %[[Z]]
func.func @reshaped(%x: tensor<4x5xf32>) -> (tensor<20xf32>, tensor<4x5xf32>) {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<4x5xf32> into tensor<20xf32>
  return %r, %x : tensor<20xf32>, tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func.func @open
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>
// CHECK: %[[M:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[E:.*]] = tensor.empty(%[[M]]) : tensor<?x3xf32>
// CHECK: %[[Y:.*]] = linalg.copy ins(%[[X]] : tensor<?x3xf32>) outs(%[[E]]
// CHECK: return %[[Y]]
func.func @open(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}

// -----

// Elements that no kernel has stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: linalg
func.func @others(%z: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  return %z : tensor<4xcomplex<f32>>
}
