// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --split-input-file | FileCheck %s --implicit-check-not=xetile.

// Messages start at multiples of four bytes, two f16: each rule for what divides a place, where it says so and where one of
// its parts is odd. Then the place is tested in the run, and the tile read element by element where it is odd.
// Loops and branches are known-multiple-control-flow.mlir's, views of memory known-multiple-memory.mlir's.

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
