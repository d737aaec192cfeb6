// Numbers that a public function takes and gives are tensors of one; private ones keep theirs.
// RUN: xetile-opt %s --xetile-box-scalars | FileCheck %s

// CHECK-LABEL: func @f(
// CHECK-SAME: %[[S:.*]]: tensor<f16>, %[[P:.*]]: tensor<i1>, %{{.*}}: tensor<4xf32>) -> (tensor<f16>, tensor<i1>)
// CHECK-DAG: %[[X:.*]] = tensor.extract %[[S]][] : tensor<f16>
// CHECK-DAG: %[[B:.*]] = tensor.extract %[[P]][] : tensor<i1>
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[X]] : f16
// CHECK-DAG: tensor.from_elements %[[SUM]] : tensor<f16>
// CHECK-DAG: tensor.from_elements %[[B]] : tensor<i1>
func.func @f(%s: f16, %p: i1, %t: tensor<4xf32>) -> (f16, i1) {
  %r = arith.addf %s, %s : f16
  return %r, %p : f16, i1
}

// CHECK: func private @g(%{{.*}}: f16) -> f16
func.func private @g(%s: f16) -> f16 {
  return %s : f16
}
