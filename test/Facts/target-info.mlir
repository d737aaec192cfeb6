// The device table: questions and answers. A load has element bits, width, height, blocks; a surface has width, height,
// pitch, element bits; a dpas has element bits, m, n, k.
//
// RUN: xetile-target-info-test < %s | FileCheck %s --match-full-lines

// ASK: list
// CHECK: list -> pvc, bmg, lnl
// ASK: chip pvc
// CHECK-NEXT: chip pvc -> ok
// ASK: chip bmg
// CHECK-NEXT: chip bmg -> ok
// ASK: chip lnl
// CHECK-NEXT: chip lnl -> ok
// ASK: chip rtx
// CHECK-NEXT: chip rtx -> unknown chip 'rtx'; known: pvc, bmg, lnl
// ASK: chip PVC
// CHECK-NEXT: chip PVC -> unknown chip 'PVC'; known: pvc, bmg, lnl
// ASK: chip dg2
// CHECK-NEXT: chip dg2 -> chip 'dg2' (Arc A-Series (Alchemist)) has no 2D block messages; supported: pvc, bmg, lnl
// ASK: subgroups pvc
// CHECK-NEXT: subgroups pvc -> 64 32
// ASK: subgroups bmg
// CHECK-NEXT: subgroups bmg -> 64 32
// ASK: load pvc 16 16 32 2
// CHECK-NEXT: load pvc 16 16 32 2 -> ok
// ASK: load bmg 8 32 32 2
// CHECK-NEXT: load bmg 8 32 32 2 -> ok
// ASK: load lnl 8 64 32 1
// CHECK-NEXT: load lnl 8 64 32 1 -> ok
// ASK: load pvc 8 16 32 4
// CHECK-NEXT: load pvc 8 16 32 4 -> ok
// ASK: load pvc 32 8 32 2
// CHECK-NEXT: load pvc 32 8 32 2 -> ok
// ASK: load pvc 64 8 32 1
// CHECK-NEXT: load pvc 64 8 32 1 -> ok
// ASK: load pvc 4 16 8 1
// CHECK-NEXT: load pvc 4 16 8 1 -> element size is 4 bits, expected 8, 16, 32 or 64
// ASK: load pvc 8 2 8 1
// CHECK-NEXT: load pvc 8 2 8 1 -> width of a 8-bit 2D block load is 2 elements, expected 4 to 64 in multiples of 4 bytes
// ASK: load pvc 16 3 8 1
// CHECK-NEXT: load pvc 16 3 8 1 -> width of a 16-bit 2D block load is 3 elements, expected 2 to 32 in multiples of 4 bytes
// ASK: load pvc 16 64 8 1
// CHECK-NEXT: load pvc 16 64 8 1 -> width of a 16-bit 2D block load is 64 elements, expected 2 to 32 in multiples of 4 bytes
// ASK: load pvc 64 16 8 1
// CHECK-NEXT: load pvc 64 16 8 1 -> width of a 64-bit 2D block load is 16 elements, expected 1 to 8 in multiples of 4 bytes
// ASK: load pvc 16 16 0 1
// CHECK-NEXT: load pvc 16 16 0 1 -> height of a 2D block load is 0 rows, expected 1 to 32
// ASK: load pvc 16 16 33 1
// CHECK-NEXT: load pvc 16 16 33 1 -> height of a 2D block load is 33 rows, expected 1 to 32
// ASK: load pvc 16 8 8 3
// CHECK-NEXT: load pvc 16 8 8 3 -> number of blocks of a 2D block load is 3, expected 1, 2 or 4
// ASK: load pvc 32 4 8 4
// CHECK-NEXT: load pvc 32 4 8 4 -> number of blocks of a 32-bit 2D block load is 4, expected at most 2
// ASK: load pvc 64 4 8 2
// CHECK-NEXT: load pvc 64 4 8 2 -> number of blocks of a 64-bit 2D block load is 2, expected at most 1
// ASK: load pvc 16 32 8 2
// CHECK-NEXT: load pvc 16 32 8 2 -> width times blocks of a 2D block load is 128 bytes, expected at most 64
// ASK: load dg2 16 16 8 1
// CHECK-NEXT: load dg2 16 16 8 1 -> chip 'dg2' (Arc A-Series (Alchemist)) has no 2D block messages; supported: pvc, bmg, lnl
// ASK: load pvc 32 8 32 1 transpose
// CHECK-NEXT: load pvc 32 8 32 1 transpose -> ok
// ASK: load pvc 64 4 8 1 transpose
// CHECK-NEXT: load pvc 64 4 8 1 transpose -> ok
// ASK: load pvc 32 16 8 1 transpose
// CHECK-NEXT: load pvc 32 16 8 1 transpose -> width of a 32-bit transposing 2D block load is 16, expected at most 8
// ASK: load pvc 32 8 8 2 transpose
// CHECK-NEXT: load pvc 32 8 8 2 transpose -> number of blocks of a transposing 2D block load is 2, expected 1
// ASK: load pvc 64 3 8 1 transpose
// CHECK-NEXT: load pvc 64 3 8 1 transpose -> width of a 64-bit transposing 2D block load is 3, expected 1, 2 or 4
// ASK: load pvc 64 4 16 1 transpose
// CHECK-NEXT: load pvc 64 4 16 1 transpose -> height of a 64-bit transposing 2D block load is 16, expected 8
// ASK: load pvc 16 16 8 1 transpose
// CHECK-NEXT: load pvc 16 16 8 1 transpose -> element size of a transposing 2D block load is 16 bits, expected 32 or 64 (pack narrow elements into 32 bits)
// ASK: load pvc 16 16 32 2 transform
// CHECK-NEXT: load pvc 16 16 32 2 transform -> ok
// ASK: load pvc 8 16 32 4 transform
// CHECK-NEXT: load pvc 8 16 32 4 transform -> ok
// ASK: load pvc 16 16 15 1 transform
// CHECK-NEXT: load pvc 16 16 15 1 transform -> height of a 16-bit transforming 2D block load is 15, expected a multiple of 2
// ASK: load pvc 8 16 6 1 transform
// CHECK-NEXT: load pvc 8 16 6 1 transform -> height of a 8-bit transforming 2D block load is 6, expected a multiple of 4
// ASK: load pvc 16 8 16 1 transform
// CHECK-NEXT: load pvc 16 8 16 1 transform -> width of a transforming 2D block load is 8, expected 16
// ASK: load pvc 32 16 16 1 transform
// CHECK-NEXT: load pvc 32 16 16 1 transform -> element size of a transforming 2D block load is 32 bits, expected 8 or 16
// ASK: load pvc 32 8 8 1 both
// CHECK-NEXT: load pvc 32 8 8 1 both -> a 2D block load transposes or transforms, not both; expected one of them
// ASK: prefetch pvc 16 16 32 2
// CHECK-NEXT: prefetch pvc 16 16 32 2 -> ok
// ASK: prefetch pvc 16 64 8 1
// CHECK-NEXT: prefetch pvc 16 64 8 1 -> width of a 16-bit 2D block prefetch is 64 elements, expected 16
// ASK: prefetch pvc 8 8 8 1
// CHECK-NEXT: prefetch pvc 8 8 8 1 -> width of a 8-bit 2D block prefetch is 8 elements, expected 16 or 32
// ASK: prefetch bmg 32 4 8 1
// CHECK-NEXT: prefetch bmg 32 4 8 1 -> width of a 32-bit 2D block prefetch is 4 elements, expected 8 or 16
// ASK: prefetch lnl 64 8 8 1
// CHECK-NEXT: prefetch lnl 64 8 8 1 -> element size of a 2D block prefetch is 64 bits, expected 8, 16 or 32
// ASK: store pvc 32 16 8
// CHECK-NEXT: store pvc 32 16 8 -> ok
// ASK: store pvc 32 16 16
// CHECK-NEXT: store pvc 32 16 16 -> height of a 2D block store is 16 rows, expected 1 to 8
// ASK: surface pvc 512 256 512 16
// CHECK-NEXT: surface pvc 512 256 512 16 -> ok
// ASK: surface pvc 32 256 512 16
// CHECK-NEXT: surface pvc 32 256 512 16 -> width of the surface is 32 bytes, expected 64 to 16777216
// ASK: surface pvc 2002 256 2002 16
// CHECK-NEXT: surface pvc 2002 256 2002 16 -> width of the surface is 2002 bytes, expected a multiple of 4
// ASK: surface pvc 2004 256 2004 16
// CHECK-NEXT: surface pvc 2004 256 2004 16 -> pitch of the surface is 2004 bytes, expected a multiple of 16
// ASK: surface pvc 132 256 256 64
// CHECK-NEXT: surface pvc 132 256 256 64 -> width of the surface is 132 bytes, expected a multiple of 8
// ASK: surface pvc 512 256 256 16
// CHECK-NEXT: surface pvc 512 256 256 16 -> pitch of the surface is 256 bytes, expected its width (512) to 16777216
// ASK: surface pvc 512 0 512 16
// CHECK-NEXT: surface pvc 512 0 512 16 -> height of the surface is 0 rows, expected 1 to 16777216
// ASK: base pvc 128
// CHECK-NEXT: base pvc 128 -> ok
// ASK: base pvc 32
// CHECK-NEXT: base pvc 32 -> alignment of the surface's base is 32 bytes, expected a multiple of 64
// ASK: x pvc 8 4
// CHECK-NEXT: x pvc 8 4 -> ok
// ASK: x pvc 8 6
// CHECK-NEXT: x pvc 8 6 -> x offset of a 8-bit block is 6, expected a multiple of 4
// ASK: x pvc 16 3
// CHECK-NEXT: x pvc 16 3 -> x offset of a 16-bit block is 3, expected a multiple of 2
// ASK: dpas pvc 16 8 16 16
// CHECK-NEXT: dpas pvc 16 8 16 16 -> ok
// ASK: dpas bmg 8 1 16 32
// CHECK-NEXT: dpas bmg 8 1 16 32 -> ok
// ASK: dpas pvc 4 8 16 64
// CHECK-NEXT: dpas pvc 4 8 16 64 -> ok
// ASK: dpas pvc 32 8 16 8
// CHECK-NEXT: dpas pvc 32 8 16 8 -> ok
// ASK: dpas pvc 16 9 16 16
// CHECK-NEXT: dpas pvc 16 9 16 16 -> m of a dpas is 9, expected 1 to 8
// ASK: dpas pvc 16 8 8 16
// CHECK-NEXT: dpas pvc 16 8 8 16 -> n of a dpas is 8, expected 16
// ASK: dpas pvc 8 8 16 16
// CHECK-NEXT: dpas pvc 8 8 16 16 -> k of a dpas on 8-bit elements is 16, expected 32
// ASK: dpas pvc 64 8 16 16
// CHECK-NEXT: dpas pvc 64 8 16 16 -> element size of a dpas operand is 64 bits, expected 4, 8, 16 or 32
