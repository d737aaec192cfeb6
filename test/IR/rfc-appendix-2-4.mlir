// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// The maps agree: the inference keeps them.
// RUN: xetile-opt %s --xetile-infer-wg-map | diff %t.text -
// RUN: xetile-opt %s --xetile-wg-to-sg --canonicalize --cse | FileCheck %s --check-prefix=SUBGROUP --implicit-check-not=wg_map
// RUN: xetile-opt %s --xetile-wg-to-sg --convert-xetile-to-xegpu=chip=pvc | FileCheck %s --check-prefix=XEGPU --implicit-check-not=xetile.
// Shared local memory is written and read element by element, blocks of dpas at a time.
// XEGPU: xegpu.store %{{.*}} : vector<4x16xf16>, memref<?xf16, 3>, vector<4x16xindex>, vector<4x16xi1>
// XEGPU: gpu.barrier
// XEGPU: xegpu.load %{{.*}} : memref<?xf16, 3>, vector<8x16xindex>, vector<8x16xi1> -> vector<8x16xf16>
// XEGPU: xegpu.dpas
// XEGPU: xegpu.store_nd

// Appendix 2.4: cooperative load to shared local memory, in a ring of four buffers side by side, three steps ahead.

#a = #xetile.tile_attr<wg_map = <sg_layout = [8, 8], sg_data = [32, 32]>, memory_space = slm>
#a_coop = #xetile.tile_attr<wg_map = <sg_layout = [64, 1], sg_data = [4, 32]>>
#a_coop_slm = #xetile.tile_attr<wg_map = <sg_layout = [64, 1], sg_data = [4, 32]>, memory_space = slm>
#b = #xetile.tile_attr<wg_map = <sg_layout = [8, 8], sg_data = [32, 32]>, memory_space = slm>
#b_coop = #xetile.tile_attr<wg_map = <sg_layout = [8, 8], sg_data = [4, 32]>>
#b_coop_slm = #xetile.tile_attr<wg_map = <sg_layout = [8, 8], sg_data = [4, 32]>, memory_space = slm>
#map_c = #xetile.wg_map<sg_layout = [8, 8], sg_data = [32, 32]>
#c = #xetile.tile_attr<wg_map = #map_c>

// A subgroup copies 4x32 of a and of b at a time, to the same place in the buffers, and multiplies 32x32 by 32x32 from there.
// SUBGROUP: #[[SLM:.*]] = #xetile.tile_attr<memory_space = slm>
// SUBGROUP: %[[ID:.*]] = gpu.subgroup_id
// SUBGROUP: %[[A_ROW:.*]] = arith.muli %[[ID]], %c4
// SUBGROUP: xetile.init_tile %{{.*}}[%{{.*}}, 0] : memref<4096x4096xf16> -> !xetile.tile<4x32xf16>
// SUBGROUP: xetile.init_tile %{{.*}}[%[[A_ROW]], 0] : memref<256x128xf16, 3> -> !xetile.tile<4x32xf16, #[[SLM]]>
// SUBGROUP: xetile.init_tile %{{.*}}[%[[B_ROW:.*]], %[[B_COLUMN:.*]]] : memref<128x256xf16, 3> -> !xetile.tile<4x32xf16, #[[SLM]]>
// SUBGROUP-COUNT-6: xetile.load_tile
// SUBGROUP: gpu.barrier
// SUBGROUP-COUNT-6: xetile.store_tile {{.*}} !xetile.tile<4x32xf16, #[[SLM]]>
// SUBGROUP: gpu.barrier
// SUBGROUP: scf.for
// SUBGROUP-COUNT-2: xetile.load_tile {{.*}} : !xetile.tile<4x32xf16>
// SUBGROUP-COUNT-2: xetile.load_tile {{.*}} : !xetile.tile<32x32xf16, #[[SLM]]>
// SUBGROUP: xetile.tile_mma
// SUBGROUP: gpu.barrier
// SUBGROUP: xetile.init_tile %{{.*}}[%[[A_ROW]], %{{.*}}] : memref<256x128xf16, 3>
// SUBGROUP-COUNT-2: xetile.store_tile {{.*}} !xetile.tile<4x32xf16, #[[SLM]]>
func.func @test_gemm(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf32>,
    %slm_a: memref<256x128xf16, 3>, %slm_b: memref<128x256xf16, 3>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c4096 = arith.constant 4096 : index
  %zero = arith.constant dense<0.0> : vector<256x256xf32>
  scf.for %i = %c0 to %c4096 step %c256 {
    scf.for %j = %c0 to %c4096 step %c256 {
      %a1_glb = xetile.init_tile %a[%i, 0] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #a_coop>
      %b1_glb = xetile.init_tile %b[0, %j] : memref<4096x4096xf16> -> !xetile.tile<32x256xf16, #b_coop>
      %a2_glb = xetile.init_tile %a[%i, 32] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #a_coop>
      %b2_glb = xetile.init_tile %b[32, %j] : memref<4096x4096xf16> -> !xetile.tile<32x256xf16, #b_coop>
      %a3_glb = xetile.init_tile %a[%i, 64] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #a_coop>
      %b3_glb = xetile.init_tile %b[64, %j] : memref<4096x4096xf16> -> !xetile.tile<32x256xf16, #b_coop>
      %a4_glb = xetile.init_tile %a[%i, 96] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #a_coop>
      %b4_glb = xetile.init_tile %b[96, %j] : memref<4096x4096xf16> -> !xetile.tile<32x256xf16, #b_coop>
      %a1_slm = xetile.init_tile %slm_a[0, 0] : memref<256x128xf16, 3> -> !xetile.tile<256x32xf16, #a_coop_slm>
      %b1_slm = xetile.init_tile %slm_b[0, 0] : memref<128x256xf16, 3> -> !xetile.tile<32x256xf16, #b_coop_slm>
      %a2_slm = xetile.init_tile %slm_a[0, 32] : memref<256x128xf16, 3> -> !xetile.tile<256x32xf16, #a_coop_slm>
      %b2_slm = xetile.init_tile %slm_b[32, 0] : memref<128x256xf16, 3> -> !xetile.tile<32x256xf16, #b_coop_slm>
      %a3_slm = xetile.init_tile %slm_a[0, 64] : memref<256x128xf16, 3> -> !xetile.tile<256x32xf16, #a_coop_slm>
      %b3_slm = xetile.init_tile %slm_b[64, 0] : memref<128x256xf16, 3> -> !xetile.tile<32x256xf16, #b_coop_slm>
      %a4_slm = xetile.init_tile %slm_a[0, 96] : memref<256x128xf16, 3> -> !xetile.tile<256x32xf16, #a_coop_slm>
      %b4_slm = xetile.init_tile %slm_b[96, 0] : memref<128x256xf16, 3> -> !xetile.tile<32x256xf16, #b_coop_slm>
      %a1_r = xetile.load_tile %a1_glb : !xetile.tile<256x32xf16, #a_coop> -> vector<256x32xf16>
      %b1_r = xetile.load_tile %b1_glb : !xetile.tile<32x256xf16, #b_coop> -> vector<32x256xf16>
      %a2_r = xetile.load_tile %a2_glb : !xetile.tile<256x32xf16, #a_coop> -> vector<256x32xf16>
      %b2_r = xetile.load_tile %b2_glb : !xetile.tile<32x256xf16, #b_coop> -> vector<32x256xf16>
      %a3_r = xetile.load_tile %a3_glb : !xetile.tile<256x32xf16, #a_coop> -> vector<256x32xf16>
      %b3_r = xetile.load_tile %b3_glb : !xetile.tile<32x256xf16, #b_coop> -> vector<32x256xf16>
      gpu.barrier
      xetile.store_tile %a1_r, %a1_slm : vector<256x32xf16>, !xetile.tile<256x32xf16, #a_coop_slm>
      xetile.store_tile %b1_r, %b1_slm : vector<32x256xf16>, !xetile.tile<32x256xf16, #b_coop_slm>
      xetile.store_tile %a2_r, %a2_slm : vector<256x32xf16>, !xetile.tile<256x32xf16, #a_coop_slm>
      xetile.store_tile %b2_r, %b2_slm : vector<32x256xf16>, !xetile.tile<32x256xf16, #b_coop_slm>
      xetile.store_tile %a3_r, %a3_slm : vector<256x32xf16>, !xetile.tile<256x32xf16, #a_coop_slm>
      xetile.store_tile %b3_r, %b3_slm : vector<32x256xf16>, !xetile.tile<32x256xf16, #b_coop_slm>
      gpu.barrier
      %c_glb = xetile.init_tile %c[%i, %j] : memref<4096x4096xf32> -> !xetile.tile<256x256xf32, #c>
      %r:5 = scf.for %k = %c0 to %c4096 step %c32 iter_args(%acc = %zero, %ga = %a4_glb, %gb = %b4_glb, %load = %c0, %store = %c96)
          -> (vector<256x256xf32>, !xetile.tile<256x32xf16, #a_coop>, !xetile.tile<32x256xf16, #b_coop>, index, index) {
        // Cooperative load from global memory.
        %a4_r = xetile.load_tile %ga : !xetile.tile<256x32xf16, #a_coop> -> vector<256x32xf16>
        %b4_r = xetile.load_tile %gb : !xetile.tile<32x256xf16, #b_coop> -> vector<32x256xf16>
        // Load from shared local memory.
        %a_load = xetile.init_tile %slm_a[0, %load] : memref<256x128xf16, 3> -> !xetile.tile<256x32xf16, #a>
        %b_load = xetile.init_tile %slm_b[%load, 0] : memref<128x256xf16, 3> -> !xetile.tile<32x256xf16, #b>
        %a_rr = xetile.load_tile %a_load : !xetile.tile<256x32xf16, #a> -> vector<256x32xf16>
        %b_rr = xetile.load_tile %b_load : !xetile.tile<32x256xf16, #b> -> vector<32x256xf16>
        %c_r = xetile.tile_mma %a_rr, %b_rr, %acc {wg_map = #map_c} : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
        gpu.barrier
        // Cooperative store to shared local memory.
        %a_store = xetile.init_tile %slm_a[0, %store] : memref<256x128xf16, 3> -> !xetile.tile<256x32xf16, #a_coop_slm>
        %b_store = xetile.init_tile %slm_b[%store, 0] : memref<128x256xf16, 3> -> !xetile.tile<32x256xf16, #b_coop_slm>
        xetile.store_tile %a4_r, %a_store : vector<256x32xf16>, !xetile.tile<256x32xf16, #a_coop_slm>
        xetile.store_tile %b4_r, %b_store : vector<32x256xf16>, !xetile.tile<32x256xf16, #b_coop_slm>
        %ga1 = xetile.update_tile_offset %ga, [0, 32] : !xetile.tile<256x32xf16, #a_coop>
        %gb1 = xetile.update_tile_offset %gb, [32, 0] : !xetile.tile<32x256xf16, #b_coop>
        %l = arith.addi %load, %c32 : index
        %load1 = arith.remui %l, %c128 : index
        %s = arith.addi %store, %c32 : index
        %store1 = arith.remui %s, %c128 : index
        scf.yield %c_r, %ga1, %gb1, %load1, %store1 : vector<256x256xf32>, !xetile.tile<256x32xf16, #a_coop>, !xetile.tile<32x256xf16, #b_coop>, index, index
      }
      xetile.store_tile %r#0, %c_glb : vector<256x256xf32>, !xetile.tile<256x256xf32, #c>
    }
  }
  return
}
