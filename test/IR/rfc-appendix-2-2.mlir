// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// The maps agree: the inference keeps them.
// RUN: xetile-opt %s --xetile-infer-wg-map | diff %t.text -
// Without the maps that follow from others, the inference gives the same module: what it knows of transposes, broadcasts
// and reductions.
// RUN: sed -e 's/, #bcast>/>/' -e 's/ {wg_map = #map_b}//' %s | xetile-opt --xetile-infer-wg-map | diff %t.text -
// Of the transposed operand it chooses the map with which each subgroup transposes what it has, that of appendix 2.3.
// RUN: sed -e 's/, #bt>/>/' %s | xetile-opt --xetile-infer-wg-map | FileCheck %s --check-prefix=INFER
// INFER: #xetile.wg_map<sg_layout = [32, 1], sg_data = [64, 32]>
// RUN: xetile-opt %s --xetile-wg-to-sg --canonicalize --cse | FileCheck %s --implicit-check-not=wg_map

// The maps of bt and b need shared memory for the transpose; the conversion of 256 KB goes in two parts. All share 128 KB,
// and no store overtakes the loads before it.
// CHECK: func.func @test_gemm{{.*}} attributes {xetile.slm_bytes = 131072 : i64}
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<131072xi8, 3>
// CHECK: scf.for %{{.*}} step %c32
// CHECK: gpu.barrier
// CHECK-NEXT: xetile.store_tile %{{.*}} : vector<64x32xf16>, !xetile.tile<64x32xf16, #[[SLM:.*]]>
// CHECK: gpu.barrier
// CHECK-NEXT: %{{.*}} = xetile.load_tile %{{.*}} -> vector<32x64xf16>
// CHECK-NOT: gpu.barrier
// CHECK: xetile.tile_mma
// CHECK: xetile.tile_broadcast %{{.*}}, [0] : vector<1x64xf32> -> vector<32x64xf32>
// CHECK: gpu.barrier
// CHECK-NEXT: xetile.store_tile %{{.*}} : vector<16x64xf32>
// CHECK: gpu.barrier
// CHECK-NEXT: %{{.*}} = xetile.load_tile
// CHECK: gpu.barrier
// CHECK-NEXT: xetile.store_tile %{{.*}} : vector<16x64xf32>
// CHECK: gpu.barrier
// CHECK-NEXT: %{{.*}} = xetile.load_tile
// CHECK-NOT: gpu.barrier
// CHECK: xetile.tile_reduce <add> %{{.*}}, [1] : vector<8x256xf32> -> vector<8x1xf32>
// CHECK: xetile.atomic_rmw_tile

// Appendix 2.2: C = A*BT + broadcast(bcast, dim=0), reduced along dim 1.

#a = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>
#prefetch = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, 32]>>
#bt = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [64, 32]>>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#bcast = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [1, 64]>>
#map_reduce = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
#map_reduce2 = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>
#reduce = #xetile.tile_attr<wg_map = #map_reduce>

func.func @test_gemm(%a: memref<4096x4096xf16>, %bt: memref<4096x4096xf16>, %bcast: memref<4096xf32>, %res: memref<4096xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant dense<0.0> : vector<256x256xf32>
  %row = memref.expand_shape %bcast [[0, 1]] output_shape [1, 4096] : memref<4096xf32> into memref<1x4096xf32>
  %column = memref.expand_shape %res [[0, 1]] output_shape [4096, 1] : memref<4096xf32> into memref<4096x1xf32>
  scf.for %i = %c0 to %c4096 step %c256 {
    scf.for %j = %c0 to %c4096 step %c256 {
      %1 = xetile.init_tile %a[%i, 0] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #a>
      %2 = xetile.init_tile %bt[%j, 0] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #bt>
      %p1 = xetile.init_tile %a[%i, 192] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #prefetch>
      %p2 = xetile.init_tile %bt[%j, 192] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #prefetch>
      %7 = xetile.init_tile %row[0, %j] : memref<1x4096xf32> -> !xetile.tile<1x256xf32, #bcast>
      %3 = xetile.init_tile %column[%i, 0] : memref<4096x1xf32> -> !xetile.tile<256x1xf32, #reduce>
      %r:5 = scf.for %k = %c0 to %c4096 step %c32 iter_args(%acc = %zero, %ta = %1, %tb = %2, %pa = %p1, %pb = %p2)
          -> (vector<256x256xf32>, !xetile.tile<256x32xf16, #a>, !xetile.tile<256x32xf16, #bt>, !xetile.tile<256x32xf16, #prefetch>, !xetile.tile<256x32xf16, #prefetch>) {
        %4 = xetile.load_tile %ta : !xetile.tile<256x32xf16, #a> -> vector<256x32xf16>
        %10 = xetile.load_tile %tb : !xetile.tile<256x32xf16, #bt> -> vector<256x32xf16>
        %5 = xetile.tile_transpose %10, [1, 0] {wg_map = #map_b} : vector<256x32xf16> -> vector<32x256xf16>
        xetile.prefetch_tile %pa locality<3> : !xetile.tile<256x32xf16, #prefetch>
        xetile.prefetch_tile %pb locality<3> : !xetile.tile<256x32xf16, #prefetch>
        %6 = xetile.tile_mma %4, %5, %acc {wg_map = #map_c} : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
        %ta1 = xetile.update_tile_offset %ta, [0, 32] : !xetile.tile<256x32xf16, #a>
        %tb1 = xetile.update_tile_offset %tb, [0, 32] : !xetile.tile<256x32xf16, #bt>
        %pa1 = xetile.update_tile_offset %pa, [0, 32] : !xetile.tile<256x32xf16, #prefetch>
        %pb1 = xetile.update_tile_offset %pb, [0, 32] : !xetile.tile<256x32xf16, #prefetch>
        scf.yield %6, %ta1, %tb1, %pa1, %pb1 : vector<256x256xf32>, !xetile.tile<256x32xf16, #a>, !xetile.tile<256x32xf16, #bt>, !xetile.tile<256x32xf16, #prefetch>, !xetile.tile<256x32xf16, #prefetch>
      }
      %12 = xetile.load_tile %7 : !xetile.tile<1x256xf32, #bcast> -> vector<1x256xf32>
      %13 = xetile.tile_broadcast %12, [0] {wg_map = #map_c} : vector<1x256xf32> -> vector<256x256xf32>
      %14 = arith.addf %r#0, %13 : vector<256x256xf32>
      %15 = xetile.tile_conv_layout %14 {wg_map = #map_reduce2, source_wg_map = #map_c} : vector<256x256xf32>
      %16 = xetile.tile_reduce <add> %15, [1] {wg_map = #map_reduce} : vector<256x256xf32> -> vector<256x1xf32>
      // The partial sums of all j meet here.
      %17 = xetile.atomic_rmw_tile <addf> %16, %3 : vector<256x1xf32>, !xetile.tile<256x1xf32, #reduce> -> vector<256x1xf32>
    }
  }
  return
}
