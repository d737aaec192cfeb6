// RUN: xetile-opt %s --xetile-share-rows --canonicalize | FileCheck %s
// RUN: xetile-opt %s --xetile-share-rows=threads=2 --canonicalize | FileCheck %s --check-prefix=THREADS
// RUN: not xetile-opt %s --xetile-share-rows=threads=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NEGATIVE: error: threads = -1: expected 0 (the machine's cores) or more

// CHECK-LABEL: func @rows
// CHECK: %[[SCRATCH:.*]] = memref.alloc()
// CHECK: scf.for %{{.*}} = %c0 to %c6 step %c1
// CHECK: linalg.fill {{.*}} outs(%[[SCRATCH]]
// CHECK: memref.dealloc %[[SCRATCH]]
// Two threads: three blocks each, a buffer each.
// THREADS-LABEL: func @rows
// THREADS: scf.forall (%[[ID:.*]]) in (2) {
// THREADS: %[[SCRATCH:.*]] = memref.alloc()
// THREADS: scf.for
// THREADS: linalg.fill {{.*}} outs(%[[SCRATCH]]
// THREADS: memref.dealloc %[[SCRATCH]]
func.func @rows(%x: memref<4x6xf32>, %v: f32) {
  scf.forall (%i, %j) = (0, 0) to (4, 6) step (2, 2) {
    %row = memref.subview %x[%i, %j] [2, 2] [1, 1] : memref<4x6xf32> to memref<2x2xf32, strided<[6, 1], offset: ?>>
    %scratch = memref.alloc() : memref<2x2xf32>
    linalg.fill ins(%v : f32) outs(%scratch : memref<2x2xf32>)
    memref.copy %scratch, %row : memref<2x2xf32> to memref<2x2xf32, strided<[6, 1], offset: ?>>
    memref.dealloc %scratch : memref<2x2xf32>
  } {xetile.rows}
  return
}

// Scratch of loops in a block, too, is there once for a thread.
// CHECK-LABEL: func @inner_loop
// CHECK: %[[INNER:.*]] = memref.alloc()
// CHECK: scf.for
// CHECK: scf.for
// CHECK: linalg.fill {{.*}} outs(%[[INNER]]
// CHECK: memref.dealloc %[[INNER]]
func.func @inner_loop(%x: memref<4x2xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.forall (%i) = (0) to (4) step (2) {
    %row = memref.subview %x[%i, 0] [2, 2] [1, 1] : memref<4x2xf32> to memref<2x2xf32, strided<[2, 1], offset: ?>>
    scf.for %j = %c0 to %c7 step %c1 {
      %scratch = memref.alloc() : memref<2x2xf32>
      linalg.fill ins(%v : f32) outs(%scratch : memref<2x2xf32>)
      memref.copy %scratch, %row : memref<2x2xf32> to memref<2x2xf32, strided<[2, 1], offset: ?>>
      memref.dealloc %scratch : memref<2x2xf32>
    }
  } {xetile.rows}
  return
}

// Loops of others stay.
// CHECK-LABEL: func @other
// CHECK: scf.forall (%{{.*}}) in (4)
func.func @other(%x: memref<4xf32>, %v: f32) {
  scf.forall (%i) in (4) {
    memref.store %v, %x[%i] : memref<4xf32>
  }
  return
}
