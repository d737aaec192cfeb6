// What functions take and give: memory for all results, numbers in memory, bytes for i1.
// REQUIRES: cpu
// RUN: xetile-opt %s --split-input-file --xetile-box-scalars | FileCheck %s --check-prefix=BOX
// RUN: xetile-opt %s --split-input-file --xetile-box-scalars --xetile-bufferize-for-cpu="results-as-arguments=true" | FileCheck %s

// CHECK-LABEL: func @twice(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[FIRST:.*]]: memref<4xf32>, %[[SECOND:.*]]: memref<4xf32>, %[[THIRD:.*]]: memref<4xf32>) {
// CHECK-NOT: memref.alloc
// CHECK: outs(%[[FIRST]] : memref<4xf32>)
// CHECK: memref.copy %[[FIRST]], %[[SECOND]]
// CHECK: memref.copy %[[A]], %[[THIRD]]
// CHECK: return{{$}}
func.func @twice(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %r = arith.addf %a, %a : tensor<4xf32>
  return %r, %r, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// BOX-LABEL: func @numbers(
// BOX-SAME: %[[S:.*]]: tensor<f16>, %[[P:.*]]: tensor<i1>) -> (tensor<f16>, tensor<i1>)
// BOX: %[[X:.*]] = tensor.extract %[[S]][] : tensor<f16>
// BOX: tensor.from_elements %{{.*}} : tensor<f16>
// CHECK-LABEL: func @numbers(
// CHECK-SAME: %[[S:.*]]: memref<f16>, %[[P:.*]]: memref<i8>, %[[R:.*]]: memref<f16>, %[[Q:.*]]: memref<i8>) {
// CHECK: %[[BYTE:.*]] = memref.load %[[P]][] : memref<i8>
// CHECK: %[[BIT:.*]] = arith.cmpi ne, %[[BYTE]], %{{.*}} : i8
// CHECK: %[[STORED:.*]] = arith.extui %[[BIT]] : i1 to i8
// CHECK: memref.store %[[STORED]], %[[Q]][] : memref<i8>
func.func @numbers(%s: f16, %p: i1) -> (f16, i1) {
  %r = arith.addf %s, %s : f16
  return %r, %p : f16, i1
}

// -----

// CHECK: memref.global "private" constant @{{.*}} : memref<3xi8> = dense<[1, 0, 1]>
// CHECK-LABEL: func @masks(
// CHECK-SAME: %[[M:.*]]: memref<3xi8>, %[[R:.*]]: memref<3xi8>) {
// CHECK: linalg.generic
// CHECK: ^bb0(%[[X:.*]]: i8, %[[Y:.*]]: i8, %{{.*}}: i8):
// CHECK: %[[YB:.*]] = arith.cmpi ne, %[[Y]]
// CHECK: %[[XB:.*]] = arith.cmpi ne, %[[X]]
// CHECK: %[[AND:.*]] = arith.andi %[[XB]], %[[YB]] : i1
// CHECK: %[[OUT:.*]] = arith.extui %[[AND]] : i1 to i8
// CHECK: linalg.yield %[[OUT]] : i8
func.func @masks(%m: tensor<3xi1>) -> tensor<3xi1> {
  %c = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %r = arith.andi %m, %c : tensor<3xi1>
  return %r : tensor<3xi1>
}

// -----

// Steps and dropped dimensions are apart: upstream aborts on both in one.
// CHECK-LABEL: func @slices(
// CHECK: memref.subview %{{.*}}[0, 0, 0] [1, 1, 4] [1, 1, 2] : memref<8x1x9xi32> to memref<1x1x4xi32
// CHECK: memref.subview %{{.*}}[0, 0, 0] [1, 1, 4] [1, 1, 1] : memref<1x1x4xi32, {{.*}}> to memref<1x4xi32
func.func @slices(%a: tensor<8x1x9xi32>) -> tensor<1x4xi32> {
  // A step over one element is none.
  %s = tensor.extract_slice %a[0, 0, 0] [1, 1, 4] [3, 1, 2] : tensor<8x1x9xi32> to tensor<1x4xi32>
  return %s : tensor<1x4xi32>
}

// -----

// A result that is another view of what is computed: the caller's memory is that memory.
// CHECK-LABEL: func @reshaped(
// CHECK-SAME: %{{.*}}: memref<6xf32>, %[[OUT:.*]]: memref<2x3xf32>)
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [6], strides: [1]
// CHECK: linalg.generic {{.*}} outs(%[[VIEW]] : memref<6xf32>)
// CHECK-NOT: memref.copy
// CHECK: return
func.func @reshaped(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %y = math.exp %x : tensor<6xf32>
  %r = tensor.expand_shape %y [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// Without elements there is nothing to reuse, and nothing that is copied.
// CHECK-LABEL: func @reshaped_without_elements(
// CHECK-SAME: %{{.*}}: memref<2x0xf32>, %[[OUT:.*]]: memref<2x0x1xf32>)
// CHECK-NOT: memref.reinterpret_cast
// CHECK: return
func.func @reshaped_without_elements(%x: tensor<2x0xf32>) -> tensor<2x0x1xf32> {
  %y = math.exp %x : tensor<2x0xf32>
  %r = tensor.expand_shape %y [[0], [1, 2]] output_shape [2, 0, 1] : tensor<2x0xf32> into tensor<2x0x1xf32>
  return %r : tensor<2x0x1xf32>
}
