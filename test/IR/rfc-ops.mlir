// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// Lowered whole, with the column-major matrix as a strided layout.
// RUN: sed 's/affine_map<(d0, d1) -> (d1, d0)>/strided<[1, 128]>/' %s | xetile-opt --convert-xetile-to-vector \
// RUN:   | FileCheck %s --check-prefix=VECTOR --implicit-check-not=xetile.

// The examples of the XeTile RFC's first table and text, in this dialect's grammar. Printed, generic and bytecode forms
// give the same module again.

#columns = #xetile.tile_attr<order = [0, 1]>

// GENERIC: #[[COLUMNS_FIRST:.*]] = #xetile.tile_attr<order = [0, 1]>
// GENERIC: sym_name = "init_tile"
// GENERIC: "xetile.init_tile"(%{{.*}}, %[[O0:.*]], %[[O1:.*]]) <{operandSegmentSizes = array<i32: 1, 2, 0, 0, 0>, static_base_shape = array<i64>, static_base_strides = array<i64>, static_offsets = array<i64: -9223372036854775808, -9223372036854775808>}>
// GENERIC: "xetile.init_tile"(%{{.*}}, %[[O0]], %[[O1]], %[[ROWS:.*]], %[[COLUMNS:.*]], %[[PITCH:.*]]) <{operandSegmentSizes = array<i32: 1, 2, 2, 1, 0>{{.*}}static_base_strides = array<i64: -9223372036854775808, 1>
// GENERIC: "xetile.init_tile"(%{{.*}}, %[[O0]], %[[O1]], %[[ROWS]], %[[COLUMNS]], %[[PITCH]]) {{.*}} (i64,
// GENERIC: "xetile.init_tile"{{.*}} -> !xetile.tile<64x32xbf16, #[[COLUMNS_FIRST]]>
// VECTOR-LABEL: func @init_tile
// VECTOR: memref.reinterpret_cast
// VECTOR: llvm.inttoptr
func.func @init_tile(%base: memref<128x128xbf16>, %dynamic: memref<?x?xbf16>, %address: i64,
    %column_major: memref<128x128xbf16, affine_map<(d0, d1) -> (d1, d0)>>,
    %o0: index, %o1: index, %rows: index, %columns: index, %pitch: index) {
  %0 = xetile.init_tile %base[%o0, %o1] : memref<128x128xbf16> -> !xetile.tile<8x16xbf16>
  %1 = xetile.init_tile %dynamic[%o0, %o1], [%rows, %columns], [%pitch, 1] : memref<?x?xbf16> -> !xetile.tile<8x16xbf16>
  %2 = xetile.init_tile %address[%o0, %o1], [%rows, %columns], [%pitch, 1] : i64 -> !xetile.tile<8x16xbf16>
  %3 = xetile.init_tile %column_major[%o0, %o1] : memref<128x128xbf16, affine_map<(d0, d1) -> (d1, d0)>>
      -> !xetile.tile<64x32xbf16, #columns>
  return
}

// VECTOR-LABEL: func @load_tile
// VECTOR: vector.transfer_read {{.*}} vector<64x64xbf16>
// VECTOR: arith.constant dense<0.000000e+00> : vector<64x64xbf16>
// VECTOR: arith.constant dense<1.000000e+00> : vector<64x64xbf16>
// VECTOR: vector.transfer_read {{.*}} vector<32x64xbf16>
func.func @load_tile(%a: !xetile.tile<64x64xbf16>, %b: !xetile.tile<64x32xbf16, #columns>) {
  %0 = xetile.load_tile %a : !xetile.tile<64x64xbf16> -> vector<64x64xbf16>
  %1 = xetile.load_tile %a {padding = 1.0 : bf16} : !xetile.tile<64x64xbf16> -> vector<64x64xbf16>
  %2 = xetile.load_tile %b : !xetile.tile<64x32xbf16, #columns> -> vector<64x32xbf16>
  return
}

// VECTOR-LABEL: func @store_tile
// VECTOR-SAME: %[[V:[a-z0-9]+]]: vector<64x64xbf16>{{.*}}, %[[W:[a-z0-9]+]]: vector<64x32xbf16>
// VECTOR: vector.transfer_write %[[V]],
// VECTOR: %[[WT:.*]] = vector.transpose %[[W]], [1, 0]
// VECTOR: vector.transfer_write %[[WT]],
func.func @store_tile(%v: vector<64x64xbf16>, %a: !xetile.tile<64x64xbf16>, %w: vector<64x32xbf16>, %b: !xetile.tile<64x32xbf16, #columns>) {
  xetile.store_tile %v, %a : vector<64x64xbf16>, !xetile.tile<64x64xbf16>
  xetile.store_tile %w, %b : vector<64x32xbf16>, !xetile.tile<64x32xbf16, #columns>
  return
}

// VECTOR-LABEL: func @prefetch_tile
// VECTOR: memref.prefetch {{.*}} locality<0>
// VECTOR: memref.prefetch {{.*}} locality<3>
func.func @prefetch_tile(%coop: !xetile.tile<8x32xbf16>) {
  xetile.prefetch_tile %coop locality<0> : !xetile.tile<8x32xbf16>
  xetile.prefetch_tile %coop locality<3> : !xetile.tile<8x32xbf16>
  return
}

// GENERIC: "xetile.tile_mma"(%[[A:.*]], %[[B:.*]], %[[C:.*]]) :
// GENERIC: "xetile.tile_mma"(%[[A]], %[[B]]) :
// VECTOR-LABEL: func @tile_mma
// VECTOR-SAME: %[[C:[a-z0-9]+]]: vector<64x128xf32>)
// VECTOR: vector.contract {{.*}} %[[C]] : vector<64x32xf32>, vector<32x128xf32> into vector<64x128xf32>
// VECTOR: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<64x128xf32>
// VECTOR: vector.contract {{.*}} %[[ZERO]] : vector<64x32xf32>, vector<32x128xf32> into vector<64x128xf32>
func.func @tile_mma(%a: vector<64x32xbf16>, %b: vector<32x128xbf16>, %c: vector<64x128xf32>) {
  %0 = xetile.tile_mma %a, %b, %c : vector<64x32xbf16>, vector<32x128xbf16>, vector<64x128xf32> -> vector<64x128xf32>
  %1 = xetile.tile_mma %a, %b : vector<64x32xbf16>, vector<32x128xbf16> -> vector<64x128xf32>
  return
}

// VECTOR-LABEL: func @update_tile_offset
// VECTOR-COUNT-2: arith.addi
func.func @update_tile_offset(%tile: !xetile.tile<64x64xbf16>, %x: index, %y: index) {
  %0 = xetile.update_tile_offset %tile, [%x, %y] : !xetile.tile<64x64xbf16>
  return
}

// GENERIC: "xetile.atomic_rmw_tile"(%{{.*}}) <{kind = 0 : i64}>
// VECTOR-LABEL: func @atomic_rmw_tile
// VECTOR: memref.atomic_rmw addf
func.func @atomic_rmw_tile(%value: vector<8x16xbf16>, %tile: !xetile.tile<8x16xbf16>) {
  %0 = xetile.atomic_rmw_tile <addf> %value, %tile : vector<8x16xbf16>, !xetile.tile<8x16xbf16> -> vector<8x16xbf16>
  return
}

// GENERIC: "xetile.tile_transpose"(%{{.*}}) <{permutation = array<i64: 1, 0>}>
// GENERIC: "xetile.tile_reduce"(%{{.*}}) <{kind = #vector.kind<add>, reduction_dims = array<i64: 1>}>
// GENERIC: "xetile.tile_broadcast"(%{{.*}}) <{broadcast_dims = array<i64: 0>}>
// VECTOR-LABEL: func @vectors
// VECTOR: vector.multi_reduction <add>, %{{.*}} [1] : vector<64x32xf32> to vector<64xf32>
func.func @vectors(%b: vector<64x32xf32>, %row: vector<1x32xf32>) {
  %0 = xetile.tile_transpose %b, [1, 0] : vector<64x32xf32> -> vector<32x64xf32>
  %1 = xetile.tile_reduce <add> %b, [1] : vector<64x32xf32> -> vector<64x1xf32>
  %2 = xetile.tile_broadcast %row, [0] : vector<1x32xf32> -> vector<64x32xf32>
  return
}
