// RUN: xetile-opt %s --allow-unregistered-dialect --xetile-pass-bits-as-bytes --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[A:.*]]: tensor<?x4xi8>, %[[B:.*]]: tensor<?x4xf32>) -> (tensor<?x4xi8>, tensor<?x4xf32>)
// CHECK: %[[BITS:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<?x4xi8>) outs(%{{.*}} : tensor<?x4xi1>)
// CHECK: arith.cmpi ne, %{{.*}}, %c0
// CHECK: %[[NOT:.*]] = "use"(%[[BITS]]) : (tensor<?x4xi1>) -> tensor<?x4xi1>
// CHECK: %[[BYTES:.*]] = linalg.generic {{.*}} ins(%[[NOT]] : tensor<?x4xi1>) outs(%{{.*}} : tensor<?x4xi8>)
// CHECK: arith.extui
// CHECK: return %[[BYTES]], %[[B]]
func.func @both(%a: tensor<?x4xi1>, %b: tensor<?x4xf32>) -> (tensor<?x4xi1>, tensor<?x4xf32>) {
  %n = "use"(%a) : (tensor<?x4xi1>) -> tensor<?x4xi1>
  return %n, %b : tensor<?x4xi1>, tensor<?x4xf32>
}

// Constants are memory, too, where their elements differ.
// CHECK-LABEL: func.func @constants(
// CHECK: %[[C:.*]] = arith.constant dense<[1, 0, 1]> : tensor<3xi8>
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<3xi8>) outs(%{{.*}} : tensor<3xi1>)
// CHECK: arith.constant dense<true> : tensor<3xi1>
func.func @constants() {
  %c = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %s = arith.constant dense<true> : tensor<3xi1>
  "use"(%c, %s) : (tensor<3xi1>, tensor<3xi1>) -> ()
  return
}

// CHECK-LABEL: func.func private @inner(%{{.*}}: tensor<4xi1>) -> tensor<4xi1>
func.func private @inner(%a: tensor<4xi1>) -> tensor<4xi1> {
  return %a : tensor<4xi1>
}

// -----

// expected-error @below {{takes or returns tensors of i1 and is called in its module}}
func.func @called(%a: tensor<4xi1>) -> tensor<4xi1> {
  return %a : tensor<4xi1>
}
func.func @calls(%a: tensor<4xf32>, %b: tensor<4xi1>) {
  %c = call @called(%b) : (tensor<4xi1>) -> tensor<4xi1>
  return
}
