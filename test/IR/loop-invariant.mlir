// RUN: xetile-opt %s --loop-invariant-code-motion | FileCheck %s

// Tiles and arithmetic on vectors leave loops; loads, which stores in the loop may change, do not.
// CHECK-LABEL: func @loop
func.func @loop(%A: memref<64x64xf32>, %x: vector<8x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: xetile.init_tile
  // CHECK: xetile.tile_reduce
  // CHECK: scf.for
  // CHECK: xetile.load_tile
  // CHECK: xetile.store_tile
  scf.for %i = %c0 to %n step %c1 {
    %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
    %r = xetile.tile_reduce <add> %x, [1] : vector<8x16xf32> -> vector<8x1xf32>
    %b = xetile.tile_broadcast %r, [1] : vector<8x1xf32> -> vector<8x16xf32>
    %v = xetile.load_tile %t : !xetile.tile<8x16xf32> -> vector<8x16xf32>
    %s = arith.addf %v, %b : vector<8x16xf32>
    xetile.store_tile %s, %t : vector<8x16xf32>, !xetile.tile<8x16xf32>
  }
  return
}
