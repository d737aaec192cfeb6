// RUN: xetile-opt %s --xetile-infer-wg-map --xetile-wg-to-sg --cse --split-input-file | FileCheck %s
// The pass finds the maps that are not written itself.
// RUN: xetile-opt %s --xetile-wg-to-sg --cse --split-input-file | FileCheck %s

#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>

// The owner of a piece follows from the id in a row-major 8x4 grid; rows of A are shared by a grid row, columns of B by a
// grid column, and the loop carries the subgroup's own piece of C.
// CHECK-LABEL: gpu.func @gemm
gpu.module @kernels {
gpu.func @gemm(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>) kernel
    attributes {known_block_size = array<i32: 512, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %m = gpu.block_id x
  // CHECK: %[[ID:.*]] = gpu.subgroup_id upper_bound 32 : index
  // CHECK: %[[ROW:.*]] = arith.divui %[[ID]], %c4
  // CHECK: %[[M_SG:.*]] = arith.muli %[[ROW]], %c32
  // CHECK: %[[COLUMN:.*]] = arith.remui %[[ID]], %c4
  // CHECK: %[[N_SG:.*]] = arith.muli %[[COLUMN]], %c64
  // CHECK: xetile.init_tile %{{.*}} : memref<1024x1024xf32> -> !xetile.tile<32x64xf32>
  %tc = xetile.init_tile %C[%m, 0] : memref<1024x1024xf32> -> !xetile.tile<256x256xf32>
  %c = xetile.load_tile %tc : !xetile.tile<256x256xf32> -> vector<256x256xf32>
  // CHECK: %[[A:.*]] = xetile.init_tile %{{.*}} : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
  %ta = xetile.init_tile %A[%m, 0] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16>
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[TILE:.*]] = %[[A]]) -> (vector<32x64xf32>, !xetile.tile<32x32xf16>)
  %r:2 = scf.for %k = %c0 to %c1024 step %c32 iter_args(%acc = %c, %ak = %ta) -> (vector<256x256xf32>, !xetile.tile<256x32xf16>) {
    // CHECK: xetile.load_tile %[[TILE]] : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    %a = xetile.load_tile %ak : !xetile.tile<256x32xf16> -> vector<256x32xf16>
    %tb = xetile.init_tile %B[%k, 0] : memref<1024x1024xf16> -> !xetile.tile<32x256xf16>
    %b = xetile.load_tile %tb : !xetile.tile<32x256xf16> -> vector<32x256xf16>
    // CHECK: xetile.tile_mma {{.*}} : vector<32x32xf16>, vector<32x64xf16>, vector<32x64xf32> -> vector<32x64xf32>
    %d = xetile.tile_mma %a, %b, %acc {wg_map = #map_c}
        : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
    // CHECK: xetile.update_tile_offset %[[TILE]], [0, 32] : !xetile.tile<32x32xf16>
    %next = xetile.update_tile_offset %ak, [0, 32] : !xetile.tile<256x32xf16>
    scf.yield %d, %next : vector<256x256xf32>, !xetile.tile<256x32xf16>
  }
  // CHECK: xetile.store_tile %{{.*}}, %{{.*}} : vector<32x64xf32>, !xetile.tile<32x64xf32>
  xetile.store_tile %r#0, %tc : vector<256x256xf32>, !xetile.tile<256x256xf32>
  gpu.return
}
}

// -----

// Round-robin in rows: two pieces per subgroup, 64 rows apart; columns are shared by both subgroups of a grid row.
// CHECK-LABEL: func @round_robin
#map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 128]>
#attr = #xetile.tile_attr<wg_map = #map>
func.func @round_robin(%A: memref<128x128xf32>) {
  // CHECK: %[[FIRST:.*]] = arith.muli
  // CHECK: xetile.init_tile %{{.*}}[%[[FIRST]], %{{.*}}] : memref<128x128xf32> -> !xetile.tile<32x128xf32>
  // CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c64
  // CHECK: xetile.init_tile %{{.*}}[%[[SECOND]], %{{.*}}] : memref<128x128xf32> -> !xetile.tile<32x128xf32>
  %t = xetile.init_tile %A[0, 0] : memref<128x128xf32> -> !xetile.tile<128x128xf32, #attr>
  // CHECK-COUNT-2: xetile.load_tile
  %v = xetile.load_tile %t : !xetile.tile<128x128xf32, #attr> -> vector<128x128xf32>
  // CHECK-COUNT-2: arith.addf %{{.*}}, %{{.*}} : vector<32x128xf32>
  %one = arith.constant dense<1.0> : vector<128x128xf32>
  %w = arith.addf %v, %one : vector<128x128xf32>
  // CHECK-COUNT-2: xetile.store_tile
  // CHECK-NOT: 128x128xf32>,
  xetile.store_tile %w, %t : vector<128x128xf32>, !xetile.tile<128x128xf32, #attr>
  return
}

// -----

// Wrap-around: 8x8 subgroups over 4x4 pieces, subgroup (r, c) owns piece (r mod 4, c mod 4).
// CHECK-LABEL: func @wrap_around
#map = #xetile.wg_map<sg_layout = [8, 8], sg_data = [16, 16]>
#attr = #xetile.tile_attr<wg_map = #map>
func.func @wrap_around(%A: memref<64x64xf32>) {
  // CHECK: %[[ID:.*]] = gpu.subgroup_id
  // CHECK: %[[ROW:.*]] = arith.divui %[[ID]], %c8
  // CHECK: %[[R:.*]] = arith.remui %[[ROW]], %c4
  // CHECK: arith.muli %[[R]], %c16
  // CHECK: %[[C:.*]] = arith.remui %[[ID]], %c4
  // CHECK: arith.muli %[[C]], %c16
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  // CHECK: xetile.prefetch_tile %{{.*}} locality<3> : !xetile.tile<16x16xf32>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<64x64xf32, #attr>
  return
}

// -----

// Without a map there is nothing to distribute.
// CHECK-LABEL: func @subgroup_level
func.func @subgroup_level(%A: memref<64x64xf32>) {
  // CHECK-NEXT: %[[T:.*]] = xetile.init_tile %{{.*}}[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32>
  // CHECK-NEXT: xetile.prefetch_tile %[[T]] locality<3> : !xetile.tile<64x64xf32>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<64x64xf32>
  return
}

// -----

// A constant that nothing uses has no map.
// CHECK-LABEL: func @unused_constant
// CHECK: return
func.func @unused_constant() {
  %dead = arith.constant dense<1.0> : vector<2x2xf32>
  return
}

// -----

// Of 32x256, both grids give subgroup id the columns of piece id mod 4: one map for the value, as b of the multiplication
// and as the tile's own.
// CHECK-LABEL: gpu.func @same_pieces
gpu.module @kernels {
  gpu.func @same_pieces(%A: memref<512x32xf16>, %B: memref<32x256xf16>, %C: memref<512x256xf32>) kernel {
    // CHECK: %[[ID:.*]] = gpu.subgroup_id
    // CHECK: %[[PIECE:.*]] = arith.remui %[[ID]], %c4
    // CHECK: %[[N:.*]] = arith.muli %[[PIECE]], %c64
    // CHECK: xetile.init_tile %{{.*}} : memref<512x32xf16> -> !xetile.tile<64x32xf16>
    %ta = xetile.init_tile %A[0, 0] : memref<512x32xf16> -> !xetile.tile<512x32xf16>
    // CHECK: xetile.init_tile %{{.*}}[%{{.*}}, %[[N]]] : memref<32x256xf16> -> !xetile.tile<32x64xf16>
    %tb = xetile.init_tile %B[0, 0] : memref<32x256xf16> -> !xetile.tile<32x256xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [32, 64]>>>
    %tc = xetile.init_tile %C[0, 0] : memref<512x256xf32> -> !xetile.tile<512x256xf32>
    %a = xetile.load_tile %ta : !xetile.tile<512x32xf16> -> vector<512x32xf16>
    %b = xetile.load_tile %tb : !xetile.tile<32x256xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [32, 64]>>> -> vector<32x256xf16>
    // CHECK: xetile.tile_mma {{.*}} : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
    %c = xetile.tile_mma %a, %b {wg_map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [64, 64]>} : vector<512x32xf16>, vector<32x256xf16> -> vector<512x256xf32>
    xetile.store_tile %c, %tc : vector<512x256xf32>, !xetile.tile<512x256xf32>
    gpu.return
  }
}

// -----

// What could fold is distributed like everything else: a constant made on the way would be no piece.
// CHECK-LABEL: func @constants_that_fold
// CHECK: arith.minnumf %{{.*}} : vector<8x16xf32>
// CHECK: xetile.store_tile %{{.*}} : vector<8x16xf32>, !xetile.tile<8x16xf32>
#map = #xetile.wg_map<sg_layout = [2, 3], sg_data = [8, 16]>
func.func @constants_that_fold(%A: memref<16x96xf32>) {
  %a = arith.constant dense<1.0> : vector<16x48xf32>
  %b = arith.constant dense<-1.0> : vector<16x48xf32>
  %c = arith.minnumf %a, %b : vector<16x48xf32>
  %t = xetile.init_tile %A[0, 0] : memref<16x96xf32> -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #map>>
  xetile.store_tile %c, %t : vector<16x48xf32>, !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #map>>
  return
}

// -----

// A kernel of one subgroup beside one of a workgroup stays as it is.
// CHECK-LABEL: func @one_subgroup
// CHECK: xetile.init_tile %{{.*}} -> !xetile.tile<32x32xf32>
// CHECK-LABEL: func @workgroup
// CHECK: xetile.init_tile %{{.*}} -> !xetile.tile<8x16xf32>
func.func @one_subgroup(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<32x32xf32>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<32x32xf32>
  return
}
#attr = #xetile.tile_attr<wg_map = <sg_layout = [4, 2], sg_data = [8, 16]>>
func.func @workgroup(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<32x32xf32, #attr>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<32x32xf32, #attr>
  return
}

// -----

// Of three by two pieces of a subgroup each is made of another piece of the operand: a column repeated to the right, a row
// repeated downwards.
// CHECK-LABEL: func @broadcast_in_rounds
// CHECK: %[[C0:.*]] = xetile.load_tile %{{.*}} -> vector<8x1xf32>
// CHECK: %[[C1:.*]] = xetile.load_tile %{{.*}} -> vector<8x1xf32>
// CHECK: %[[C2:.*]] = xetile.load_tile %{{.*}} -> vector<8x1xf32>
// CHECK: %[[B0:.*]] = xetile.tile_broadcast %[[C0]], [1] : vector<8x1xf32> -> vector<8x16xf32>
// CHECK: %[[B1:.*]] = xetile.tile_broadcast %[[C1]], [1]
// CHECK: %[[B2:.*]] = xetile.tile_broadcast %[[C2]], [1]
// CHECK: %[[R0:.*]] = xetile.load_tile %{{.*}} -> vector<1x16xf32>
// CHECK: %[[R1:.*]] = xetile.load_tile %{{.*}} -> vector<1x16xf32>
// CHECK: %[[D0:.*]] = xetile.tile_broadcast %[[R0]], [0] : vector<1x16xf32> -> vector<8x16xf32>
// CHECK: %[[D1:.*]] = xetile.tile_broadcast %[[R1]], [0]
// CHECK: arith.addf %[[B0]], %[[D0]]
// CHECK: arith.addf %[[B0]], %[[D1]]
// CHECK: arith.addf %[[B1]], %[[D0]]
// CHECK: arith.addf %[[B1]], %[[D1]]
// CHECK: arith.addf %[[B2]], %[[D0]]
// CHECK: arith.addf %[[B2]], %[[D1]]
#map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [8, 16]>
#column = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [8, 1]>>
#row = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [1, 16]>>
func.func @broadcast_in_rounds(%A: memref<48x1xf32>, %B: memref<1x64xf32>, %C: memref<48x64xf32>) {
  %ta = xetile.init_tile %A[0, 0] : memref<48x1xf32> -> !xetile.tile<48x1xf32, #column>
  %a = xetile.load_tile %ta : !xetile.tile<48x1xf32, #column> -> vector<48x1xf32>
  %columns = xetile.tile_broadcast %a, [1] {wg_map = #map} : vector<48x1xf32> -> vector<48x64xf32>
  %tb = xetile.init_tile %B[0, 0] : memref<1x64xf32> -> !xetile.tile<1x64xf32, #row>
  %b = xetile.load_tile %tb : !xetile.tile<1x64xf32, #row> -> vector<1x64xf32>
  %rows = xetile.tile_broadcast %b, [0] {wg_map = #map} : vector<1x64xf32> -> vector<48x64xf32>
  %sum = arith.addf %columns, %rows : vector<48x64xf32>
  %tc = xetile.init_tile %C[0, 0] : memref<48x64xf32> -> !xetile.tile<48x64xf32, #xetile.tile_attr<wg_map = #map>>
  xetile.store_tile %sum, %tc : vector<48x64xf32>, !xetile.tile<48x64xf32, #xetile.tile_attr<wg_map = #map>>
  return
}
