// RUN: xetile-opt %s --xetile-report-expectations | FileCheck %s

// The first that does not hold is told, behind other results; the threads of a loop record in turns.
// CHECK-LABEL: func.func @f(
// CHECK-SAME: -> (memref<?xf32>, i64, i64, i64)
// CHECK-SAME: xetile.expectations = {{\[\[}}"cf.assert in line 4", "a"], ["tensor.extract in line 5", "b"]]
// CHECK: %[[STATUS:.*]] = memref.alloca() : memref<4xi64>
// CHECK: scf.parallel
// CHECK: scf.if
// CHECK: %[[BEFORE:.*]] = memref.atomic_rmw assign %c2_i64, %[[STATUS]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[BEFORE]]
// CHECK: scf.if %[[FIRST]]
// CHECK: memref.store %c2_i64, %[[STATUS]]
// CHECK: memref.store %arg2, %[[STATUS]]
// CHECK: memref.store %arg3, %[[STATUS]]
// CHECK: %[[NUMBER:.*]] = memref.load %[[STATUS]]
// CHECK: %[[GOT:.*]] = memref.load %[[STATUS]]
// CHECK: %[[BOUND:.*]] = memref.load %[[STATUS]]
// CHECK: return %arg0, %[[NUMBER]], %[[GOT]], %[[BOUND]]
func.func @f(%a: memref<?xf32>, %holds: i1, %got: i64, %bound: i64) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c2_i64 = arith.constant 2 : i64
  scf.parallel (%i) = (%c0) to (%c9) step (%c1) {
    func.call @xetile_expect(%c2_i64, %holds, %got, %bound) : (i64, i1, i64, i64) -> ()
  }
  return %a : memref<?xf32>
}

// A loop that an expectation may be to end does.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.while
// CHECK: %[[TAKEN:.*]] = memref.load
// CHECK: %[[FREE:.*]] = arith.cmpi eq, %[[TAKEN]]
// CHECK: %[[GOES:.*]] = arith.andi %arg0, %[[FREE]]
// CHECK: scf.condition(%[[GOES]])
func.func @loop(%holds: i1, %n: i64) {
  call @xetile_expect(%n, %holds, %n, %n) : (i64, i1, i64, i64) -> ()
  scf.while : () -> () {
    scf.condition(%holds)
  } do {
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func @expects_nothing(
// CHECK-NEXT: return
func.func @expects_nothing() {
  return
}
// CHECK-NOT: xetile_expect
func.func private @xetile_expect(i64, i1, i64, i64)
  attributes {xetile.expectations = [["cf.assert in line 4", "a"], ["tensor.extract in line 5", "b"]]}
