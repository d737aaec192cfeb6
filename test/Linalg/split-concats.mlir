// RUN: xetile-opt %s --xetile-split-concats=most=2 | FileCheck %s
// RUN: xetile-opt %s --xetile-split-concats | FileCheck %s --check-prefix=TWELVE
// RUN: not xetile-opt %s --xetile-split-concats=most=1 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: most: expected 2 or more, got 1

// In the order of the pieces, the last of which stays alone.
// CHECK-LABEL: func @five
// CHECK-SAME: %[[A:.*]]: tensor<2x1xf32>, %[[B:.*]]: tensor<2x2xf32>, %[[C:.*]]: tensor<2x3xf32>, %[[D:.*]]: tensor<2x4xf32>, %[[E:.*]]: tensor<2x5xf32>
// CHECK: %[[AB:.*]] = tensor.concat dim(1) %[[A]], %[[B]] : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
// CHECK: %[[CD:.*]] = tensor.concat dim(1) %[[C]], %[[D]]
// CHECK: %[[ABCD:.*]] = tensor.concat dim(1) %[[AB]], %[[CD]]
// CHECK: %[[ALL:.*]] = tensor.concat dim(1) %[[ABCD]], %[[E]] : (tensor<2x10xf32>, tensor<2x5xf32>) -> tensor<2x15xf32>
// CHECK: return %[[ALL]]
// TWELVE-LABEL: func @five
// TWELVE-COUNT-1: tensor.concat
// TWELVE-NOT: tensor.concat
// TWELVE: return
func.func @five(%a: tensor<2x1xf32>, %b: tensor<2x2xf32>, %c: tensor<2x3xf32>, %d: tensor<2x4xf32>, %e: tensor<2x5xf32>)
    -> tensor<2x15xf32> {
  %y = tensor.concat dim(1) %a, %b, %c, %d, %e
      : (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<2x15xf32>
  return %y : tensor<2x15xf32>
}

// What the op says of its sizes it still says.
// CHECK-LABEL: func @sizes_of_a_run
// CHECK: tensor.concat {{.*}} -> tensor<?xf32>
// CHECK: tensor.concat {{.*}} : (tensor<?xf32>, tensor<?xf32>) -> tensor<9xf32>
func.func @sizes_of_a_run(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<9xf32> {
  %y = tensor.concat dim(0) %a, %b, %c : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<9xf32>
  return %y : tensor<9xf32>
}
