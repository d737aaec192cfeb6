// Slices that step and drop dimensions at once do one after the other.
// RUN: xetile-opt %s --xetile-split-slices | FileCheck %s

// CHECK-LABEL: func @read(
// A step over one element is none.
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0] [1, 1, 4] [1, 1, 2] : tensor<8x1x9xi32> to tensor<1x1x4xi32>
// CHECK: tensor.extract_slice %[[S]][0, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<1x1x4xi32> to tensor<1x4xi32>
func.func @read(%a: tensor<8x1x9xi32>) -> tensor<1x4xi32> {
  %s = tensor.extract_slice %a[0, 0, 0] [1, 1, 4] [3, 1, 2] : tensor<8x1x9xi32> to tensor<1x4xi32>
  return %s : tensor<1x4xi32>
}

// CHECK-LABEL: func @write(
// CHECK: %[[E:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [1, 1, 4]
// CHECK: tensor.insert_slice %[[E]] into %{{.*}}[0, 0, 1] [1, 1, 4] [1, 1, 2] : tensor<1x1x4xi32> into tensor<8x1x9xi32>
func.func @write(%a: tensor<8x1x9xi32>, %b: tensor<1x4xi32>) -> tensor<8x1x9xi32> {
  %s = tensor.insert_slice %b into %a[0, 0, 1] [1, 1, 4] [1, 1, 2] : tensor<1x4xi32> into tensor<8x1x9xi32>
  return %s : tensor<8x1x9xi32>
}

// CHECK-LABEL: func @one_of_both(
// CHECK-NEXT: tensor.extract_slice %{{.*}}[0, 0] [1, 4] [1, 1] : tensor<8x9xi32> to tensor<4xi32>
// CHECK-NEXT: tensor.extract_slice %{{.*}}[0, 0] [4, 9] [2, 1] : tensor<8x9xi32> to tensor<4x9xi32>
// CHECK-NEXT: return
func.func @one_of_both(%a: tensor<8x9xi32>) -> (tensor<4xi32>, tensor<4x9xi32>) {
  %d = tensor.extract_slice %a[0, 0] [1, 4] [1, 1] : tensor<8x9xi32> to tensor<4xi32>
  %s = tensor.extract_slice %a[0, 0] [4, 9] [2, 1] : tensor<8x9xi32> to tensor<4x9xi32>
  return %d, %s : tensor<4xi32>, tensor<4x9xi32>
}
