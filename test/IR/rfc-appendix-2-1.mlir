// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// The maps agree: the inference keeps them.
// RUN: xetile-opt %s --xetile-infer-wg-map | diff %t.text -
// RUN: xetile-opt %s --xetile-wg-to-sg --canonicalize --cse | FileCheck %s --check-prefix=SUBGROUP --implicit-check-not=wg_map
// RUN: xetile-opt %s --xetile-wg-to-sg --convert-xetile-to-xegpu=chip=pvc --canonicalize --loop-invariant-code-motion --cse \
// RUN:   | FileCheck %s --check-prefix=XEGPU --implicit-check-not=xetile.

// Appendix 2.1: C[4096, 4096] = A[4096, 4096] * B[4096, 4096] with cooperative prefetch.

#a = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>
#a_prefetch = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, 32]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>
#b_prefetch = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [8, 32]>>
#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#c = #xetile.tile_attr<wg_map = #map_c>

// A subgroup multiplies 32x32 by 32x64, at row id / 4 and column id mod 4, and prefetches its own 8x32 of a and of b.
// SUBGROUP: %[[ID:.*]] = gpu.subgroup_id
// SUBGROUP: %[[ROW:.*]] = arith.divui %[[ID]], %c4
// SUBGROUP: %[[ROWS:.*]] = arith.muli %[[ROW]], %c32
// SUBGROUP: %[[COLUMN:.*]] = arith.remui %[[ID]], %c4
// SUBGROUP: %[[COLUMNS:.*]] = arith.muli %[[COLUMN]], %c64
// SUBGROUP: %[[PREFETCHED:.*]] = arith.muli %[[ID]], %c8
// SUBGROUP: %[[M:.*]] = arith.addi %{{.*}}, %[[ROWS]]
// SUBGROUP: xetile.init_tile %{{.*}}[%[[M]], 0] : memref<4096x4096xf16> -> !xetile.tile<32x32xf16>
// SUBGROUP: %[[N:.*]] = arith.addi %{{.*}}, %[[COLUMNS]]
// SUBGROUP: xetile.init_tile %{{.*}}[0, %[[N]]] : memref<4096x4096xf16> -> !xetile.tile<32x64xf16>
// SUBGROUP: %[[PM:.*]] = arith.addi %{{.*}}, %[[PREFETCHED]]
// SUBGROUP: xetile.init_tile %{{.*}}[%[[PM]], 96] : memref<4096x4096xf16> -> !xetile.tile<8x32xf16>
// SUBGROUP: xetile.init_tile %{{.*}} : memref<4096x4096xf16> -> !xetile.tile<8x32xf16>
// SUBGROUP: xetile.init_tile %{{.*}}[%[[M]], %[[N]]] : memref<4096x4096xf32> -> !xetile.tile<32x64xf32>
// SUBGROUP: xetile.tile_mma %{{.*}} : vector<32x32xf16>, vector<32x64xf16>, vector<32x64xf32> -> vector<32x64xf32>
// A step: three loads of two blocks, two prefetches, 4 x 4 x 2 multiplications; 16 blocks of the result.
// XEGPU-COUNT-5: xegpu.create_nd_tdesc
// XEGPU-NOT: xegpu.create_nd_tdesc
// XEGPU: scf.for
// XEGPU: scf.for
// XEGPU: scf.for
// XEGPU-COUNT-3: xegpu.load_nd {{.*}} -> vector<2x32x16xf16>
// XEGPU-NOT: xegpu.load_nd
// XEGPU-COUNT-2: xegpu.prefetch_nd
// XEGPU-NOT: xegpu.prefetch_nd
// XEGPU-COUNT-32: xegpu.dpas
// XEGPU-NOT: xegpu.dpas
// XEGPU: scf.yield
// XEGPU-COUNT-16: xegpu.store_nd
// XEGPU-NOT: xegpu.store_nd
func.func @test_gemm(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant dense<0.0> : vector<256x256xf32>
  scf.for %i = %c0 to %c4096 step %c256 {
    scf.for %j = %c0 to %c4096 step %c256 {
      %1 = xetile.init_tile %a[%i, 0] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #a>
      %2 = xetile.init_tile %b[0, %j] : memref<4096x4096xf16> -> !xetile.tile<32x256xf16, #b>
      %p1 = xetile.init_tile %a[%i, 96] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #a_prefetch>
      %p2 = xetile.init_tile %b[96, %j] : memref<4096x4096xf16> -> !xetile.tile<32x256xf16, #b_prefetch>
      %3 = xetile.init_tile %c[%i, %j] : memref<4096x4096xf32> -> !xetile.tile<256x256xf32, #c>
      %r:5 = scf.for %k = %c0 to %c4096 step %c32 iter_args(%acc = %zero, %ta = %1, %tb = %2, %pa = %p1, %pb = %p2)
          -> (vector<256x256xf32>, !xetile.tile<256x32xf16, #a>, !xetile.tile<32x256xf16, #b>, !xetile.tile<256x32xf16, #a_prefetch>, !xetile.tile<32x256xf16, #b_prefetch>) {
        %4 = xetile.load_tile %ta : !xetile.tile<256x32xf16, #a> -> vector<256x32xf16>
        %10 = xetile.load_tile %tb : !xetile.tile<32x256xf16, #b> -> vector<32x256xf16>
        xetile.prefetch_tile %pa locality<3> : !xetile.tile<256x32xf16, #a_prefetch>
        xetile.prefetch_tile %pb locality<3> : !xetile.tile<32x256xf16, #b_prefetch>
        %6 = xetile.tile_mma %4, %10, %acc {wg_map = #map_c} : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
        %ta1 = xetile.update_tile_offset %ta, [0, 32] : !xetile.tile<256x32xf16, #a>
        %tb1 = xetile.update_tile_offset %tb, [32, 0] : !xetile.tile<32x256xf16, #b>
        %pa1 = xetile.update_tile_offset %pa, [0, 32] : !xetile.tile<256x32xf16, #a_prefetch>
        %pb1 = xetile.update_tile_offset %pb, [32, 0] : !xetile.tile<32x256xf16, #b_prefetch>
        scf.yield %6, %ta1, %tb1, %pa1, %pb1 : vector<256x256xf32>, !xetile.tile<256x32xf16, #a>, !xetile.tile<32x256xf16, #b>, !xetile.tile<256x32xf16, #a_prefetch>, !xetile.tile<32x256xf16, #b_prefetch>
      }
      xetile.store_tile %r#0, %3 : vector<256x256xf32>, !xetile.tile<256x256xf32, #c>
    }
  }
  return
}
