// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --split-input-file | FileCheck %s --implicit-check-not=xetile.

// Places in views of memory, by the rules of known-multiple.mlir.

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
