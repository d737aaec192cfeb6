// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --cse --split-input-file | FileCheck %s --implicit-check-not=xetile.

// A pitch of 2002 bytes: each element by itself, those in the matrix.
// CHECK-LABEL: func @pitch
// CHECK-NOT: load_nd
// CHECK: %[[MASK:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : vector<8x16xindex>
// CHECK: %[[LOADED:.*]] = xegpu.load %{{.*}}[%{{.*}}], %{{.*}} : i64, vector<8x16xindex>, vector<8x16xi1> -> vector<8x16xf16>
// CHECK: arith.select %{{.*}}, %[[LOADED]], %{{.*}} : vector<8x16xi1>, vector<8x16xf16>
// CHECK-NOT: store_nd
// CHECK: xegpu.store %{{.*}} : vector<8x16xf16>, i64, vector<8x16xindex>, vector<8x16xi1>
func.func @pitch(%A: memref<64x1001xf16>, %m: index) {
  %t = xetile.init_tile %A[%m, 0] : memref<64x1001xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %o = xetile.init_tile %A[%m, 16] : memref<64x1001xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %v, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// A matrix that begins 16 bytes into its buffer.
// CHECK-LABEL: func @base
// CHECK: xegpu.load %{{.*}} : i64
func.func @base(%A: memref<64x64xf16, strided<[128, 1], offset: 8>>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[128, 1], offset: 8>> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  xetile.store_tile %v, %t : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Sizes of the run: a function that multiplies tests its matrices once, and has its loop twice.
// CHECK-LABEL: gpu.func @run_time
// CHECK: arith.remui
// CHECK: %[[OK:.*]] = arith.andi
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: xegpu.load_nd
// CHECK: xegpu.store_nd
// CHECK: } else {
// CHECK: scf.for
// An empty matrix has no element to read in place of those that are not there.
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: xegpu.load %
// CHECK: xegpu.store %
gpu.module @kernels {
  gpu.func @run_time(%A: memref<?x?xf16>, %B: memref<64x64xf16>, %rows: index, %columns: index) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %ta = xetile.init_tile %A[0, 0], [%rows, %columns], [%columns, 1] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
    %tb = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<16x16xf16>
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %r:2 = scf.for %k = %c0 to %columns step %c16 iter_args(%sum = %zero, %t = %ta) -> (vector<8x16xf32>, !xetile.tile<8x16xf16>) {
      %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
      %b = xetile.load_tile %tb : !xetile.tile<16x16xf16> -> vector<16x16xf16>
      %s = xetile.tile_mma %v, %b, %sum : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
      %n = xetile.update_tile_offset %t, [0, 16] : !xetile.tile<8x16xf16>
      scf.yield %s, %n : vector<8x16xf32>, !xetile.tile<8x16xf16>
    }
    %d = arith.truncf %r#0 : vector<8x16xf32> to vector<8x16xf16>
    xetile.store_tile %d, %ta : vector<8x16xf16>, !xetile.tile<8x16xf16>
    gpu.return
  }
}

// -----

// Where nothing is multiplied, each access tests its matrix, and the loop is there once.
// CHECK-LABEL: gpu.func @run_time_once
// CHECK: scf.for
// CHECK: scf.if
// CHECK: xegpu.load_nd
// CHECK: } else {
// CHECK: xegpu.load %
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK: xegpu.store_nd
// CHECK: } else {
// CHECK: xegpu.store %
gpu.module @kernels {
  gpu.func @run_time_once(%A: memref<?x?xf16>, %B: memref<64x64xf16>, %rows: index, %columns: index) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %ta = xetile.init_tile %A[0, 0], [%rows, %columns], [%columns, 1] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
    %zero = arith.constant dense<0.0> : vector<8x16xf16>
    %r:2 = scf.for %k = %c0 to %columns step %c16 iter_args(%sum = %zero, %t = %ta) -> (vector<8x16xf16>, !xetile.tile<8x16xf16>) {
      %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
      %s = arith.addf %sum, %v : vector<8x16xf16>
      %n = xetile.update_tile_offset %t, [0, 16] : !xetile.tile<8x16xf16>
      scf.yield %s, %n : vector<8x16xf16>, !xetile.tile<8x16xf16>
    }
    xetile.store_tile %r#0, %ta : vector<8x16xf16>, !xetile.tile<8x16xf16>
    gpu.return
  }
}

// -----

// A place that only the run knows is tested where it is used; multiples of two f16 are not.
// CHECK-LABEL: func @place
// CHECK: xegpu.load_nd
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if %[[EVEN]] -> (vector<8x16xf16>)
// CHECK: xegpu.load_nd
// CHECK: else
// CHECK: xegpu.load %
func.func @place(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %i: index) {
  %c8 = arith.constant 8 : index
  %even = arith.muli %i, %c8 : index
  %t = xetile.init_tile %A[0, %even] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %u = xetile.init_tile %A[0, %i] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  %w = xetile.load_tile %u : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %s = arith.addf %v, %w : vector<8x16xf16>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  xetile.store_tile %s, %o : vector<8x16xf16>, !xetile.tile<8x16xf16>
  return
}

// -----

// Padding at the edge is selected; inside nothing is.
// CHECK-LABEL: func @padding
// CHECK: %[[IN:.*]] = xegpu.load_nd %{{.*}}[0, 0]
// CHECK: %[[EDGE:.*]] = xegpu.load_nd %{{.*}}[60, 0]
// CHECK: %[[FULL:.*]] = arith.select %{{.*}}, %[[EDGE]], %{{.*}} : vector<8x16xi1>, vector<8x16xf32>
// CHECK: arith.addf %[[IN]], %[[FULL]]
func.func @padding(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
  %v = xetile.load_tile %t {padding = 1.0 : f32} : !xetile.tile<8x16xf32> -> vector<8x16xf32>
  %u = xetile.init_tile %A[60, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
  %w = xetile.load_tile %u {padding = 1.0 : f32} : !xetile.tile<8x16xf32> -> vector<8x16xf32>
  %s = arith.addf %v, %w : vector<8x16xf32>
  xetile.store_tile %s, %t : vector<8x16xf32>, !xetile.tile<8x16xf32>
  return
}

// -----

// Columns in memory: a transposing message; the address stands for a subview whose offset is not known.
// CHECK-LABEL: func @columns_and_subviews
// CHECK: xegpu.create_nd_tdesc %{{.*}}, shape : [64, 64], strides : [64, 1] : i64 -> !xegpu.tensor_desc<16x16xf16>
// CHECK: xegpu.load_nd %{{.*}}[8, 0] <{{.*}}transpose = array<i64: 1, 0>
func.func @columns_and_subviews(%A: memref<4x64x64xf16>, %B: memref<64x64xf16, strided<[1, 64]>>, %C: memref<64x64xf32>, %i: index) {
  %s = memref.subview %A[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<4x64x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
  %ta = xetile.init_tile %s[0, 0] : memref<64x64xf16, strided<[64, 1], offset: ?>> -> !xetile.tile<16x16xf16>
  %a = xetile.load_tile %ta : !xetile.tile<16x16xf16> -> vector<16x16xf16>
  %tb = xetile.init_tile %B[0, 8] : memref<64x64xf16, strided<[1, 64]>> -> !xetile.tile<16x16xf16, #xetile.tile_attr<order = [0, 1]>>
  %b = xetile.load_tile %tb : !xetile.tile<16x16xf16, #xetile.tile_attr<order = [0, 1]>> -> vector<16x16xf16>
  %d = xetile.tile_mma %a, %b : vector<16x16xf16>, vector<16x16xf16> -> vector<16x16xf32>
  %tc = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<16x16xf32>
  xetile.store_tile %d, %tc : vector<16x16xf32>, !xetile.tile<16x16xf32>
  return
}

// -----

// What never reaches over its matrix needs no test: 32 subgroups in a grid of 8x4 have pieces of 32 rows and 64 columns of
// 256x256. Of columns that do, only these are tested.
// CHECK-LABEL: func @inside
// CHECK-NOT: arith.minui
// CHECK: %[[ALL:.*]] = arith.constant dense<true> : vector<8x16xi1>
// CHECK: xegpu.load {{.*}}, %[[ALL]]
// CHECK-NOT: arith.select
// CHECK: return
func.func @inside(%y: memref<256x256xf32>) {
  %x = memref.alloca() : memref<256x260xf32, 3>
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %id = gpu.subgroup_id upper_bound 32 : index
  %row = arith.divui %id, %c4 : index
  %column = arith.remui %id, %c4 : index
  %m = arith.muli %row, %c32 : index
  %n = arith.muli %column, %c64 : index
  %tx = xetile.init_tile %x[%m, %n] : memref<256x260xf32, 3> -> !xetile.tile<32x64xf32, #xetile.tile_attr<memory_space = slm>>
  %ty = xetile.init_tile %y[%m, %n] : memref<256x256xf32> -> !xetile.tile<32x64xf32>
  %v = xetile.load_tile %tx : !xetile.tile<32x64xf32, #xetile.tile_attr<memory_space = slm>> -> vector<32x64xf32>
  xetile.store_tile %v, %ty : vector<32x64xf32>, !xetile.tile<32x64xf32>
  return
}

// -----

// CHECK-LABEL: func @hanging_over_rows
// CHECK: %[[LAST:.*]] = arith.constant dense<99> : vector<8x16xindex>
// CHECK: arith.minui %{{.*}}, %[[LAST]]
// CHECK: %[[MASK:.*]] = arith.cmpi ult
// CHECK: xegpu.load
// CHECK: arith.select %[[MASK]]
// CHECK: return
func.func @hanging_over_rows(%y: memref<256x256xf32>) {
  %x = memref.alloca() : memref<100x64xf32, 3>
  %c32 = arith.constant 32 : index
  %id = gpu.subgroup_id upper_bound 4 : index
  %m = arith.muli %id, %c32 : index
  %tx = xetile.init_tile %x[%m, 0] : memref<100x64xf32, 3> -> !xetile.tile<32x64xf32, #xetile.tile_attr<memory_space = slm>>
  %ty = xetile.init_tile %y[%m, 0] : memref<256x256xf32> -> !xetile.tile<32x64xf32>
  %v = xetile.load_tile %tx : !xetile.tile<32x64xf32, #xetile.tile_attr<memory_space = slm>> -> vector<32x64xf32>
  xetile.store_tile %v, %ty : vector<32x64xf32>, !xetile.tile<32x64xf32>
  return
}

// -----

// Twelve columns are stored whole, in whatever blocks they come.
// CHECK-LABEL: func @stored_whole
// CHECK-COUNT-6: arith.negf %{{.*}} : vector<8x4xf32>
// CHECK: vector.insert_strided_slice %{{.*}} : vector<8x4xf32> into vector<16x12xf32>
// CHECK: xegpu.store {{.*}} : vector<16x12xf32>, i64, vector<16x12xindex>, vector<16x12xi1>
func.func @stored_whole(%x: memref<32x48xf32>, %y: memref<32x48xf32>) {
  %tx = xetile.init_tile %x[0, 0] : memref<32x48xf32> -> !xetile.tile<16x12xf32>
  %ty = xetile.init_tile %y[0, 0] : memref<32x48xf32> -> !xetile.tile<16x12xf32>
  %v = xetile.load_tile %tx : !xetile.tile<16x12xf32> -> vector<16x12xf32>
  %p = xetile.tile_pack %v {inner_blocks = array<i64: 8, 4>} : vector<16x12xf32> -> vector<2x3x8x4xf32>
  %n = arith.negf %p : vector<2x3x8x4xf32>
  %w = xetile.tile_unpack %n {inner_blocks = array<i64: 8, 4>} : vector<2x3x8x4xf32> -> vector<16x12xf32>
  xetile.store_tile %w, %ty : vector<16x12xf32>, !xetile.tile<16x12xf32>
  return
}
