// RUN: xetile-opt %s -xetile-outline-loops='from-nests=3' -split-input-file | FileCheck %s
// RUN: xetile-opt %s -xetile-outline-loops -split-input-file | FileCheck %s --check-prefix=FEW

// Equal nests are one function, views that start in different places too; constants are inside.
// CHECK-LABEL: func.func private @layers_loops(
// CHECK-SAME: %{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
// CHECK: linalg.exp
// CHECK-LABEL: func.func private @layers_loops_0(
// CHECK-SAME: memref<8xf32>, %{{.*}}: memref<8xf32, strided<[1], offset: ?>>)
// CHECK: memref.copy
// CHECK-LABEL: func.func private @layers_loops_1(
// CHECK-SAME: %[[X:.*]]: f32, %[[A:.*]]: memref<8xf32>)
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: scf.for %{{.*}} to %[[C8]]
// CHECK: memref.store %[[X]], %[[A]]
// CHECK-LABEL: func.func @layers(
// CHECK: call @layers_loops(%{{.*}}, %{{.*}})
// CHECK: call @layers_loops(
// CHECK: call @layers_loops_0(
// CHECK: call @layers_loops_0(
// CHECK: call @layers_loops_1(
// CHECK: memref.copy
// FEW-NOT: call
func.func @layers(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<24xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  linalg.exp ins(%b : memref<8xf32>) outs(%a : memref<8xf32>)
  %first = memref.subview %c[4] [8] [1] : memref<24xf32> to memref<8xf32, strided<[1], offset: 4>>
  %second = memref.subview %c[14] [8] [1] : memref<24xf32> to memref<8xf32, strided<[1], offset: 14>>
  memref.copy %a, %first : memref<8xf32> to memref<8xf32, strided<[1], offset: 4>>
  memref.copy %b, %second : memref<8xf32> to memref<8xf32, strided<[1], offset: 14>>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %a[%i] : memref<8xf32>
  }
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  return
}
// -----

// Loops that give results stay, and so do equal ops on one value twice: it is another function.
// CHECK-LABEL: func.func private @twice_loops(
// CHECK-SAME: %[[A:[^:]*]]: memref<8xf32>)
// CHECK: linalg.exp ins(%[[A]] {{.*}}) outs(%[[A]]
// CHECK-LABEL: func.func private @twice_loops_0(
// CHECK-SAME: memref<8xf32>, %{{.*}}: memref<8xf32>)
// CHECK-LABEL: func.func @twice(
// CHECK-NEXT: call @twice_loops(
// CHECK-NEXT: call @twice_loops_0(
// CHECK-NEXT: call @twice_loops_0(
// CHECK: scf.for
func.func @twice(%a: memref<8xf32>, %b: memref<8xf32>, %n: index) -> index {
  linalg.exp ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  linalg.exp ins(%b : memref<8xf32>) outs(%a : memref<8xf32>)
  %sum = scf.for %i = %n to %n step %n iter_args(%s = %n) -> (index) {
    %t = arith.addi %s, %i : index
    scf.yield %t : index
  }
  return %sum : index
}

// -----

// What the body of an op reads is a view as its operands are.
// CHECK-LABEL: func.func private @gather_loops(
// CHECK: %[[TABLE:[^:]*]]: memref<8xf32, strided<[1], offset: ?>>
// CHECK: linalg.generic
// CHECK: memref.load %[[TABLE]]
#map = affine_map<(i) -> (i)>
func.func @gather(%a: memref<24xf32>, %i: memref<8xindex>, %b: memref<8xf32>) {
  %part = memref.subview %a[4] [8] [1] : memref<24xf32> to memref<8xf32, strided<[1], offset: 4>>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%i : memref<8xindex>) outs(%b : memref<8xf32>) {
  ^bb0(%at: index, %out: f32):
    %x = memref.load %part[%at] : memref<8xf32, strided<[1], offset: 4>>
    linalg.yield %x : f32
  }
  linalg.exp ins(%b : memref<8xf32>) outs(%b : memref<8xf32>)
  linalg.exp ins(%b : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}
