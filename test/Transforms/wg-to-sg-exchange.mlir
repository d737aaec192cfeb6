// RUN: xetile-opt %s --xetile-wg-to-sg --canonicalize --cse --split-input-file | FileCheck %s --implicit-check-not=wg_map
// RUN: xetile-opt %s --xetile-wg-to-sg=slm-bytes=16384 --split-input-file | FileCheck %s --check-prefix=FITS
// RUN: xetile-opt %s --xetile-wg-to-sg=slm-bytes=16383 --split-input-file | FileCheck %s --check-prefix=PARTS

// Operations that bring elements to other subgroups.

// A conversion through shared memory: each subgroup stores its piece, all meet, each loads its new piece.
// CHECK: #[[SLM:.*]] = #xetile.tile_attr<memory_space = slm>
// In all of the memory it is moved at once, in a byte less in two parts.
// FITS-LABEL: func @conversion
// FITS-SAME: xetile.slm_bytes = 16384
// PARTS-LABEL: func @conversion
// PARTS-SAME: xetile.slm_bytes = 8192
// CHECK-LABEL: func @conversion
// CHECK-SAME: attributes {xetile.slm_bytes = 16384 : i64}
// CHECK-DAG: %[[ID:.*]] = gpu.subgroup_id
// CHECK-DAG: %[[MEMORY:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16384xi8, 3>
// CHECK: %[[VIEW:.*]] = memref.view %[[MEMORY]][%c0][] : memref<16384xi8, 3> to memref<64x64xf32, 3>
// CHECK: %[[V:.*]] = xetile.load_tile
// CHECK: %[[FROM:.*]] = xetile.init_tile %[[VIEW]][%{{.*}}, %{{.*}}] : memref<64x64xf32, 3> -> !xetile.tile<32x32xf32, #[[SLM]]>
// CHECK-NEXT: xetile.store_tile %[[V]], %[[FROM]]
// CHECK: %[[TO:.*]] = xetile.init_tile %[[VIEW]][%{{.*}}, 0] : memref<64x64xf32, 3> -> !xetile.tile<16x64xf32, #[[SLM]]>
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: xetile.load_tile %[[TO]]
// CHECK-NOT: gpu.barrier
// CHECK: return
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
#rows = #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 64]>>
func.func @conversion(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #attr> -> vector<64x64xf32>
  %w = xetile.tile_conv_layout %v {wg_map = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 64]>} : vector<64x64xf32>
  %u = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #rows>
  xetile.store_tile %w, %u : vector<64x64xf32>, !xetile.tile<64x64xf32, #rows>
  return
}

// -----

// Each subgroup has what it needs, in pieces of other sizes: no memory, no barrier.
// CHECK-LABEL: func @in_registers
// CHECK-NOT: slm
// CHECK-COUNT-2: xetile.load_tile %{{.*}} -> vector<16x32xf32>
// CHECK: vector.insert_strided_slice {{.*}} : vector<16x32xf32> into vector<32x32xf32>
// CHECK-NOT: gpu.barrier
// CHECK: xetile.store_tile %{{.*}} : vector<32x32xf32>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [1, 2], sg_data = [16, 32]>>
#other = #xetile.tile_attr<wg_map = <sg_layout = [1, 2], sg_data = [32, 32]>>
func.func @in_registers(%A: memref<32x64xf32>, %B: memref<32x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<32x64xf32> -> !xetile.tile<32x64xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<32x64xf32, #attr> -> vector<32x64xf32>
  %u = xetile.init_tile %B[0, 0] : memref<32x64xf32> -> !xetile.tile<32x64xf32, #other>
  xetile.store_tile %v, %u : vector<32x64xf32>, !xetile.tile<32x64xf32, #other>
  return
}

// -----

// Four subgroups share the columns: each reduces its own, stores them to its column, and reduces those of all.
// CHECK-LABEL: func @reduce_across
// CHECK-SAME: xetile.slm_bytes = 1024 : i64
// CHECK: %[[R:.*]] = xetile.tile_reduce <add> %{{.*}}, [1] : vector<32x32xf32> -> vector<32x1xf32>
// CHECK: xetile.store_tile %[[R]]
// CHECK: gpu.barrier
// CHECK: %[[ALL:.*]] = xetile.load_tile %{{.*}} -> vector<32x4xf32>
// CHECK: xetile.tile_reduce <add> %[[ALL]], [1] : vector<32x4xf32> -> vector<32x1xf32>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 32]>>
func.func @reduce_across(%A: memref<64x128xf32>, %B: memref<64x1xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x128xf32> -> !xetile.tile<64x128xf32, #attr>
  %v = xetile.load_tile %t : !xetile.tile<64x128xf32, #attr> -> vector<64x128xf32>
  %r = xetile.tile_reduce <add> %v, [1] : vector<64x128xf32> -> vector<64x1xf32>
  %u = xetile.init_tile %B[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32>
  xetile.store_tile %r, %u : vector<64x1xf32>, !xetile.tile<64x1xf32>
  return
}

// -----

// The RFC's example: 128 single columns belong to one subgroup, which needs no other one's.
// CHECK-LABEL: func @reduce_within
// CHECK-NOT: slm
// CHECK: xetile.tile_reduce <add> %{{.*}}, [1] : vector<8x128xf32> -> vector<8x1xf32>
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @reduce_within(%A: memref<256x128xf32>, %B: memref<256x1xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<256x128xf32> -> !xetile.tile<256x128xf32>
  %v = xetile.load_tile %t : !xetile.tile<256x128xf32> -> vector<256x128xf32>
  %r = xetile.tile_reduce <add> %v, [1] {wg_map = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>} : vector<256x128xf32> -> vector<256x1xf32>
  %u = xetile.init_tile %B[0, 0] : memref<256x1xf32> -> !xetile.tile<256x1xf32>
  xetile.store_tile %r, %u : vector<256x1xf32>, !xetile.tile<256x1xf32>
  return
}

// -----

// Two owners of each piece: the first updates it.
// CHECK-LABEL: func @atomic
// CHECK: %[[ID:.*]] = gpu.subgroup_id
// CHECK: %[[ROW:.*]] = arith.divui %[[ID]], %c2
// CHECK: %[[LOWEST:.*]] = arith.muli %[[ROW]], %c2
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[ID]], %[[LOWEST]]
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: xetile.atomic_rmw_tile <addf>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [8, 16]>>
func.func @atomic(%A: memref<16x16xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<16x16xf32> -> !xetile.tile<16x16xf32, #attr>
  %v = arith.constant dense<1.0> : vector<16x16xf32>
  %old = xetile.atomic_rmw_tile <addf> %v, %t : vector<16x16xf32>, !xetile.tile<16x16xf32, #attr> -> vector<16x16xf32>
  return
}

// -----

// Slices of a constant, equal ones once; 24 rows a subgroup.
// CHECK-LABEL: func @constant
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1> : vector<24x1xi32>
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2> : vector<24x1xi32>
// CHECK: %[[V:.*]] = arith.select %{{.*}}, %[[TWO]], %[[ONE]]
// CHECK: xetile.store_tile %[[V]], %{{.*}} : vector<24x1xi32>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [1, 4], sg_data = [24, 1]>>
func.func @constant(%A: memref<24x4xi32>) {
  %t = xetile.init_tile %A[0, 0] : memref<24x4xi32> -> !xetile.tile<24x4xi32, #attr>
  %v = arith.constant dense<[[1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2],
                             [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2],
                             [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2],
                             [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2], [1, 2, 1, 2]]> : vector<24x4xi32>
  xetile.store_tile %v, %t : vector<24x4xi32>, !xetile.tile<24x4xi32, #attr>
  return
}

// -----

// A tile in blocks keeps them.
// CHECK: #[[BLOCKS:.*]] = #xetile.tile_attr<inner_blocks = [8, 16]>
// CHECK-LABEL: func @blocked
// CHECK: !xetile.tile<32x32xf16, #[[BLOCKS]]> -> vector<4x2x8x16xf16>
#attr = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>, inner_blocks = [8, 16]>
func.func @blocked(%A: memref<256x32xf16>, %B: memref<256x32xf16>) {
  %t = xetile.init_tile %A[0, 0] : memref<256x32xf16> -> !xetile.tile<256x32xf16, #attr>
  %v = xetile.load_tile %t : !xetile.tile<256x32xf16, #attr> -> vector<32x2x8x16xf16>
  %u = xetile.init_tile %B[0, 0] : memref<256x32xf16> -> !xetile.tile<256x32xf16, #attr>
  xetile.store_tile %v, %u : vector<32x2x8x16xf16>, !xetile.tile<256x32xf16, #attr>
  return
}
