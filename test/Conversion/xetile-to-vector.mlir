// RUN: xetile-opt %s --convert-xetile-to-vector --split-input-file | FileCheck %s

// A tile that is inside of its matrix is read at once.
// CHECK-LABEL: func @inside
// CHECK-SAME: (%[[A:.*]]: memref<64x64xf16>
func.func @inside(%A: memref<64x64xf16>) -> vector<8x16xf16> {
  // CHECK: %[[M:.*]] = memref.reinterpret_cast
  // CHECK-SAME: to memref<?x?xf16, strided<[?, 1], offset: ?>>
  // CHECK-NOT: scf.if
  // CHECK: vector.transfer_read %[[M]]{{.*}} {in_bounds = [true, true]}
  // CHECK-NOT: alloca
  %t = xetile.init_tile %A[56, 48] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}

// -----

// One over the edge is padded and copied element by element, within the bounds of the tile and the matrix.
// CHECK-LABEL: func @edge
// CHECK-SAME: %[[I:[^:]*]]: index)
func.func @edge(%A: memref<64x64xf16>, %i: index) -> vector<8x16xf16> {
  // CHECK: %[[BUFFER:.*]] = memref.alloca() : memref<8x16xf16>
  // CHECK: arith.cmpi sge, %[[I]]
  // CHECK: scf.if %{{.*}} -> (vector<8x16xf16>) {
  // CHECK: vector.transfer_read {{.*}}in_bounds = [true, true]
  // CHECK: } else {
  // CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : vector<8x16xf16>
  // CHECK: vector.transfer_write %[[ONES]], %[[BUFFER]]
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: memref.load
  // CHECK: memref.store %{{.*}}, %[[BUFFER]]
  // CHECK: vector.transfer_read %[[BUFFER]]
  %t = xetile.init_tile %A[%i, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t {padding = 1.0 : f16} : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}

// -----

// It is inside if it is within all four edges.
// CHECK-LABEL: func @corner
// CHECK-SAME: %[[I:[^:]*]]: index, %[[J:[^:]*]]: index)
// CHECK-DAG: %[[TOP:.*]] = arith.cmpi sge, %[[I]], %
// CHECK-DAG: %[[BOTTOM:.*]] = arith.cmpi sle, %[[I]], %
// CHECK-DAG: %[[LEFT:.*]] = arith.cmpi sge, %[[J]], %
// CHECK-DAG: %[[RIGHT:.*]] = arith.cmpi sle, %[[J]], %
// CHECK-DAG: %[[ROWS:.*]] = arith.andi %[[TOP]], %[[BOTTOM]]
// CHECK-DAG: %[[AND:.*]] = arith.andi %[[ROWS]], %[[LEFT]]
// CHECK-DAG: %[[INSIDE:.*]] = arith.andi %[[AND]], %[[RIGHT]]
// CHECK: scf.if %[[INSIDE]]
func.func @corner(%A: memref<64x64xf16>, %i: index, %j: index) -> vector<8x16xf16> {
  %t = xetile.init_tile %A[%i, %j] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}

// -----

// A column-major tile is read in memory order and transposed.
// CHECK-LABEL: func @columns
func.func @columns(%A: memref<64x64xf16, strided<[1, 80]>>) -> vector<8x16xf16> {
  // CHECK: vector.transfer_read {{.*}} vector<16x8xf16>
  // CHECK: vector.transpose %{{.*}}, [1, 0] : vector<16x8xf16> to vector<8x16xf16>
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16, strided<[1, 80]>> -> !xetile.tile<8x16xf16, #xetile.tile_attr<order = [0, 1]>>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16, #xetile.tile_attr<order = [0, 1]>> -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}

// -----

// A tile in a loop becomes its parts; moving it is arithmetic.
// CHECK-LABEL: func @loop
func.func @loop(%A: memref<64x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  // CHECK: scf.for {{.*}} iter_args({{.*}}) -> (memref<?x?xf16, strided<[?, 1], offset: ?>>, index, index, index, index)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %t) -> !xetile.tile<8x16xf16> {
    // CHECK: memref.prefetch %{{.*}}, read, locality<3>, data
    xetile.prefetch_tile %u locality<3> : !xetile.tile<8x16xf16>
    // CHECK: arith.addi
    // CHECK: scf.yield
    %next = xetile.update_tile_offset %u, [0, 16] : !xetile.tile<8x16xf16>
    scf.yield %next : !xetile.tile<8x16xf16>
  }
  return
}

// -----

// Tiles pass through functions.
// CHECK-LABEL: func private @callee(memref<?x?xf16, strided<[?, 1], offset: ?>>, index, index, index, index) -> vector<8x16xf16>
func.func private @callee(!xetile.tile<8x16xf16>) -> vector<8x16xf16>
// CHECK-LABEL: func @caller
func.func @caller(%t: !xetile.tile<8x16xf16>) -> vector<8x16xf16> {
  // CHECK: call @callee(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  %v = func.call @callee(%t) : (!xetile.tile<8x16xf16>) -> vector<8x16xf16>
  return %v : vector<8x16xf16>
}

// -----

// Factors are widened to the type of the sum.
// CHECK-LABEL: func @mma
func.func @mma(%a: vector<8x16xi8>, %b: vector<16x4xi8>, %c: vector<8x4xi32>) -> vector<8x4xi32> {
  // CHECK: arith.extsi %{{.*}} : vector<8x16xi8> to vector<8x16xi32>
  // CHECK: arith.extsi %{{.*}} : vector<16x4xi8> to vector<16x4xi32>
  // CHECK: vector.contract {{.*}} : vector<8x16xi32>, vector<16x4xi32> into vector<8x4xi32>
  %d = xetile.tile_mma %a, %b, %c : vector<8x16xi8>, vector<16x4xi8>, vector<8x4xi32> -> vector<8x4xi32>
  return %d : vector<8x4xi32>
}

// -----

// CHECK-LABEL: func @unsigned
func.func @unsigned(%a: vector<8x16xi8>, %b: vector<16x4xi8>) -> vector<8x4xi32> {
  // CHECK: arith.extsi %{{.*}} : vector<8x16xi8> to vector<8x16xi32>
  // CHECK: arith.extui %{{.*}} : vector<16x4xi8> to vector<16x4xi32>
  %d = xetile.tile_mma %a, %b {unsigned_b} : vector<8x16xi8>, vector<16x4xi8> -> vector<8x4xi32>
  return %d : vector<8x4xi32>
}

// -----

// CHECK-LABEL: func @scattered
// CHECK-SAME: %[[P:.*]]: i64, %[[I:.*]]: vector<2x8xindex>, %[[M:.*]]: vector<2x8xi1>
func.func @scattered(%address: i64, %indices: vector<2x8xindex>, %mask: vector<2x8xi1>) {
  // CHECK: llvm.inttoptr %[[P]]
  // CHECK: %[[BASE:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?xf32>
  %t = xetile.init_tile %address, %indices : i64, vector<2x8xindex> -> !xetile.tile<2x8xf32, #xetile.tile_attr<scatter = true>>
  // CHECK: vector.gather %[[BASE]][%{{.*}}] [%{{.*}}], %{{.*}}, %{{.*}} : memref<?xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  %v = xetile.load_gather %t, %mask : !xetile.tile<2x8xf32, #xetile.tile_attr<scatter = true>>, vector<2x8xi1> -> vector<2x8xf32>
  // CHECK: vector.scatter %[[BASE]]
  xetile.store_scatter %v, %mask, %t : vector<2x8xf32>, vector<2x8xi1>, !xetile.tile<2x8xf32, #xetile.tile_attr<scatter = true>>
  return
}

// -----

// The padding is what a gather passes through where the mask is off.
// CHECK-LABEL: func @padded_gather
func.func @padded_gather(%address: i64, %indices: vector<2x8xindex>, %mask: vector<2x8xi1>) -> vector<2x8xf32> {
  %t = xetile.init_tile %address, %indices : i64, vector<2x8xindex> -> !xetile.tile<2x8xf32, #xetile.tile_attr<scatter = true>>
  // CHECK: %[[SEVENS:.*]] = arith.constant dense<7.000000e+00> : vector<16xf32>
  // CHECK: vector.gather %{{.*}}, %[[SEVENS]] :
  %v = xetile.load_gather %t, %mask {padding = 7.0 : f32} : !xetile.tile<2x8xf32, #xetile.tile_attr<scatter = true>>, vector<2x8xi1> -> vector<2x8xf32>
  return %v : vector<2x8xf32>
}

// -----

// A stride that must be 1 but is only known at run time is checked there.
// CHECK-LABEL: func @stride
// CHECK-SAME: %[[S:[^:]*]]: index)
func.func @stride(%address: i64, %s: index) -> vector<8x16xf32> {
  // CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[S]], %{{.*}}
  // CHECK: cf.assert %[[ONE]], "xetile.init_tile: expected stride 1 in the fastest-changing dimension"
  %t = xetile.init_tile %address[0, 0], [64, 64], [64, %s] : i64 -> !xetile.tile<8x16xf32>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf32> -> vector<8x16xf32>
  return %v : vector<8x16xf32>
}

// -----

// CHECK-LABEL: func @reduce
func.func @reduce(%v: vector<8x16xf32>) -> (vector<8x1xf32>, vector<1x1xf32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : vector<8xf32>
  // CHECK: %[[SUM:.*]] = vector.multi_reduction <add>, %{{.*}}, %[[ZERO]] [1] : vector<8x16xf32> to vector<8xf32>
  // CHECK: vector.shape_cast %[[SUM]] : vector<8xf32> to vector<8x1xf32>
  %r = xetile.tile_reduce <add> %v, [1] : vector<8x16xf32> -> vector<8x1xf32>
  // CHECK: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK: %[[MAX:.*]] = vector.multi_reduction <maxnumf>, %{{.*}}, %[[NAN]] [0, 1] : vector<8x16xf32> to f32
  // CHECK: vector.broadcast %[[MAX]] : f32 to vector<1x1xf32>
  %m = xetile.tile_reduce <maxnumf> %v, [0, 1] : vector<8x16xf32> -> vector<1x1xf32>
  return %r, %m : vector<8x1xf32>, vector<1x1xf32>
}

// -----

// CHECK-LABEL: func @pack
func.func @pack(%v: vector<64x32xf32>) -> vector<4x2x16x16xf32> {
  // CHECK: vector.shape_cast %{{.*}} : vector<64x32xf32> to vector<4x16x2x16xf32>
  // CHECK: vector.transpose %{{.*}}, [0, 2, 1, 3] : vector<4x16x2x16xf32> to vector<4x2x16x16xf32>
  %p = xetile.tile_pack %v {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  return %p : vector<4x2x16x16xf32>
}

// -----

// CHECK-LABEL: func @no_tiles
// CHECK-NEXT: return
func.func @no_tiles() { return }
