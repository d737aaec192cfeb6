// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// The maps agree: the inference keeps them.
// RUN: xetile-opt %s --xetile-infer-wg-map | diff %t.text -
// RUN: xetile-opt %s --xetile-wg-to-sg --canonicalize --cse | FileCheck %s --implicit-check-not=wg_map

// Appendix 2.3: the transpose within a subgroup.

#bt = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [64, 32]>>
#bt_optimised = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [64, 32]>>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#b = #xetile.tile_attr<wg_map = #map_b>

// The first mapping: subgroup 8i + j loads row block i, but needs that of id mod 4.
// CHECK: #[[COLUMNS:.*]] = #xetile.tile_attr<order = [0, 1], memory_space = slm>
// CHECK-LABEL: func.func @through_shared_memory
// CHECK-SAME: xetile.slm_bytes = 16384 : i64
// CHECK: gpu.barrier
// CHECK: xetile.load_tile %{{.*}} : !xetile.tile<32x64xf16, #[[COLUMNS]]> -> vector<32x64xf16>
func.func @through_shared_memory(%BT: memref<4096x4096xf16>, %B: memref<4096x4096xf16>, %j: index, %k: index) {
  %2 = xetile.init_tile %BT[%j, %k] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #bt>
  %10 = xetile.load_tile %2 : !xetile.tile<256x32xf16, #bt> -> vector<256x32xf16>
  %5 = xetile.tile_transpose %10, [1, 0] {wg_map = #map_b} : vector<256x32xf16> -> vector<32x256xf16>
  %t = xetile.init_tile %B[%k, %j] : memref<4096x4096xf16> -> !xetile.tile<32x256xf16, #b>
  xetile.store_tile %5, %t : vector<32x256xf16>, !xetile.tile<32x256xf16, #b>
  return
}

// The second: the four row blocks wrap around, each is shared by eight subgroups, those of one column of b's grid.
// CHECK-LABEL: func.func @in_registers
// CHECK-NOT: slm
// CHECK-NOT: gpu.barrier
// CHECK: %[[V:.*]] = xetile.load_tile %{{.*}} -> vector<64x32xf16>
// CHECK: xetile.tile_transpose %[[V]], [1, 0] : vector<64x32xf16> -> vector<32x64xf16>
// CHECK-NOT: slm
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @in_registers(%BT: memref<4096x4096xf16>, %B: memref<4096x4096xf16>, %j: index, %k: index) {
  %2 = xetile.init_tile %BT[%j, %k] : memref<4096x4096xf16> -> !xetile.tile<256x32xf16, #bt_optimised>
  %10 = xetile.load_tile %2 : !xetile.tile<256x32xf16, #bt_optimised> -> vector<256x32xf16>
  %5 = xetile.tile_transpose %10, [1, 0] {wg_map = #map_b} : vector<256x32xf16> -> vector<32x256xf16>
  %t = xetile.init_tile %B[%k, %j] : memref<4096x4096xf16> -> !xetile.tile<32x256xf16, #b>
  xetile.store_tile %5, %t : vector<32x256xf16>, !xetile.tile<32x256xf16, #b>
  return
}
