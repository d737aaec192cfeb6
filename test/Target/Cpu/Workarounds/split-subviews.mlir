// RUN: xetile-opt %s --xetile-split-subviews | FileCheck %s
// RUN: xetile-opt %s --xetile-split-subviews --expand-strided-metadata --lower-affine --convert-to-llvm --reconcile-unrealized-casts \
// RUN:   | FileCheck %s --check-prefix=LLVM

// Upstream believes that the first dimension was dropped, the type has the last one left out.
// CHECK-LABEL: func @unclear
// CHECK: %[[ALL:.*]] = memref.subview %{{.*}}[1, 1, 3] [1, 6, 1] [1, 1, 1] : {{.*}} to memref<1x6x1xf32, strided<[?, ?, ?], offset: ?>>
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}:3, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata %[[ALL]]
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [1, 6], strides: [%[[STRIDES]]#0, %[[STRIDES]]#1]
// LLVM-LABEL: llvm.func @unclear
func.func @unclear(%a: memref<?x?x?xf32, strided<[?, ?, ?]>>, %i: index, %j: index) -> f32 {
  %s = memref.subview %a[1, 1, 3] [1, 6, 1] [1, 1, 1]
      : memref<?x?x?xf32, strided<[?, ?, ?]>> to memref<1x6xf32, strided<[?, ?], offset: ?>>
  %e = memref.load %s[%i, %j] : memref<1x6xf32, strided<[?, ?], offset: ?>>
  return %e : f32
}

// Strides tell here: nothing changes.
// CHECK-LABEL: func @clear
// CHECK-NEXT: %[[S:.*]] = memref.subview %{{.*}} to memref<1x6xf32, strided<[63, 7], offset: 73>>
// CHECK-NEXT: memref.load %[[S]]
func.func @clear(%a: memref<3x9x7xf32>, %i: index, %j: index) -> f32 {
  %s = memref.subview %a[1, 1, 3] [1, 6, 1] [1, 1, 1] : memref<3x9x7xf32> to memref<1x6xf32, strided<[63, 7], offset: 73>>
  %e = memref.load %s[%i, %j] : memref<1x6xf32, strided<[63, 7], offset: 73>>
  return %e : f32
}
