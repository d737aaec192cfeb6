// Products of tiles of other sizes than 16 x 16 sums, with the loops that hold no others, are functions of their own.
// RUN: xetile-opt %s --xetile-outline-tiles --split-input-file | FileCheck %s

// The loop over columns is part of the function; beside whole tiles the rows of 13 are not.
// CHECK-LABEL: func private @both_tiles
// CHECK-SAME: (%[[A:.*]]: memref<13x32xbf16>, %[[B:.*]]: memref<16x128xbf16>, %[[C:.*]]: memref<13x64xf32>)
// CHECK-SAME: passthrough = ["noinline"]
// CHECK: scf.for
// CHECK: scf.execute_region
// CHECK: amx.tile_mulf {{.*}} !amx.tile<13x16xf32>
// CHECK: return
// CHECK-LABEL: func @both(
// CHECK: scf.for
// CHECK: amx.tile_mulf {{.*}} !amx.tile<16x16xf32>
// CHECK: call @both_tiles(
// CHECK-NOT: 13x16xf32
func.func @both(%a: memref<13x32xbf16>, %b: memref<16x128xbf16>, %c: memref<13x64xf32>,
                %d: memref<16x32xbf16>, %e: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %m = %c0 to %c2 step %c1 {
    %x = amx.tile_load %d[%c0, %c0] : memref<16x32xbf16> into !amx.tile<16x32xbf16>
    %s = amx.tile_load %e[%c0, %c0] : memref<16x16xf32> into !amx.tile<16x16xf32>
    %t = amx.tile_mulf %x, %x, %s : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
    amx.tile_store %e[%c0, %c0], %t : memref<16x16xf32>, !amx.tile<16x16xf32>
    scf.for %n = %c0 to %c64 step %c16 {
      scf.execute_region {
        %y = amx.tile_load %a[%c0, %c0] : memref<13x32xbf16> into !amx.tile<13x32xbf16>
        %n2 = arith.muli %n, %c2 : index
        %z = amx.tile_load %b[%c0, %n2] : memref<16x128xbf16> into !amx.tile<16x32xbf16>
        %zero = amx.tile_zero : !amx.tile<13x16xf32>
        %u = amx.tile_mulf %y, %z, %zero : !amx.tile<13x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<13x16xf32>
        amx.tile_store %c[%c0, %n], %u : memref<13x64xf32>, !amx.tile<13x16xf32>
        scf.yield
      }
    }
  }
  return
}

// -----

// Nothing but such rows: each thread calls the function once.
// CHECK-LABEL: func private @threads_tiles
// CHECK-SAME: index
// CHECK: scf.for
// CHECK: amx.tile_muli
// CHECK-LABEL: func @threads(
// CHECK: scf.forall
// CHECK-NEXT: call @threads_tiles(
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @threads(%a: memref<5x64xi8>, %b: memref<16x64xi8>, %c: memref<2x5x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.forall (%i) in (2) {
    scf.for %n = %c0 to %c4 step %c1 {
      %x = amx.tile_load %a[%c0, %c0] : memref<5x64xi8> into !amx.tile<5x64xi8>
      %y = amx.tile_load %b[%c0, %c0] : memref<16x64xi8> into !amx.tile<16x64xi8>
      %s = amx.tile_load %c[%i, %c0, %c0] : memref<2x5x16xi32> into !amx.tile<5x16xi32>
      %t = amx.tile_muli %x, %y, %s : !amx.tile<5x64xi8>, !amx.tile<16x64xi8>, !amx.tile<5x16xi32>
      amx.tile_store %c[%i, %c0, %c0], %t : memref<2x5x16xi32>, !amx.tile<5x16xi32>
    }
  }
  return
}

// -----

// Products of a function that has no op around them stay, as do whole tiles.
// CHECK-LABEL: func @alone(
// CHECK: amx.tile_mulf
// CHECK-NOT: call
// CHECK-LABEL: func @whole(
// CHECK-NOT: call
func.func @alone(%a: memref<13x32xbf16>, %b: memref<16x32xbf16>, %c: memref<13x16xf32>) {
  %c0 = arith.constant 0 : index
  %x = amx.tile_load %a[%c0, %c0] : memref<13x32xbf16> into !amx.tile<13x32xbf16>
  %y = amx.tile_load %b[%c0, %c0] : memref<16x32xbf16> into !amx.tile<16x32xbf16>
  %s = amx.tile_zero : !amx.tile<13x16xf32>
  %t = amx.tile_mulf %x, %y, %s : !amx.tile<13x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<13x16xf32>
  amx.tile_store %c[%c0, %c0], %t : memref<13x16xf32>, !amx.tile<13x16xf32>
  return
}

func.func @whole(%a: memref<16x32xbf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %n = %c0 to %c4 step %c1 {
    %x = amx.tile_load %a[%c0, %c0] : memref<16x32xbf16> into !amx.tile<16x32xbf16>
    %s = amx.tile_zero : !amx.tile<16x16xf32>
    %t = amx.tile_mulf %x, %x, %s : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
    amx.tile_store %c[%c0, %c0], %t : memref<16x16xf32>, !amx.tile<16x16xf32>
  }
  return
}
