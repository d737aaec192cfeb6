// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --convert-xetile-to-vector --cse | FileCheck %s --implicit-check-not=xetile.

// The RFC's internal operations, which blocking uses, and its scattered tiles.

#blocks = #xetile.tile_attr<inner_blocks = [16, 16]>
#rows8 = #xetile.tile_attr<inner_blocks = [8, 16]>
#scatter = #xetile.tile_attr<scatter = true>

// A load cuts the matrix in blocks, a store puts them together.
// CHECK-LABEL: func @blocked_tiles
// CHECK: %[[SPLIT:.*]] = vector.shape_cast %[[LOADED:.*]] : vector<64x32xbf16> to vector<4x16x2x16xbf16>
// CHECK: %[[BLOCKS:.*]] = vector.transpose %[[SPLIT]], [0, 2, 1, 3] : vector<4x16x2x16xbf16> to vector<4x2x16x16xbf16>
// CHECK: vector.transpose %[[BLOCKS]], [0, 2, 1, 3]
// CHECK: memref.atomic_rmw addf
func.func @blocked_tiles(%base: memref<128x128xbf16>, %o0: index, %o1: index, %value: vector<8x4x8x16xbf16>) {
  %tile = xetile.init_tile %base[%o0, %o1] : memref<128x128xbf16> -> !xetile.tile<64x32xbf16, #blocks>
  %v = xetile.load_tile %tile : !xetile.tile<64x32xbf16, #blocks> -> vector<4x2x16x16xbf16>
  xetile.store_tile %v, %tile : vector<4x2x16x16xbf16>, !xetile.tile<64x32xbf16, #blocks>
  %sums = xetile.init_tile %base[%o0, %o1] : memref<128x128xbf16> -> !xetile.tile<64x64xbf16, #rows8>
  %old = xetile.atomic_rmw_tile <addf> %value, %sums : vector<8x4x8x16xbf16>, !xetile.tile<64x64xbf16, #rows8> -> vector<8x4x8x16xbf16>
  return
}

// CHECK-LABEL: func @blocked_vectors
// CHECK: vector.contract {{.*}} : vector<64x32xf32>, vector<32x128xf32> into vector<64x128xf32>
// CHECK: vector.multi_reduction <add>, %{{.*}} [1, 3] : vector<8x4x8x16xf32> to vector<8x8xf32>
// CHECK: vector.shape_cast %{{.*}} : vector<64x32xf32> to vector<4x16x2x16xf32>
// CHECK: vector.shape_cast %{{.*}} : vector<64x32xf32> to vector<1x64x2x16xf32>
func.func @blocked_vectors(%a: vector<8x4x8x8xbf16>, %b: vector<4x8x8x16xbf16>, %c: vector<8x8x8x16xf32>, %s: vector<8x4x8x16xf32>, %m: vector<64x32xf32>) {
  %d = xetile.tile_mma %a, %b, %c : vector<8x4x8x8xbf16>, vector<4x8x8x16xbf16>, vector<8x8x8x16xf32> -> vector<8x8x8x16xf32>
  %r = xetile.tile_reduce <add> %s, [1, 3] : vector<8x4x8x16xf32> -> vector<8x1x8x1xf32>
  %e = xetile.tile_broadcast %r, [1, 3] : vector<8x1x8x1xf32> -> vector<8x4x8x16xf32>
  %p = xetile.tile_pack %m {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
  %q = xetile.tile_pack %m {inner_blocks = array<i64: 64, 16>} : vector<64x32xf32> -> vector<1x2x64x16xf32>
  %u = xetile.tile_unpack %q {inner_blocks = array<i64: 64, 16>} : vector<1x2x64x16xf32> -> vector<64x32xf32>
  return
}

// CHECK-LABEL: func @scattered
// CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : vector<256xbf16>
// CHECK: %[[GATHERED:.*]] = vector.gather %[[BASE:.*]][%{{.*}}] [%[[PLACES:.*]]], %[[MASK:.*]], %[[ONES]]
// CHECK: vector.scatter %[[BASE]][%{{.*}}] [%[[PLACES]]], %[[MASK]]
func.func @scattered(%address: i64, %offsets: vector<1x256xindex>, %mask: vector<1x256xi1>) {
  %tile = xetile.init_tile %address, %offsets : i64, vector<1x256xindex> -> !xetile.tile<1x256xbf16, #scatter>
  %v = xetile.load_gather %tile, %mask {padding = 1.0 : bf16} : !xetile.tile<1x256xbf16, #scatter>, vector<1x256xi1> -> vector<1x256xbf16>
  xetile.store_scatter %v, %mask, %tile : vector<1x256xbf16>, vector<1x256xi1>, !xetile.tile<1x256xbf16, #scatter>
  return
}

// All kinds of reduction that the RFC names, each with the value that changes nothing.
// CHECK-LABEL: func @reductions
// CHECK: dense<-0.000000e+00> : vector<16xf32>
// CHECK: vector.multi_reduction <add>, %{{.*}} : vector<8x16xf32>
// CHECK: vector.multi_reduction <mul>, %{{.*}} : vector<8x16xf32>
// CHECK: dense<0x7FC00000> : vector<16xf32>
// CHECK: vector.multi_reduction <minnumf>
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: dense<0x7F800000> : vector<16xf32>
// CHECK: vector.multi_reduction <minimumf>
// CHECK: dense<0xFF800000> : vector<16xf32>
// CHECK: vector.multi_reduction <maximumf>
// CHECK: vector.multi_reduction <add>, %{{.*}} : vector<8x16xi32>
// CHECK: vector.multi_reduction <mul>, %{{.*}} : vector<8x16xi32>
// CHECK: dense<2147483647> : vector<16xi32>
// CHECK: vector.multi_reduction <minsi>
// CHECK: dense<-1> : vector<16xi32>
// CHECK: vector.multi_reduction <minui>
// CHECK: dense<-2147483648> : vector<16xi32>
// CHECK: vector.multi_reduction <maxsi>
// CHECK: vector.multi_reduction <maxui>
// CHECK: vector.multi_reduction <and>
// CHECK: vector.multi_reduction <or>
// CHECK: vector.multi_reduction <xor>
func.func @reductions(%f: vector<8x16xf32>, %n: vector<8x16xi32>) {
  %f0 = xetile.tile_reduce <add> %f, [0] : vector<8x16xf32> -> vector<1x16xf32>
  %f1 = xetile.tile_reduce <mul> %f, [0] : vector<8x16xf32> -> vector<1x16xf32>
  %f2 = xetile.tile_reduce <minnumf> %f, [0] : vector<8x16xf32> -> vector<1x16xf32>
  %f3 = xetile.tile_reduce <maxnumf> %f, [0] : vector<8x16xf32> -> vector<1x16xf32>
  %f4 = xetile.tile_reduce <minimumf> %f, [0] : vector<8x16xf32> -> vector<1x16xf32>
  %f5 = xetile.tile_reduce <maximumf> %f, [0] : vector<8x16xf32> -> vector<1x16xf32>
  %n0 = xetile.tile_reduce <add> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  %n1 = xetile.tile_reduce <mul> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  %n2 = xetile.tile_reduce <minsi> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  %n3 = xetile.tile_reduce <minui> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  %n4 = xetile.tile_reduce <maxsi> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  %n5 = xetile.tile_reduce <maxui> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  %n6 = xetile.tile_reduce <and> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  %n7 = xetile.tile_reduce <or> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  %n8 = xetile.tile_reduce <xor> %n, [0] : vector<8x16xi32> -> vector<1x16xi32>
  return
}
