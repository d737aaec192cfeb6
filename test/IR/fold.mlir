// RUN: xetile-opt %s --canonicalize --cse | FileCheck %s

// Constants move into the static lists.
// CHECK-LABEL: func @constant_offsets
func.func @constant_offsets(%A: memref<64x64xf16>, %D: memref<?x?xf16>, %i: index) -> (!xetile.tile<8x16xf16>, !xetile.tile<8x16xf16>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c1 = arith.constant 1 : index
  // CHECK: xetile.init_tile %{{.*}}[0, %{{.*}}] : memref<64x64xf16>
  %s = xetile.init_tile %A[%c0, %i] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  // CHECK: xetile.init_tile %{{.*}}[%[[I:.*]], 0], [%[[I]], 16], [16, 1] : memref<?x?xf16>
  %d = xetile.init_tile %D[%i, %c0], [%i, %c16], [%c16, %c1] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
  return %s, %d : !xetile.tile<8x16xf16>, !xetile.tile<8x16xf16>
}

// CHECK-LABEL: func @zero_update
// CHECK-SAME: (%[[T:.*]]: !xetile.tile<8x16xf16>)
func.func @zero_update(%t: !xetile.tile<8x16xf16>) -> !xetile.tile<8x16xf16> {
  %c0 = arith.constant 0 : index
  %u = xetile.update_tile_offset %t, [%c0, 0] : !xetile.tile<8x16xf16>
  // CHECK-NEXT: return %[[T]]
  return %u : !xetile.tile<8x16xf16>
}

// A prefetch has no result and is kept for its effect on the caches.
// CHECK-LABEL: func @prefetch
func.func @prefetch(%t: !xetile.tile<8x16xf16>) {
  // CHECK: xetile.prefetch_tile
  xetile.prefetch_tile %t locality<3> : !xetile.tile<8x16xf16>
  return
}

// Equal loads are one, unless a store lies between them.
// CHECK-LABEL: func @equal_loads
func.func @equal_loads(%t: !xetile.tile<8x16xf16>) -> (vector<8x16xf16>, vector<8x16xf16>) {
  // CHECK: %[[V:.*]] = xetile.load_tile
  // CHECK-NEXT: return %[[V]], %[[V]]
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  %w = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v, %w : vector<8x16xf16>, vector<8x16xf16>
}

// CHECK-LABEL: func @store_between_loads
func.func @store_between_loads(%t: !xetile.tile<8x16xf16>, %x: vector<8x16xf16>) -> (vector<8x16xf16>, vector<8x16xf16>) {
  // CHECK: xetile.load_tile
  // CHECK: xetile.store_tile
  // CHECK: xetile.load_tile
  %v = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  xetile.store_tile %x, %t : vector<8x16xf16>, !xetile.tile<8x16xf16>
  %w = xetile.load_tile %t : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  return %v, %w : vector<8x16xf16>, vector<8x16xf16>
}
