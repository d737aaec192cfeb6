// RUN: xetile-opt %s --convert-vector-to-xetile | FileCheck %s

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @matmul
// CHECK-SAME: (%[[A:.*]]: memref<64x64xf16>, %[[B:.*]]: memref<64x64xf16>, %[[C:.*]]: memref<64x64xf32>, %[[K:.*]]: index)
func.func @matmul(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  %h = arith.constant 0.0 : f16
  %f = arith.constant 0.0 : f32
  // CHECK: %[[TA:.*]] = xetile.init_tile %[[A]][0, %[[K]]] : memref<64x64xf16> -> !xetile.tile<32x16xf16>
  // CHECK: %[[VA:.*]] = xetile.load_tile %[[TA]] : !xetile.tile<32x16xf16> -> vector<32x16xf16>
  %a = vector.transfer_read %A[%c0, %k], %h {in_bounds = [true, true]} : memref<64x64xf16>, vector<32x16xf16>
  // CHECK: %[[VB:.*]] = xetile.load_tile
  %b = vector.transfer_read %B[%k, %c0], %h {in_bounds = [true, true]} : memref<64x64xf16>, vector<16x32xf16>
  // CHECK: %[[VC:.*]] = xetile.load_tile
  %c = vector.transfer_read %C[%c0, %c0], %f {in_bounds = [true, true]} : memref<64x64xf32>, vector<32x32xf32>
  // CHECK: %[[VD:.*]] = xetile.tile_mma %[[VA]], %[[VB]], %[[VC]] : vector<32x16xf16>, vector<16x32xf16>, vector<32x32xf32> -> vector<32x32xf32>
  %d = vector.contract {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %a, %b, %c : vector<32x16xf16>, vector<16x32xf16> into vector<32x32xf32>
  // CHECK: %[[TC:.*]] = xetile.init_tile %[[C]]
  // CHECK: xetile.store_tile %[[VD]], %[[TC]] : vector<32x32xf32>, !xetile.tile<32x32xf32>
  vector.transfer_write %d, %C[%c0, %c0] {in_bounds = [true, true]} : vector<32x32xf32>, memref<64x64xf32>
  return
}

// What lies out of bounds reads as the transfer's padding.
// CHECK-LABEL: func @padding
func.func @padding(%A: memref<60x60xf32>, %k: index) -> (vector<32x32xf32>, vector<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  // CHECK: xetile.load_tile %{{[^{]*}} : !xetile.tile<32x32xf32>
  %v = vector.transfer_read %A[%k, %k], %zero : memref<60x60xf32>, vector<32x32xf32>
  // CHECK: xetile.load_tile %{{.*}} {padding = 1.000000e+00 : f32}
  %w = vector.transfer_read %A[%k, %k], %one : memref<60x60xf32>, vector<32x32xf32>
  return %v, %w : vector<32x32xf32>, vector<32x32xf32>
}

// CHECK-LABEL: func @dynamic_shape
func.func @dynamic_shape(%A: memref<?x128xf16>, %k: index) -> vector<32x32xf16> {
  %h = arith.constant 0.0 : f16
  // CHECK: %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %{{.*}}:2 = memref.extract_strided_metadata
  // CHECK: xetile.init_tile %{{.*}}[%{{.*}}, %{{.*}}], [%[[SIZES]]#0, 128], [128, 1] : memref<?x128xf16>
  %v = vector.transfer_read %A[%k, %k], %h : memref<?x128xf16>, vector<32x32xf16>
  return %v : vector<32x32xf16>
}

// Bytes are signed as the extension before the contraction says, which is gone then.
// CHECK-LABEL: func @signs
// CHECK-SAME: (%[[A:.*]]: vector<8x32xi8>, %[[B:.*]]: vector<32x16xi8>, %[[N:.*]]: vector<32x16xi4>
func.func @signs(%a: vector<8x32xi8>, %b: vector<32x16xi8>, %n: vector<32x16xi4>, %c: vector<8x16xi32>) -> vector<8x16xi32> {
  %u = arith.extui %a : vector<8x32xi8> to vector<8x32xi32>
  %s = arith.extsi %b : vector<32x16xi8> to vector<32x16xi32>
  // CHECK-NOT: arith.ext
  // CHECK: %[[D:.*]] = xetile.tile_mma %[[A]], %[[B]], %{{.*}} {unsigned_a} : vector<8x32xi8>, vector<32x16xi8>, vector<8x16xi32> -> vector<8x16xi32>
  %d = vector.contract {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %u, %s, %c : vector<8x32xi32>, vector<32x16xi32> into vector<8x16xi32>
  // CHECK: %[[WIDE:.*]] = arith.extui %[[N]] : vector<32x16xi4> to vector<32x16xi8>
  // CHECK: %[[E:.*]] = xetile.tile_mma %[[A]], %[[WIDE]], %[[D]] {unsigned_a, unsigned_b}
  %w = arith.extui %n : vector<32x16xi4> to vector<32x16xi32>
  %e = vector.contract {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %u, %w, %d : vector<8x32xi32>, vector<32x16xi32> into vector<8x16xi32>
  // CHECK-DAG: %[[ONES:.*]] = arith.constant dense<-1> : vector<32x16xi8>
  // CHECK: xetile.tile_mma %[[A]], %[[ONES]], %[[E]] {unsigned_a} :
  %minus = arith.constant dense<-1> : vector<32x16xi32>
  %f = vector.contract {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %u, %minus, %e : vector<8x32xi32>, vector<32x16xi32> into vector<8x16xi32>
  // CHECK: xetile.tile_mma %[[A]], %{{.*}}, %{{.*}} {unsigned_a, unsigned_b} :
  %large = arith.constant dense<200> : vector<32x16xi32>
  %g = vector.contract {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %u, %large, %f : vector<8x32xi32>, vector<32x16xi32> into vector<8x16xi32>
  return %g : vector<8x16xi32>
}
