// i1 in memory is a byte, whose other bits count for nothing.
// RUN: xetile-opt %s --xetile-store-bits-as-bytes | FileCheck %s

// CHECK-LABEL: func @f(
// CHECK-SAME: %[[M:.*]]: memref<3xi8>, %[[I:.*]]: index) -> i1
// CHECK: %[[BYTE:.*]] = memref.load %[[M]][%[[I]]] : memref<3xi8>
// CHECK: %[[BIT:.*]] = arith.cmpi ne, %[[BYTE]], %{{.*}} : i8
// CHECK: %[[NOT:.*]] = arith.xori %[[BIT]], %{{.*}} : i1
// CHECK: %[[STORED:.*]] = arith.extui %[[NOT]] : i1 to i8
// CHECK: memref.store %[[STORED]], %[[M]][%[[I]]] : memref<3xi8>
func.func @f(%m: memref<3xi1>, %i: index) -> i1 {
  %b = memref.load %m[%i] : memref<3xi1>
  %n = arith.constant true
  %x = arith.xori %b, %n : i1
  memref.store %x, %m[%i] : memref<3xi1>
  return %x : i1
}
