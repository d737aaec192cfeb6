// Threads wait for one another once where a parallel loop ends.
// RUN: xetile-opt %s --convert-scf-to-openmp --xetile-join-once | FileCheck %s

// CHECK-LABEL: func @loop
// CHECK: omp.parallel
// CHECK: omp.wsloop nowait
func.func @loop(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %zero, %a[%i] : memref<8xf32>
    scf.reduce
  }
  return
}

// Sums of all threads are read behind the loop.
// CHECK-LABEL: func @sum
// CHECK: omp.wsloop
// CHECK-NOT: nowait
func.func @sum(%a: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    %x = memref.load %a[%i] : memref<8xf32>
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      scf.reduce.return %s : f32
    }
  }
  return %sum : f32
}

// Something follows in the region, and reads what the loop wrote.
// CHECK-LABEL: func @more
// CHECK: omp.wsloop
// CHECK-NOT: nowait
func.func @more(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%c8) step (%c1) {
        memref.store %zero, %a[%i] : memref<8xf32>
        omp.yield
      }
    }
    %x = memref.load %a[%c0] : memref<8xf32>
    memref.store %x, %a[%c1] : memref<8xf32>
    omp.terminator
  }
  return
}
