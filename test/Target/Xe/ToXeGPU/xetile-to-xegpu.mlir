// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --loop-invariant-code-motion --cse --split-input-file \
// RUN:   | FileCheck %s

// A subgroup's 32x32x32 product: a comes in one message of two 32x16 blocks, b in one, and four dpas each share a block of b.
// CHECK-LABEL: func @gemm
// CHECK-SAME: (%[[A:.*]]: memref<1024x1024xf16>, %[[B:.*]]: memref<1024x1024xf16>, %[[C:.*]]: memref<1024x1024xf32>, %[[M:.*]]: index, %{{.*}}: index)
func.func @gemm(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>, %m: index, %j: index) {
  %c64 = arith.constant 64 : index
  // CHECK-DAG: %[[N:.*]] = arith.muli
  %n = arith.muli %j, %c64 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  // CHECK-DAG: %[[DESC_A:.*]] = xegpu.create_nd_tdesc %[[A]] : memref<1024x1024xf16> -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
  // CHECK-DAG: %[[DESC_B:.*]] = xegpu.create_nd_tdesc %[[B]] : memref<1024x1024xf16> -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
  // CHECK-DAG: %[[DESC_P:.*]] = xegpu.create_nd_tdesc %[[A]] : memref<1024x1024xf16> -> !xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8x16xf32>
  %ta = xetile.init_tile %A[%m, 0] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  // CHECK: %[[SUM:.*]]:9 = scf.for %[[K:.*]] = %{{.*}} iter_args(%{{.*}} = %[[ZERO]], {{.*}} %[[KA:.*]] = %c0)
  %r:2 = scf.for %k = %c0 to %c1024 step %c32 iter_args(%sum = %zero, %tile = %ta) -> (vector<32x32xf32>, !xetile.tile<32x32xf16>) {
    // CHECK: %[[BLOCKS_A:.*]] = xegpu.load_nd %[[DESC_A]][%[[M]], %[[KA]]] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}>
    // CHECK-SAME: -> vector<2x32x16xf16>
    // CHECK: %[[LEFT:.*]] = vector.extract %[[BLOCKS_A]][0] : vector<32x16xf16> from vector<2x32x16xf16>
    // CHECK: %[[A00:.*]] = vector.extract_strided_slice %[[LEFT]] {offsets = [0, 0], sizes = [8, 16], strides = [1, 1]}
    // CHECK: %[[A10:.*]] = vector.extract_strided_slice %[[LEFT]] {offsets = [8, 0], sizes = [8, 16], strides = [1, 1]}
    %a = xetile.load_tile %tile : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    // CHECK: %[[BLOCKS_B:.*]] = xegpu.load_nd %[[DESC_B]][%[[K]], %[[N]]]
    // CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0, 0], sizes = [16, 16], strides = [1, 1]}
    %tb = xetile.init_tile %B[%k, %n] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
    %b = xetile.load_tile %tb : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    // CHECK: xegpu.prefetch_nd %[[DESC_P]][%{{.*}}, %{{.*}}] <{l1_hint = #xegpu.cache_hint<uncached>, l2_hint = #xegpu.cache_hint<uncached>, l3_hint = #xegpu.cache_hint<cached>}>
    %tp = xetile.init_tile %A[%k, %n] : memref<1024x1024xf16> -> !xetile.tile<8x32xf16>
    xetile.prefetch_tile %tp locality<2> : !xetile.tile<8x32xf16>
    // CHECK: xegpu.dpas %[[A00]], %[[B00:.*]], %{{.*}} : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
    // CHECK: xegpu.dpas %[[A10]], %[[B00]], %{{.*}} : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
    // CHECK-COUNT-14: xegpu.dpas
    // CHECK-NOT: xegpu.dpas
    %d = xetile.tile_mma %a, %b, %sum : vector<32x32xf16>, vector<32x32xf16>, vector<32x32xf32> -> vector<32x32xf32>
    // CHECK: arith.addi %[[KA]], %c32
    %next = xetile.update_tile_offset %tile, [0, 32] : !xetile.tile<32x32xf16>
    scf.yield %d, %next : vector<32x32xf32>, !xetile.tile<32x32xf16>
  }
  // CHECK-COUNT-8: arith.negf %{{.*}} : vector<8x16xf32>
  %e = arith.negf %r#0 : vector<32x32xf32>
  // Stores take at most 8 rows.
  // CHECK: %[[DESC_C:.*]] = xegpu.create_nd_tdesc %[[C]] : memref<1024x1024xf32> -> !xegpu.tensor_desc<8x16xf32>
  // CHECK-COUNT-8: xegpu.store_nd %{{.*}}, %[[DESC_C]][%{{.*}}, %{{.*}}] <{l1_hint = #xegpu.cache_hint<write_back>
  // CHECK-NOT: xetile.
  %tc = xetile.init_tile %C[%m, %n] : memref<1024x1024xf32> -> !xetile.tile<32x32xf32>
  xetile.store_tile %e, %tc : vector<32x32xf32>, !xetile.tile<32x32xf32>
  return
}

// -----

// Bytes: k is 32, a row of b takes 16 bytes of a message.
// CHECK-LABEL: func @int8
func.func @int8(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) {
  %ta = xetile.init_tile %A[0, 0] : memref<64x64xi8> -> !xetile.tile<8x32xi8>
  // CHECK: -> vector<8x32xi8>
  %a = xetile.load_tile %ta : !xetile.tile<8x32xi8> -> vector<8x32xi8>
  %tb = xetile.init_tile %B[0, 0] : memref<64x64xi8> -> !xetile.tile<32x16xi8>
  // CHECK: -> vector<32x16xi8>
  %b = xetile.load_tile %tb : !xetile.tile<32x16xi8> -> vector<32x16xi8>
  // CHECK: xegpu.dpas %{{.*}} : vector<8x32xi8>, vector<32x16xi8>, vector<8x16xi32> -> vector<8x16xi32>
  %d = xetile.tile_mma %a, %b : vector<8x32xi8>, vector<32x16xi8> -> vector<8x16xi32>
  %tc = xetile.init_tile %C[0, 0] : memref<64x64xi32> -> !xetile.tile<8x16xi32>
  xetile.store_tile %d, %tc : vector<8x16xi32>, !xetile.tile<8x16xi32>
  return
}

// -----

// An address and a memref of dynamic height keep their description.
// CHECK-LABEL: func @described_bases
// CHECK-SAME: (%[[P:.*]]: i64, %[[D:.*]]: memref<?x64xf32>, %[[H:.*]]: index)
func.func @described_bases(%address: i64, %D: memref<?x64xf32>, %h: index) {
  // CHECK: xegpu.create_nd_tdesc %[[P]], shape : [%[[H]], 64], strides : [128, 1] : i64 -> !xegpu.tensor_desc<16x16xf32>
  %t = xetile.init_tile %address[8, 16], [%h, 64], [128, 1] : i64 -> !xetile.tile<16x16xf32>
  // CHECK: xegpu.load_nd %{{.*}}[8, 16]
  %v = xetile.load_tile %t : !xetile.tile<16x16xf32> -> vector<16x16xf32>
  // CHECK: xegpu.create_nd_tdesc %[[D]], shape : [%[[H]], 64], strides : [64, 1] : memref<?x64xf32> -> !xegpu.tensor_desc<8x16xf32>
  %u = xetile.init_tile %D[0, 0], [%h, 64], [64, 1] : memref<?x64xf32> -> !xetile.tile<16x16xf32>
  // CHECK: xegpu.store_nd %{{.*}}[0, 0]
  // CHECK: xegpu.store_nd %{{.*}}[8, 0]
  xetile.store_tile %v, %u : vector<16x16xf32>, !xetile.tile<16x16xf32>
  return
}

// -----

// The planner's messages: b is cut into blocks of 16 rows, which are stored in messages of 8; bytes are prefetched in blocks of 32.
// CHECK-LABEL: func @planned
func.func @planned(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>, %P: memref<64x64xi8>) {
  // CHECK: %[[DESC:.*]] = xegpu.create_nd_tdesc %{{.*}} : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  %ta = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<8x16xf16>
  %a = xetile.load_tile %ta : !xetile.tile<8x16xf16> -> vector<8x16xf16>
  // CHECK: %[[B:.*]] = xegpu.load_nd %{{.*}}[0, 0] {{.*}} -> vector<16x16xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<64x64xf16> -> !xetile.tile<16x16xf16>
  %b = xetile.load_tile %tb : !xetile.tile<16x16xf16> -> vector<16x16xf16>
  // CHECK-DAG: %[[LOW:.*]] = vector.extract_strided_slice %[[B]] {offsets = [0, 0], sizes = [8, 16]
  // CHECK-DAG: xegpu.store_nd %[[LOW]], %[[DESC]][16, 0]
  // CHECK-DAG: %[[HIGH:.*]] = vector.extract_strided_slice %[[B]] {offsets = [8, 0], sizes = [8, 16]
  // CHECK-DAG: xegpu.store_nd %[[HIGH]], %[[DESC]][24, 0]
  %to = xetile.init_tile %A[16, 0] : memref<64x64xf16> -> !xetile.tile<16x16xf16>
  xetile.store_tile %b, %to : vector<16x16xf16>, !xetile.tile<16x16xf16>
  // CHECK: xegpu.prefetch_nd %{{.*}}[0, 0] {{.*}} !xegpu.tensor_desc<8x32xi8, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
  %tp = xetile.init_tile %P[0, 0] : memref<64x64xi8> -> !xetile.tile<8x64xi8>
  xetile.prefetch_tile %tp locality<3> : !xetile.tile<8x64xi8>
  %d = xetile.tile_mma %a, %b : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf32>
  %tc = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
  xetile.store_tile %d, %tc : vector<8x16xf32>, !xetile.tile<8x16xf32>
  return
}

// Constants that could fold are cut in blocks, too.
// CHECK-LABEL: func @constants_that_fold
// CHECK-COUNT-2: xegpu.store_nd %{{.*}} : vector<8x16xf32>
func.func @constants_that_fold(%A: memref<64x64xf32>) {
  %a = arith.constant dense<1> : vector<16x16xi32>
  %b = arith.constant dense<2.0> : vector<16x16xf32>
  %f = arith.uitofp %a : vector<16x16xi32> to vector<16x16xf32>
  %c = arith.minnumf %f, %b : vector<16x16xf32>
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<16x16xf32>
  xetile.store_tile %c, %t : vector<16x16xf32>, !xetile.tile<16x16xf32>
  return
}

// -----

// What the mask leaves out takes the padding, zero where none is given: a message leaves any value there.
// CHECK-LABEL: func @gather
// CHECK-SAME: %[[ADDRESS:[a-z0-9]+]]: i64, %[[PLACES:[a-z0-9]+]]: vector<1x16xindex>, %[[MASK:[a-z0-9]+]]: vector<1x16xi1>
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<1x16xf32>
// CHECK-DAG: %[[SEVENS:.*]] = arith.constant dense<7.000000e+00> : vector<1x16xf32>
// CHECK: %[[LOADED:.*]] = xegpu.load %[[ADDRESS]][%[[PLACES]]], %[[MASK]]
// CHECK: arith.select %[[MASK]], %[[LOADED]], %[[SEVENS]]
// CHECK: arith.select %[[MASK]], %[[LOADED]], %[[ZEROS]]
func.func @gather(%address: i64, %places: vector<1x16xindex>, %mask: vector<1x16xi1>) -> (vector<1x16xf32>, vector<1x16xf32>) {
  %t = xetile.init_tile %address, %places : i64, vector<1x16xindex> -> !xetile.tile<1x16xf32, #xetile.tile_attr<scatter = true>>
  %v = xetile.load_gather %t, %mask {padding = 7.0 : f32} : !xetile.tile<1x16xf32, #xetile.tile_attr<scatter = true>>, vector<1x16xi1> -> vector<1x16xf32>
  %w = xetile.load_gather %t, %mask : !xetile.tile<1x16xf32, #xetile.tile_attr<scatter = true>>, vector<1x16xi1> -> vector<1x16xf32>
  return %v, %w : vector<1x16xf32>, vector<1x16xf32>
}
