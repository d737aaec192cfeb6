// RUN: xetile-opt %s --xetile-blocking=chip=pvc --canonicalize --cse --split-input-file | FileCheck %s
// Blocks stay as they are.
// RUN: xetile-opt %s --xetile-blocking=chip=pvc --canonicalize --cse --split-input-file > %t.once
// RUN: xetile-opt %t.once --xetile-blocking=chip=pvc --canonicalize --cse --split-input-file | diff %t.once -

// Large blocks in memory, those of dpas in the product; the loop carries the sum in blocks and one offset.
// CHECK-DAG: #[[LARGE:.*]] = #xetile.tile_attr<inner_blocks = [32, 16]>
// CHECK-DAG: #[[SMALL:.*]] = #xetile.tile_attr<inner_blocks = [8, 16]>
// CHECK-LABEL: func @gemm
// CHECK-SAME: %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4x4x8x16xf32>
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]], %[[K:.*]] = %c0{{.*}}) -> (vector<4x4x8x16xf32>, index)
// CHECK: xetile.init_tile %{{.*}}[%[[M]], %[[K]]] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16, #[[LARGE]]>
// CHECK: %[[LA:.*]] = xetile.load_tile {{.*}} -> vector<1x2x32x16xf16>
// CHECK: %[[UA:.*]] = xetile.tile_unpack %[[LA]]
// CHECK: %[[A:.*]] = xetile.tile_pack %[[UA]] {inner_blocks = array<i64: 8, 16>} : vector<32x32xf16> -> vector<4x2x8x16xf16>
// CHECK: %[[LB:.*]] = xetile.load_tile {{.*}}, #[[LARGE]]> -> vector<1x4x32x16xf16>
// CHECK: xetile.tile_pack {{.*}} -> vector<2x4x16x16xf16>
// CHECK: %[[D:.*]] = xetile.tile_mma %[[A]], %{{.*}}, %[[SUM]] : vector<4x2x8x16xf16>, vector<2x4x16x16xf16>, vector<4x4x8x16xf32> -> vector<4x4x8x16xf32>
// CHECK: scf.yield %[[D]], %{{.*}} : vector<4x4x8x16xf32>, index
// What is computed of the sum has its blocks, and they are stored as they are.
// CHECK: %[[E:.*]] = arith.maximumf {{.*}} : vector<4x4x8x16xf32>
// CHECK: xetile.store_tile %[[E]], %{{.*}} : vector<4x4x8x16xf32>, !xetile.tile<32x64xf32, #[[SMALL]]>
func.func @gemm(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant dense<0.0> : vector<32x64xf32>
  %ta = xetile.init_tile %A[%m, 0] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
  %r:2 = scf.for %k = %c0 to %c1024 step %c32 iter_args(%sum = %zero, %tile = %ta) -> (vector<32x64xf32>, !xetile.tile<32x32xf16>) {
    %a = xetile.load_tile %tile : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    %tb = xetile.init_tile %B[%k, %n] : memref<1024x1024xf16> -> !xetile.tile<32x64xf16>
    %b = xetile.load_tile %tb : !xetile.tile<32x64xf16> -> vector<32x64xf16>
    %d = xetile.tile_mma %a, %b, %sum : vector<32x32xf16>, vector<32x64xf16>, vector<32x64xf32> -> vector<32x64xf32>
    %next = xetile.update_tile_offset %tile, [0, 32] : !xetile.tile<32x32xf16>
    scf.yield %d, %next : vector<32x64xf32>, !xetile.tile<32x32xf16>
  }
  %e = arith.maximumf %r#0, %zero : vector<32x64xf32>
  %tc = xetile.init_tile %C[%m, %n] : memref<1024x1024xf32> -> !xetile.tile<32x64xf32>
  xetile.store_tile %e, %tc : vector<32x64xf32>, !xetile.tile<32x64xf32>
  return
}

// -----

// Where blocks agree nothing stands between; transposition takes whole vectors.
// CHECK-LABEL: func @softmax_and_transpose
// CHECK: %[[V:.*]] = xetile.load_tile {{.*}} -> vector<1x2x16x16xf32>
// CHECK: %[[P:.*]] = xetile.tile_pack {{.*}} -> vector<2x2x8x16xf32>
// CHECK: %[[R:.*]] = xetile.tile_reduce <add> %[[P]], [1, 3] : vector<2x2x8x16xf32> -> vector<2x1x8x1xf32>
// CHECK: %[[B:.*]] = xetile.tile_broadcast %[[R]], [1, 3] : vector<2x1x8x1xf32> -> vector<2x2x8x16xf32>
// CHECK: %[[Q:.*]] = arith.divf %[[P]], %[[B]] : vector<2x2x8x16xf32>
// CHECK: %[[U:.*]] = xetile.tile_unpack %[[Q]]
// CHECK: %[[T:.*]] = xetile.tile_transpose %[[U]], [1, 0] : vector<16x32xf32> -> vector<32x16xf32>
// CHECK: xetile.tile_pack %[[T]] {{.*}} -> vector<4x1x8x16xf32>
// CHECK: xetile.store_tile
func.func @softmax_and_transpose(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<16x32xf32>
  %v = xetile.load_tile %t : !xetile.tile<16x32xf32> -> vector<16x32xf32>
  %r = xetile.tile_reduce <add> %v, [1] : vector<16x32xf32> -> vector<16x1xf32>
  %b = xetile.tile_broadcast %r, [1] : vector<16x1xf32> -> vector<16x32xf32>
  %q = arith.divf %v, %b : vector<16x32xf32>
  %x = xetile.tile_transpose %q, [1, 0] : vector<16x32xf32> -> vector<32x16xf32>
  %o = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<32x16xf32>
  xetile.store_tile %x, %o : vector<32x16xf32>, !xetile.tile<32x16xf32>
  return
}

// -----

// One value as two operands is packed twice.
// CHECK-LABEL: func @both_operands
// CHECK: %[[L:.*]] = xetile.load_tile
// CHECK-NOT: xetile.load_tile
// CHECK: xetile.tile_mma %{{.*}}, %{{.*}} : vector<4x2x8x16xf16>, vector<2x2x16x16xf16> -> vector<4x2x8x16xf32>
func.func @both_operands(%A: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf16> -> !xetile.tile<32x32xf16>
  %v = xetile.load_tile %t : !xetile.tile<32x32xf16> -> vector<32x32xf16>
  %d = xetile.tile_mma %v, %v : vector<32x32xf16>, vector<32x32xf16> -> vector<32x32xf32>
  %o = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<32x32xf32>
  xetile.store_tile %d, %o : vector<32x32xf32>, !xetile.tile<32x32xf32>
  return
}

// -----

// A tile that lies in columns comes in 32-bit words, 16 rows of k and 32 columns at once; one in shared memory in blocks of dpas.
// CHECK-LABEL: func @columns_and_shared_memory
// CHECK: xetile.load_tile {{.*}} -> vector<4x2x8x16xf16>
// CHECK: xetile.load_tile {{.*}} -> vector<2x1x16x32xf16>
// CHECK: xetile.tile_pack {{.*}} -> vector<2x2x16x16xf16>
func.func @columns_and_shared_memory(%A: memref<32x32xf16, 3>, %B: memref<64x64xf16, strided<[1, 64]>>, %C: memref<64x64xf32>) {
  %ta = xetile.init_tile %A[0, 0] : memref<32x32xf16, 3> -> !xetile.tile<32x32xf16, #xetile.tile_attr<memory_space = slm>>
  %a = xetile.load_tile %ta : !xetile.tile<32x32xf16, #xetile.tile_attr<memory_space = slm>> -> vector<32x32xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<64x64xf16, strided<[1, 64]>> -> !xetile.tile<32x32xf16, #xetile.tile_attr<order = [0, 1]>>
  %b = xetile.load_tile %tb : !xetile.tile<32x32xf16, #xetile.tile_attr<order = [0, 1]>> -> vector<32x32xf16>
  %d = xetile.tile_mma %a, %b : vector<32x32xf16>, vector<32x32xf16> -> vector<32x32xf32>
  %o = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<32x32xf32>
  xetile.store_tile %d, %o : vector<32x32xf32>, !xetile.tile<32x32xf32>
  return
}

// -----

// A gather gives one block: what scf.while and scf.index_switch hand on has the blocks of what makes it.
// CHECK-LABEL: func @carried_by_while
// CHECK: scf.while {{.*}} : (index, vector<1x1x1x64xf32>) -> (index, vector<1x1x1x64xf32>)
// CHECK: scf.condition({{.*}}) {{.*}} : index, vector<1x1x1x64xf32>
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: vector<1x1x1x64xf32>):
// CHECK: arith.addf {{.*}} : vector<1x1x1x64xf32>
// CHECK: scf.yield {{.*}} : index, vector<1x1x1x64xf32>
// CHECK: scf.index_switch {{.*}} -> vector<1x1x1x64xf32>
// CHECK: arith.negf {{.*}} : vector<1x1x1x64xf32>
func.func @carried_by_while(%p: i64, %places: vector<1x64xindex>, %mask: vector<1x64xi1>, %n: index, %B: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<1x64xf32>
  %t = xetile.init_tile %p, %places : i64, vector<1x64xindex> -> !xetile.tile<1x64xf32, #xetile.tile_attr<scatter = true>>
  %r:2 = scf.while (%i = %c0, %sum = %zero) : (index, vector<1x64xf32>) -> (index, vector<1x64xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %sum : index, vector<1x64xf32>
  } do {
  ^bb0(%i: index, %sum: vector<1x64xf32>):
    %v = xetile.load_gather %t, %mask : !xetile.tile<1x64xf32, #xetile.tile_attr<scatter = true>>, vector<1x64xi1> -> vector<1x64xf32>
    %new = arith.addf %sum, %v : vector<1x64xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %new : index, vector<1x64xf32>
  }
  %s = scf.index_switch %n -> vector<1x64xf32>
  case 0 {
    %m = arith.negf %r#1 : vector<1x64xf32>
    scf.yield %m : vector<1x64xf32>
  }
  default {
    scf.yield %r#1 : vector<1x64xf32>
  }
  %to = xetile.init_tile %B[0, 0] : memref<8x64xf32> -> !xetile.tile<1x64xf32>
  xetile.store_tile %s, %to : vector<1x64xf32>, !xetile.tile<1x64xf32>
  return
}
