// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --split-input-file | FileCheck %s --implicit-check-not=xetile.

// Places that loops and branches give, by the rules of known-multiple.mlir: where one of the parts is odd the place is tested.

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
