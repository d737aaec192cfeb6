// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --split-input-file | FileCheck %s --implicit-check-not=xetile.

// What the 2D unit asks of a matrix, one requirement at a time: each of these meets all others, and is read element by
// element, by load_nd without tests where all of the tile is in a matrix of known size. The first meets all.

// CHECK-LABEL: func @fits
// CHECK: xegpu.load_nd
// CHECK: return
func.func @fits(%A: memref<64x64xf16, strided<[72, 1]>>, %B: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[72, 1]>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Rows of 128 bytes at a pitch of 136, which is no multiple of 16.
// CHECK-LABEL: func @pitch_multiple
// CHECK: xegpu.create_nd_tdesc %arg0 {{.*}}boundary_check = false
// CHECK: xegpu.load_nd
// CHECK: xegpu.store_nd
func.func @pitch_multiple(%A: memref<64x64xf16, strided<[68, 1]>>, %B: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[68, 1]>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Stores and prefetches ask for the same.
// CHECK-LABEL: func @pitch_multiple_of_other_accesses
// CHECK-NOT: _nd
// CHECK: xegpu.prefetch %
// CHECK: xegpu.create_nd_tdesc %arg0 {{.*}}boundary_check = false
// CHECK: xegpu.store_nd
func.func @pitch_multiple_of_other_accesses(%A: memref<64x64xf16, strided<[68, 1]>>, %v: vector<8x16xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[68, 1]>> -> !xetile.tile<8x16xf16>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<8x16xf16>
  xetile.store_tile %v, %t : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// A tile that may reach over the matrix has a mask.
// CHECK-LABEL: func @pitch_multiple_over_the_edge
// CHECK-NOT: boundary_check = false
// CHECK: xegpu.load %
// CHECK: xegpu.store %
func.func @pitch_multiple_over_the_edge(%A: memref<64x64xf16, strided<[68, 1]>>, %row: index) {
  %t = xetile.init_tile %A[%row, 0] : memref<64x64xf16, strided<[68, 1]>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  xetile.store_tile %v, %t : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// 60 bytes.
// CHECK-LABEL: func @least_width
// CHECK: xegpu.create_nd_tdesc %arg0 {{.*}}boundary_check = false
// CHECK: xegpu.load_nd
func.func @least_width(%A: memref<64x30xf16, strided<[64, 1]>>, %B: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x30xf16, strided<[64, 1]>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// 61 columns of two bytes: not whole words.
// CHECK-LABEL: func @width_multiple
// CHECK: xegpu.create_nd_tdesc %arg0 {{.*}}boundary_check = false
// CHECK: xegpu.load_nd
func.func @width_multiple(%A: memref<64x61xf16, strided<[64, 1]>>, %B: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x61xf16, strided<[64, 1]>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Rows that overlap.
// CHECK-LABEL: func @pitch_below_width
// CHECK: xegpu.create_nd_tdesc %arg0 {{.*}}boundary_check = false
// CHECK: xegpu.load_nd
func.func @pitch_below_width(%A: memref<64x64xf16, strided<[56, 1]>>, %B: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[56, 1]>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// 2^24 + 16 bytes from row to row, and 2^24 + 1 rows.
// CHECK-LABEL: func @pitch_limit
// CHECK: xegpu.create_nd_tdesc %arg0 {{.*}}boundary_check = false
// CHECK: xegpu.load_nd
func.func @pitch_limit(%A: memref<64x64xf16, strided<[8388616, 1]>>, %B: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[8388616, 1]>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// CHECK-LABEL: func @height_limit
// CHECK: xegpu.create_nd_tdesc %arg0 {{.*}}boundary_check = false
// CHECK: xegpu.load_nd
func.func @height_limit(%A: memref<16777217x64xf16>, %B: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<16777217x64xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// 32 bytes into a buffer that is aligned to 64.
// CHECK-LABEL: func @base
// CHECK-NOT: load_nd
// CHECK: xegpu.load %
func.func @base(%A: memref<64x64xf16, strided<[64, 1], offset: 16>>, %B: memref<64x64xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[64, 1], offset: 16>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// What only a run knows is asked for there, each requirement once: at least 64 bytes and at most 2^24, words,
// 2^24 rows, a pitch of at most 2^24 bytes in steps of 16 that is no less than the
// width, neighbours, and the address.
// CHECK-LABEL: func @of_the_run
// CHECK-SAME: (%[[A:[a-z0-9]+]]: i64, %{{[a-z0-9]+}}: memref<64x64xf16>, %[[ROWS:[a-z0-9]+]]: index, %[[COLUMNS:[a-z0-9]+]]: index, %[[PITCH:[a-z0-9]+]]: index, %[[STEP:[a-z0-9]+]]: index)
// CHECK-DAG: %[[WIDTH_BYTES:.*]] = arith.muli %[[COLUMNS]], %c2
// CHECK-DAG: %[[PITCH_BYTES:.*]] = arith.muli %[[PITCH]], %c2
// CHECK: %[[LEAST:.*]] = arith.cmpi uge, %[[WIDTH_BYTES]], %c64
// CHECK: %[[MOST:.*]] = arith.cmpi ule, %[[WIDTH_BYTES]], %c16777216
// CHECK: %[[OK1:.*]] = arith.andi %[[LEAST]], %[[MOST]]
// CHECK: %[[REST:.*]] = arith.remui %[[WIDTH_BYTES]], %c4
// CHECK: %[[WORDS:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: %[[OK2:.*]] = arith.andi %[[OK1]], %[[WORDS]]
// CHECK: %[[ANY:.*]] = arith.cmpi uge, %[[ROWS]], %c1
// CHECK: %[[OK3:.*]] = arith.andi %[[OK2]], %[[ANY]]
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[ROWS]], %c16777216
// CHECK: %[[OK4:.*]] = arith.andi %[[OK3]], %[[FEW]]
// CHECK: %[[SHORT:.*]] = arith.cmpi ule, %[[PITCH_BYTES]], %c16777216
// CHECK: %[[OK5:.*]] = arith.andi %[[OK4]], %[[SHORT]]
// CHECK: %[[OVER:.*]] = arith.remui %[[PITCH_BYTES]], %c16
// CHECK: %[[STEPS:.*]] = arith.cmpi eq, %[[OVER]], %c0
// CHECK: %[[OK6:.*]] = arith.andi %[[OK5]], %[[STEPS]]
// CHECK: %[[APART:.*]] = arith.cmpi uge, %[[PITCH_BYTES]], %[[WIDTH_BYTES]]
// CHECK: %[[OK7:.*]] = arith.andi %[[OK6]], %[[APART]]
// CHECK: %[[NEIGHBOURS:.*]] = arith.cmpi eq, %[[STEP]], %c1
// CHECK: %[[OK8:.*]] = arith.andi %[[OK7]], %[[NEIGHBOURS]]
// CHECK: %[[ADDRESS:.*]] = arith.index_cast %[[A]]
// CHECK: %[[BEHIND:.*]] = arith.remui %[[ADDRESS]], %c64
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[BEHIND]], %c0
// CHECK: %[[OK9:.*]] = arith.andi %[[OK8]], %[[ALIGNED]]
// CHECK: scf.if %[[OK9]]
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
func.func @of_the_run(%A: i64, %B: memref<64x64xf16>, %rows: index, %columns: index, %pitch: index, %step: index) {
  %t = xetile.init_tile %A[0, 0], [%rows, %columns], [%pitch, %step] : i64 -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Each of them by itself is reason enough to ask. The width:
// CHECK-LABEL: func @width_of_the_run
// CHECK: scf.if
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
func.func @width_of_the_run(%A: memref<?x?xf16>, %B: memref<64x64xf16>, %n: index) {
  %t = xetile.init_tile %A[0, 0], [64, %n], [64, 1] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// The height:
// CHECK-LABEL: func @height_of_the_run
// CHECK: scf.if
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
func.func @height_of_the_run(%A: memref<?x?xf16>, %B: memref<64x64xf16>, %n: index) {
  %t = xetile.init_tile %A[0, 0], [%n, 64], [64, 1] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// The pitch:
// CHECK-LABEL: func @pitch_of_the_run
// CHECK: scf.if
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
func.func @pitch_of_the_run(%A: memref<?x?xf16>, %B: memref<64x64xf16>, %n: index) {
  %t = xetile.init_tile %A[0, 0], [64, 64], [%n, 1] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// The distance of neighbours:
// CHECK-LABEL: func @step_of_the_run
// CHECK: scf.if
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
func.func @step_of_the_run(%A: memref<?x?xf16>, %B: memref<64x64xf16>, %n: index) {
  %t = xetile.init_tile %A[0, 0], [64, 64], [64, %n] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Rows of 2^64 + 64 bytes are no rows of 64:
// CHECK-LABEL: func @width_that_no_integer_has
// CHECK: xegpu.load_nd {{.*}}boundary_check = false
// CHECK: xegpu.store_nd {{.*}}boundary_check = false
func.func @width_that_no_integer_has(%A: memref<64x4611686018427387920xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x4611686018427387920xf32> -> !xetile.tile<8x16xf32>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf32> -> vector<8x16xf32>
  xetile.store_tile %v, %t : vector<8x16xf32>, !xetile.tile<8x16xf32>
  return
}

// -----

// CHECK-LABEL: func @largest_sides
// CHECK: xegpu.store_nd {{.*}}boundary_check = false
func.func @largest_sides(%A: memref<9223372036854775807x9223372036854775807xbf16>, %v: vector<8x16xbf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<9223372036854775807x9223372036854775807xbf16> -> !xetile.tile<8x16xbf16>
  xetile.store_tile %v, %t : vector<8x16xbf16>, !xetile.tile<8x16xbf16>
  return
}

// -----

// A row that is known to be inside is not tested, which leaves it a message without a matrix; one that hangs over is.
// CHECK-LABEL: func @rows
// CHECK: %[[INSIDE:.*]] = xegpu.create_nd_tdesc %arg0 {{.*}}!xegpu.tensor_desc<1x16xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
// CHECK: xegpu.load_nd %[[INSIDE]][3, 16]
// CHECK: %[[OVER:.*]] = xegpu.create_nd_tdesc %arg0 {{.*}}!xegpu.tensor_desc<1x16xf32>
// CHECK: xegpu.load_nd %[[OVER]][3, 56]
func.func @rows(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  %t = xetile.init_tile %A[3, 16] : memref<64x64xf32> -> !xetile.tile<1x16xf32>
  %v = xetile.load_tile %t : !xetile.tile<1x16xf32> -> vector<1x16xf32>
  %u = xetile.init_tile %A[3, 56] : memref<64x64xf32> -> !xetile.tile<1x16xf32>
  %w = xetile.load_tile %u : !xetile.tile<1x16xf32> -> vector<1x16xf32>
  %x = arith.addf %v, %w : vector<1x16xf32>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<1x16xf32>
  xetile.store_tile %x, %o : vector<1x16xf32>, !xetile.tile<1x16xf32>
  return
}

// -----

// Two blocks of a column are one access of neighbours; of 24 rows no two pairs are.
// CHECK-LABEL: func @columns
// CHECK: xegpu.load_nd {{.*}} -> vector<16x1xf32>
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [8, 0], sizes = [8, 1], strides = [1, 1]}
// CHECK: xegpu.load_nd {{.*}} -> vector<16x1xf32>
// CHECK-NOT: xegpu.load_nd {{.*}} -> vector<16x1xf32>
// CHECK-COUNT-3: xegpu.load_nd {{.*}} -> vector<8x1xf32>
func.func @columns(%A: memref<64x1xf32>, %B: memref<64x64xf32>) {
  %t = xetile.init_tile %A[8, 0] : memref<64x1xf32> -> !xetile.tile<32x1xf32>
  %v = xetile.load_tile %t : !xetile.tile<32x1xf32> -> vector<32x1xf32>
  %x = xetile.tile_broadcast %v, [1] : vector<32x1xf32> -> vector<32x16xf32>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<32x16xf32>
  xetile.store_tile %x, %o : vector<32x16xf32>, !xetile.tile<32x16xf32>
  %u = xetile.init_tile %A[8, 0] : memref<64x1xf32> -> !xetile.tile<24x1xf32>
  %w = xetile.load_tile %u : !xetile.tile<24x1xf32> -> vector<24x1xf32>
  %y = xetile.tile_broadcast %w, [1] : vector<24x1xf32> -> vector<24x16xf32>
  %p = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<24x16xf32>
  xetile.store_tile %y, %p : vector<24x16xf32>, !xetile.tile<24x16xf32>
  return
}
