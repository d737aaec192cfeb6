// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --split-input-file | FileCheck %s --implicit-check-not=xetile.

// Messages start at multiples of four bytes, two f16: each rule for what divides a place, where it says so and where one of
// its parts is odd. Then the place is tested in the run, and the tile read element by element where it is odd.

// A loop's lower bound and its step.
// CHECK-LABEL: func @loop
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @loop(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %x = %c0 to %n step %c8 {
    %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
    %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
    %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
    xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  }
  return
}

// -----

// CHECK-LABEL: func @lower_bound
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @lower_bound(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %x = %c1 to %n step %c8 {
    %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
    %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
    %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
    xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  }
  return
}

// -----

// CHECK-LABEL: func @step
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @step(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  scf.for %x = %c0 to %n step %c3 {
    %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
    %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
    %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
    xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  }
  return
}

// -----

// What a loop carries: its start, and what is added.
// CHECK-LABEL: func @carried
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @carried(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %r = scf.for %i = %c0 to %n step %c16 iter_args(%x = %c0) -> (index) {
    %y = arith.addi %x, %c8 : index
    %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
    %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
    %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
    xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
    scf.yield %y : index
  }
  return
}

// -----

// CHECK-LABEL: func @start
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @start(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %r = scf.for %i = %c0 to %n step %c16 iter_args(%x = %c1) -> (index) {
    %y = arith.addi %x, %c8 : index
    %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
    %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
    %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
    xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
    scf.yield %y : index
  }
  return
}

// -----

// CHECK-LABEL: func @added
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @added(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %r = scf.for %i = %c0 to %n step %c16 iter_args(%x = %c0) -> (index) {
    %y = arith.addi %x, %c3 : index
    %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
    %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
    %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
    xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
    scf.yield %y : index
  }
  return
}

// -----

// The same behind the loop.
// CHECK-LABEL: func @behind
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @behind(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %x = scf.for %i = %c0 to %n step %c16 iter_args(%y = %c0) -> (index) {
    %z = arith.addi %y, %c8 : index
    scf.yield %z : index
  }
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @start_of_behind
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @start_of_behind(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %x = scf.for %i = %c0 to %n step %c16 iter_args(%y = %c1) -> (index) {
    %z = arith.addi %y, %c8 : index
    scf.yield %z : index
  }
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @added_behind
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @added_behind(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c3 = arith.constant 3 : index
  %x = scf.for %i = %c0 to %n step %c16 iter_args(%y = %c0) -> (index) {
    %z = arith.addi %y, %c3 : index
    scf.yield %z : index
  }
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Both branches of an scf.if.
// CHECK-LABEL: func @branch
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @branch(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index, %yes: i1) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %f = arith.muli %m, %c8 : index
  %x = scf.if %yes -> (index) {
    gpu.barrier
    scf.yield %e : index
  } else {
    scf.yield %f : index
  }
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @then_branch
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @then_branch(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index, %yes: i1) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %f = arith.muli %m, %c8 : index
  %x = scf.if %yes -> (index) {
    gpu.barrier
    scf.yield %m : index
  } else {
    scf.yield %f : index
  }
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @else_branch
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @else_branch(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index, %yes: i1) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %f = arith.muli %m, %c8 : index
  %x = scf.if %yes -> (index) {
    gpu.barrier
    scf.yield %e : index
  } else {
    scf.yield %m : index
  }
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Both values of a select.
// CHECK-LABEL: func @select
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @select(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index, %yes: i1) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %f = arith.muli %m, %c8 : index
  %x = arith.select %yes, %e, %f : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @true_value
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @true_value(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index, %yes: i1) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %f = arith.muli %m, %c8 : index
  %x = arith.select %yes, %m, %f : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @false_value
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @false_value(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index, %yes: i1) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %f = arith.muli %m, %c8 : index
  %x = arith.select %yes, %e, %m : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Both operands.
// CHECK-LABEL: func @sum
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @sum(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %m8 = arith.muli %m, %c8 : index
  %x = arith.addi %e, %m8 : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @sum_with_any
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @sum_with_any(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %x = arith.addi %e, %m : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @difference
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @difference(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %m8 = arith.muli %m, %c8 : index
  %x = arith.subi %e, %m8 : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @difference_with_any
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @difference_with_any(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %x = arith.subi %e, %m : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @minimum
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @minimum(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %m8 = arith.muli %m, %c8 : index
  %x = arith.minsi %e, %m8 : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @minimum_with_any
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @minimum_with_any(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %x = arith.minsi %e, %m : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @maximum
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @maximum(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %m8 = arith.muli %m, %c8 : index
  %x = arith.maxui %e, %m8 : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @maximum_with_any
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @maximum_with_any(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %x = arith.maxui %e, %m : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @remainder
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @remainder(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %m8 = arith.muli %m, %c8 : index
  %x = arith.remui %e, %m8 : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @remainder_with_any
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @remainder_with_any(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %x = arith.remui %e, %m : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// One factor of a product is enough; a quotient says nothing.
// CHECK-LABEL: func @product
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @product(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c8 = arith.constant 8 : index
  %x = arith.muli %n, %c8 : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @odd_product
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @odd_product(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c3 = arith.constant 3 : index
  %x = arith.muli %n, %c3 : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @quotient
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @quotient(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %c16 = arith.constant 16 : index
  %e = arith.muli %n, %c16 : index
  %x = arith.divsi %e, %m : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// By a constant.
// CHECK-LABEL: func @shifted
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @shifted(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c1 = arith.constant 1 : index
  %x = arith.shli %n, %c1 : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @shifted_by_any
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @shifted_by_any(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index, %m: index) {
  %x = arith.shli %n, %m : index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// The low bits stay.
// CHECK-LABEL: func @narrowed
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @narrowed(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %c8 = arith.constant 8 : index
  %e = arith.muli %n, %c8 : index
  %w = arith.index_cast %e : index to i64
  %s = arith.trunci %w : i64 to i32
  %x = arith.index_cast %s : i32 to index
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Sums and products of an affine expression.
// CHECK-LABEL: func @affine
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: xegpu.load_nd
// CHECK-NOT: {{remui %.*%c2 |xegpu.load %}}
// CHECK: return
func.func @affine(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %x = affine.apply affine_map<(d0) -> (d0 * 8 + 16)>(%n)
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @odd_term
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @odd_term(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %x = affine.apply affine_map<(d0) -> (d0 * 8 + 1)>(%n)
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @floor_division
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @floor_division(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %x = affine.apply affine_map<(d0) -> ((d0 * 8) floordiv 3)>(%n)
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @ceil_division
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
// CHECK: return
func.func @ceil_division(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %n: index) {
  %x = affine.apply affine_map<(d0) -> ((d0 * 8) ceildiv 3)>(%n)
  %t = xetile.init_tile %A[0, %x] : memref<64x1024xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// The address of a matrix is a multiple of 64: what a subview adds to that of its source is known, or it is tested.
// CHECK-LABEL: func @subview
// CHECK-NOT: xegpu.load %
// CHECK: xegpu.load_nd
// CHECK-NOT: xegpu.load %
// CHECK: return
func.func @subview(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %i: index) {
  %s = memref.subview %A[%i, 32] [8, 64] [1, 1] : memref<64x1024xf16> to memref<8x64xf16, strided<[1024, 1], offset: ?>>
  %t = xetile.init_tile %s[0, 0] : memref<8x64xf16, strided<[1024, 1], offset: ?>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// 32 bytes to the right, rows of 48 bytes more, and columns that only the run knows.
// CHECK-LABEL: func @subview_column
// CHECK: arith.remui %{{.*}}, %c64
// CHECK: scf.if
func.func @subview_column(%A: memref<64x1024xf16>, %B: memref<64x64xf16>, %i: index) {
  %s = memref.subview %A[%i, 16] [8, 64] [1, 1] : memref<64x1024xf16> to memref<8x64xf16, strided<[1024, 1], offset: ?>>
  %t = xetile.init_tile %s[0, 0] : memref<8x64xf16, strided<[1024, 1], offset: ?>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @subview_row
// CHECK: arith.remui %{{.*}}, %c64
// CHECK: scf.if
func.func @subview_row(%A: memref<64x88xf16>, %B: memref<64x64xf16>, %i: index) {
  %s = memref.subview %A[%i, 0] [8, 64] [1, 1] : memref<64x88xf16> to memref<8x64xf16, strided<[88, 1], offset: ?>>
  %t = xetile.init_tile %s[0, 0] : memref<8x64xf16, strided<[88, 1], offset: ?>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @view
// CHECK: arith.remui %{{.*}}, %c64
// CHECK: scf.if
func.func @view(%bytes: memref<65536xi8>, %B: memref<64x64xf16>, %i: index) {
  %c32 = arith.constant 32 : index
  %shift = arith.muli %i, %c32 : index
  %s = memref.view %bytes[%shift][] : memref<65536xi8> to memref<64x64xf16>
  %t = xetile.init_tile %s[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// A cast does not change where the source begins, nor does an expanded shape.
// CHECK-LABEL: func @expanded_subview
// CHECK: arith.remui %{{.*}}, %c64
// CHECK: scf.if
func.func @expanded_subview(%A: memref<65536xf16>, %B: memref<64x64xf16>, %i: index) {
  %s = memref.subview %A[%i] [4096] [1] : memref<65536xf16> to memref<4096xf16, strided<[1], offset: ?>>
  %e = memref.expand_shape %s [[0, 1]] output_shape [64, 64] : memref<4096xf16, strided<[1], offset: ?>> into memref<64x64xf16, strided<[64, 1], offset: ?>>
  %t = xetile.init_tile %e[0, 0] : memref<64x64xf16, strided<[64, 1], offset: ?>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}
