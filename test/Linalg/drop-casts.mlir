// RUN: xetile-opt %s --xetile-drop-casts | FileCheck %s

// PyTorch's roll, as it is exported: sizes are known again.
// CHECK-LABEL: func @roll
// CHECK-NOT: tensor.cast
// CHECK: tensor.concat dim(1) %{{.*}}, %{{.*}} : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<2x8xf32>
func.func @roll(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %a = tensor.extract_slice %x[0, 3] [2, 5] [1, 1] : tensor<2x8xf32> to tensor<2x5xf32>
  %b = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<2x8xf32> to tensor<2x3xf32>
  %c = tensor.cast %a : tensor<2x5xf32> to tensor<2x?xf32>
  %d = tensor.cast %b : tensor<2x3xf32> to tensor<2x?xf32>
  %y = tensor.concat dim(1) %c, %d : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// A result of the run's sizes stays one, and so does a cast to sizes that are known: it says more.
// CHECK-LABEL: func @kept
// CHECK: %[[K:.*]] = tensor.cast %{{.*}} : tensor<?xf32> to tensor<4xf32>
// CHECK: %[[ALL:.*]] = tensor.concat dim(0) %[[K]], %{{.*}} : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
// CHECK: tensor.cast %[[ALL]] : tensor<7xf32> to tensor<?xf32>
func.func @kept(%x: tensor<?xf32>, %z: tensor<3xf32>) -> tensor<?xf32> {
  %k = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  %c = tensor.cast %z : tensor<3xf32> to tensor<?xf32>
  %y = tensor.concat dim(0) %k, %c : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
