// RUN: xetile-opt %s --xetile-reshapes-to-views --canonicalize --split-input-file | FileCheck %s

// A last dimension of the same size stays.
// CHECK-LABEL: func @split
// CHECK-SAME: %[[X:.*]]: tensor<?x32xf32>, %[[M:.*]]: i64, %[[N:.*]]: index
// CHECK: %[[I:.*]] = arith.index_cast %[[M]] : i64 to index
// CHECK: tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] output_shape [%[[I]], 7, 32] : tensor<?x32xf32> into tensor<?x7x32xf32>
func.func @split(%x: tensor<?x32xf32>, %m: i64, %n: index) -> tensor<?x7x32xf32> {
  %c7 = arith.constant 7 : i64
  %c32 = arith.constant 32 : i64
  %shape = tensor.from_elements %m, %c7, %c32 : tensor<3xi64>
  %y = tensor.reshape %x(%shape) : (tensor<?x32xf32>, tensor<3xi64>) -> tensor<?x7x32xf32>
  return %y : tensor<?x7x32xf32>
}

// -----

// CHECK-LABEL: func @through_one
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1, 2], [3]] output_shape [%{{.*}}, %{{.*}}, 5, 4]
func.func @through_one(%x: tensor<?x?x4xf32>, %m: index, %n: index) -> tensor<?x?x5x4xf32> {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %shape = tensor.from_elements %m, %n, %c5, %c4 : tensor<4xindex>
  %y = tensor.reshape %x(%shape) : (tensor<?x?x4xf32>, tensor<4xindex>) -> tensor<?x?x5x4xf32>
  return %y : tensor<?x?x5x4xf32>
}

// -----

// CHECK-LABEL: func @flat
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<?x?xf32> into tensor<?xf32>
// CHECK: tensor.cast %[[FLAT]] : tensor<?xf32> to tensor<24xf32>
func.func @flat(%x: tensor<?x?xf32>) -> tensor<24xf32> {
  %c24 = arith.constant 24 : index
  %shape = tensor.from_elements %c24 : tensor<1xindex>
  %y = tensor.reshape %x(%shape) : (tensor<?x?xf32>, tensor<1xindex>) -> tensor<24xf32>
  return %y : tensor<24xf32>
}

// -----

// Sizes that are not listed, and a tensor without dimensions.
// CHECK-LABEL: func @others
// CHECK: tensor.reshape
// CHECK: tensor.reshape
func.func @others(%x: tensor<?xf32>, %shape: tensor<2xindex>) -> (tensor<?x?xf32>, tensor<f32>) {
  %y = tensor.reshape %x(%shape) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %none = tensor.from_elements : tensor<0xindex>
  %z = tensor.reshape %x(%none) : (tensor<?xf32>, tensor<0xindex>) -> tensor<f32>
  return %y, %z : tensor<?x?xf32>, tensor<f32>
}

// -----

// What is inferred from the other sizes if a number is negative is that number.
// CHECK-LABEL: func @inferred
// CHECK-SAME: %{{.*}}: tensor<?xf32>, %[[M:.*]]: index, %[[N:.*]]: index
// CHECK-NEXT: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [%[[M]], %[[N]]]
func.func @inferred(%x: tensor<?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %all = tensor.dim %x, %c0 : tensor<?xf32>
  %rest = arith.divsi %all, %n : index
  %isNegative = arith.cmpi slt, %m, %c0 : index
  %size = arith.select %isNegative, %rest, %m : index
  %shape = tensor.from_elements %size, %n : tensor<2xindex>
  %y = tensor.reshape %x(%shape) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Only ones are moved.
// CHECK-LABEL: func @ones
// CHECK: %[[DENSE:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] : tensor<1x?x1x5xf32> into tensor<?x5xf32>
// CHECK: tensor.expand_shape %[[DENSE]] {{\[\[}}0], [1, 2, 3]] output_shape [%{{.*}}, 5, 1, 1] : tensor<?x5xf32> into tensor<?x5x1x1xf32>
// CHECK-NOT: linalg.transpose
func.func @ones(%x: tensor<1x?x1x5xf32>, %n: index) -> tensor<?x5x1x1xf32> {
  %any = tensor.empty(%n) : tensor<?x5x1x1xf32>
  %y = linalg.transpose ins(%x : tensor<1x?x1x5xf32>) outs(%any : tensor<?x5x1x1xf32>) permutation = [1, 3, 0, 2]
  return %y : tensor<?x5x1x1xf32>
}

// -----

// CHECK-LABEL: func @all_ones
// CHECK-NOT: linalg.transpose
// CHECK-LABEL: func @swapped
// CHECK: linalg.transpose
func.func @all_ones(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %any = tensor.empty() : tensor<1x1xf32>
  %y = linalg.transpose ins(%x : tensor<1x1xf32>) outs(%any : tensor<1x1xf32>) permutation = [1, 0]
  return %y : tensor<1x1xf32>
}
func.func @swapped(%x: tensor<1x3x?xf32>, %any: tensor<?x3x1xf32>) -> tensor<?x3x1xf32> {
  %y = linalg.transpose ins(%x : tensor<1x3x?xf32>) outs(%any : tensor<?x3x1xf32>) permutation = [2, 1, 0]
  return %y : tensor<?x3x1xf32>
}

// -----

// Two last dimensions that only the run knows are not one size: all dimensions become one between.
// CHECK-LABEL: func @unknown_last
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<?x?xf32> into tensor<?xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [%{{.*}}, %{{.*}}] : tensor<?xf32> into tensor<?x?xf32>
func.func @unknown_last(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %shape = tensor.from_elements %m, %n : tensor<2xindex>
  %y = tensor.reshape %x(%shape) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
