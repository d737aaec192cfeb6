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
