// RUN: xetile-opt %s -o %t.text
// RUN: xetile-opt %t.text | diff %t.text -
// RUN: xetile-opt %s --mlir-print-op-generic | xetile-opt | diff %t.text -
// RUN: xetile-opt %s --emit-bytecode | xetile-opt | diff %t.text -
// What is not in the text: the properties.
// RUN: xetile-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// Lowered whole, with the column-major matrix as a strided layout.
// RUN: sed 's/affine_map<(d0, d1) -> (d1, d0)>/strided<[1, 1024]>/' %s | xetile-opt --convert-xetile-to-vector --cse \
// RUN:   | FileCheck %s --check-prefix=VECTOR --implicit-check-not=xetile.

// The XeTile programs of the RFC's appendix 1: C = A*B with B as it is, with a transposed B that is viewed by `order`, and
// with a transposed B that is transposed as a vector; and the correct forms of init_tile. The incorrect ones are in
// invalid.mlir and invalid-appendix-1.mlir, the memref and vector programs in ../Conversion/vector-to-xetile-layouts.mlir.

#columns = #xetile.tile_attr<order = [0, 1]>
#rows = #xetile.tile_attr<order = [1, 0]>

// VECTOR-LABEL: func @plain
// VECTOR: vector.transfer_read %{{.*}} vector<64x32xbf16>
// VECTOR: vector.transfer_read %{{.*}} vector<32x64xbf16>
// VECTOR-NOT: vector.transpose
// VECTOR: vector.contract {{.*}} : vector<64x32xf32>, vector<32x64xf32> into vector<64x64xf32>
// VECTOR: vector.transfer_write %{{.*}} : vector<64x64xf32>
func.func @plain(%A: i64, %B: i64, %C: i64, %M: index, %N: index, %K: index, %i: index, %j: index, %k: index) {
  %a = xetile.init_tile %A[%i, %k], [%M, %K], [%K, 1] : i64 -> !xetile.tile<64x32xbf16>
  %b = xetile.init_tile %B[%k, %j], [%K, %N], [%N, 1] : i64 -> !xetile.tile<32x64xbf16>
  %c = xetile.init_tile %C[%i, %j], [%M, %N], [%N, 1] : i64 -> !xetile.tile<64x64xf32>
  %va = xetile.load_tile %a : !xetile.tile<64x32xbf16> -> vector<64x32xbf16>
  %vb = xetile.load_tile %b : !xetile.tile<32x64xbf16> -> vector<32x64xbf16>
  %vc = xetile.tile_mma %va, %vb : vector<64x32xbf16>, vector<32x64xbf16> -> vector<64x64xf32>
  xetile.store_tile %vc, %c : vector<64x64xf32>, !xetile.tile<64x64xf32>
  return
}

// The matrix is N x K in memory: rows of k are read, at row j and column k, and the vector is transposed.
// GENERIC: #[[COLUMNS:.*]] = #xetile.tile_attr<order = [0, 1]>
// GENERIC: sym_name = "viewed_by_order"
// GENERIC: "xetile.init_tile"{{.*}}static_base_strides = array<i64: 1, -9223372036854775808>{{.*}} -> !xetile.tile<32x64xbf16, #[[COLUMNS]]>
// VECTOR-LABEL: func @viewed_by_order
// VECTOR-SAME: %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[K:[a-z0-9]+]]: index)
// VECTOR: vector.transfer_read %{{[a-z0-9_]+}}[%[[I]], %[[K]]]{{.*}} vector<64x32xbf16>
// VECTOR: vector.transfer_read %{{[a-z0-9_]+}}[%[[J]], %[[K]]]{{.*}} vector<64x32xbf16>
// VECTOR: %[[B:.*]] = vector.transpose %{{.*}}, [1, 0] : vector<64x32xbf16> to vector<32x64xbf16>
// VECTOR: arith.extf %[[B]]
// VECTOR: vector.contract
func.func @viewed_by_order(%A: i64, %BT: i64, %C: i64, %M: index, %N: index, %K: index, %i: index, %j: index, %k: index) {
  %a = xetile.init_tile %A[%i, %k], [%M, %K], [%K, 1] : i64 -> !xetile.tile<64x32xbf16>
  %b = xetile.init_tile %BT[%k, %j], [%K, %N], [1, %K] : i64 -> !xetile.tile<32x64xbf16, #columns>
  %c = xetile.init_tile %C[%i, %j], [%M, %N], [%N, 1] : i64 -> !xetile.tile<64x64xf32>
  %va = xetile.load_tile %a : !xetile.tile<64x32xbf16> -> vector<64x32xbf16>
  %vb = xetile.load_tile %b : !xetile.tile<32x64xbf16, #columns> -> vector<32x64xbf16>
  %vc = xetile.tile_mma %va, %vb : vector<64x32xbf16>, vector<32x64xbf16> -> vector<64x64xf32>
  xetile.store_tile %vc, %c : vector<64x64xf32>, !xetile.tile<64x64xf32>
  return
}

// VECTOR-LABEL: func @transposed_as_a_vector
// VECTOR-SAME: %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[K:[a-z0-9]+]]: index)
// VECTOR: vector.transfer_read %{{[a-z0-9_]+}}[%[[J]], %[[K]]]{{.*}} vector<64x32xbf16>
// VECTOR: %[[B:.*]] = vector.transpose %{{.*}}, [1, 0] : vector<64x32xbf16> to vector<32x64xbf16>
// VECTOR: arith.extf %[[B]]
// VECTOR: vector.contract
func.func @transposed_as_a_vector(%A: i64, %BT: i64, %C: i64, %M: index, %N: index, %K: index, %i: index, %j: index, %k: index) {
  %a = xetile.init_tile %A[%i, %k], [%M, %K], [%K, 1] : i64 -> !xetile.tile<64x32xbf16>
  %bt = xetile.init_tile %BT[%j, %k], [%N, %K], [%K, 1] : i64 -> !xetile.tile<64x32xbf16>
  %c = xetile.init_tile %C[%i, %j], [%M, %N], [%N, 1] : i64 -> !xetile.tile<64x64xf32>
  %va = xetile.load_tile %a : !xetile.tile<64x32xbf16> -> vector<64x32xbf16>
  %vbt = xetile.load_tile %bt : !xetile.tile<64x32xbf16> -> vector<64x32xbf16>
  %vb = xetile.tile_transpose %vbt, [1, 0] : vector<64x32xbf16> -> vector<32x64xbf16>
  %vc = xetile.tile_mma %va, %vb : vector<64x32xbf16>, vector<32x64xbf16> -> vector<64x64xf32>
  xetile.store_tile %vc, %c : vector<64x64xf32>, !xetile.tile<64x64xf32>
  return
}

// VECTOR-LABEL: func @correct
// VECTOR: return
func.func @correct(%0: memref<1024x1024xf16>, %1: memref<1024x1024xf16, affine_map<(d0, d1) -> (d1, d0)>>) {
  %a = xetile.init_tile %0[0, 0] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16, #rows>
  %b = xetile.init_tile %0[0, 0] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
  %c = xetile.init_tile %1[0, 0] : memref<1024x1024xf16, affine_map<(d0, d1) -> (d1, d0)>> -> !xetile.tile<64x32xf16, #columns>
  return
}
