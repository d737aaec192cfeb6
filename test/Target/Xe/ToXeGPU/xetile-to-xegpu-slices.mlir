// RUN: xetile-opt %s --convert-xetile-to-xegpu=chip=pvc --canonicalize --split-input-file | FileCheck %s

// Where a, b and the result do not fit the registers together, tiles that tile_mma alone reads are loaded slice by slice
// along k, each slice's loads right before its multiplications.

// The result's 32x64 take 8 KB of the 16, the operands' 256 of k 48 KB, 32 of them 6 KB: eight slices, each of one message
// for a and two for b at their own offsets.
// CHECK-LABEL: func @large_k
// CHECK-SAME: %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK: xegpu.prefetch_nd
// CHECK: xegpu.load_nd %[[DA:.*]][%[[M]], 0] {{.*}} -> vector<2x32x16xf16>
// CHECK-COUNT-2: xegpu.load_nd
// CHECK-NOT: xegpu.load_nd
// CHECK-COUNT-32: xegpu.dpas
// CHECK-NOT: xegpu.dpas
// CHECK: xegpu.load_nd %{{.*}}[%[[M]], 32]
// CHECK: xegpu.load_nd %{{.*}}[32, %[[N]]]
// CHECK: xegpu.load_nd %{{.*}}[32, %{{.*}}]
// CHECK-COUNT-32: xegpu.dpas
// CHECK-NOT: xegpu.dpas
// CHECK: xegpu.load_nd %{{.*}}[%[[M]], 64]
// CHECK: xegpu.load_nd %{{.*}}[%[[M]], 224]
// CHECK: xegpu.load_nd %{{.*}}[224, %[[N]]]
// CHECK-COUNT-32: xegpu.dpas
// CHECK-NOT: xegpu.dpas
// CHECK: return
func.func @large_k(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>, %m: index, %n: index) {
  %ta = xetile.init_tile %A[%m, 0] : memref<1024x1024xf16> -> !xetile.tile<32x256xf16>
  %tb = xetile.init_tile %B[0, %n] : memref<1024x1024xf16> -> !xetile.tile<256x64xf16>
  %tc = xetile.init_tile %C[%m, %n] : memref<1024x1024xf32> -> !xetile.tile<32x64xf32>
  %a = xetile.load_tile %ta : !xetile.tile<32x256xf16> -> vector<32x256xf16>
  %b = xetile.load_tile %tb : !xetile.tile<256x64xf16> -> vector<256x64xf16>
  xetile.prefetch_tile %ta locality<3> : !xetile.tile<32x256xf16>
  %d = xetile.tile_mma %a, %b : vector<32x256xf16>, vector<256x64xf16> -> vector<32x64xf32>
  xetile.store_tile %d, %tc : vector<32x64xf32>, !xetile.tile<32x64xf32>
  return
}

// -----

// b is used twice and stays whole, 64 x 16; only a is cut.
// CHECK-LABEL: func @one_operand
// CHECK: xegpu.load_nd %{{.*}}[0, 0]
// CHECK: math.absf
// CHECK: xegpu.dpas
// CHECK: xegpu.load_nd
// CHECK: xegpu.dpas
func.func @one_operand(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>, %D: memref<1024x1024xf16>) {
  %ta = xetile.init_tile %A[0, 0] : memref<1024x1024xf16> -> !xetile.tile<128x64xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<1024x1024xf16> -> !xetile.tile<64x16xf16>
  %tc = xetile.init_tile %C[0, 0] : memref<1024x1024xf32> -> !xetile.tile<128x16xf32>
  %a = xetile.load_tile %ta : !xetile.tile<128x64xf16> -> vector<128x64xf16>
  %b = xetile.load_tile %tb : !xetile.tile<64x16xf16> -> vector<64x16xf16>
  %abs = math.absf %b : vector<64x16xf16>
  %d = xetile.tile_mma %a, %abs : vector<128x64xf16>, vector<64x16xf16> -> vector<128x16xf32>
  xetile.store_tile %d, %tc : vector<128x16xf32>, !xetile.tile<128x16xf32>
  return
}

// -----

// What fits is loaded as before, at the loads.
// CHECK-LABEL: func @fits
// CHECK-COUNT-2: xegpu.load_nd
// CHECK-NOT: xegpu.load_nd
// CHECK: return
func.func @fits(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>) {
  %ta = xetile.init_tile %A[0, 0] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
  %tb = xetile.init_tile %B[0, 0] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
  %tc = xetile.init_tile %C[0, 0] : memref<1024x1024xf32> -> !xetile.tile<32x32xf32>
  %a = xetile.load_tile %ta : !xetile.tile<32x32xf16> -> vector<32x32xf16>
  %b = xetile.load_tile %tb : !xetile.tile<32x32xf16> -> vector<32x32xf16>
  %d = xetile.tile_mma %a, %b : vector<32x32xf16>, vector<32x32xf16> -> vector<32x32xf32>
  xetile.store_tile %d, %tc : vector<32x32xf32>, !xetile.tile<32x32xf32>
  return
}

// -----

// A store of 512 rows of which 8 fit beside the nine values that they are computed of: 64 parts, the most there are.
// CHECK-LABEL: func @most_parts
// CHECK: xegpu.load_nd %{{.*}}[0, 0]
// CHECK: xegpu.store_nd %{{.*}}[0, 0]
// CHECK: xegpu.load_nd %{{.*}}[8, 0]
// CHECK: xegpu.store_nd %{{.*}}[8, 0]
// CHECK: xegpu.load_nd %{{.*}}[504, 0]
// CHECK: xegpu.store_nd %{{.*}}[504, 0]
// CHECK: return
func.func @most_parts(%A: memref<512x32xf32>, %B: memref<512x32xf32>) {
  %ta = xetile.init_tile %A[0, 0] : memref<512x32xf32> -> !xetile.tile<512x32xf32>
  %tb = xetile.init_tile %B[0, 0] : memref<512x32xf32> -> !xetile.tile<512x32xf32>
  %a = xetile.load_tile %ta : !xetile.tile<512x32xf32> -> vector<512x32xf32>
  %v0 = math.absf %a : vector<512x32xf32>
  %v1 = arith.negf %v0 : vector<512x32xf32>
  %v2 = math.absf %v1 : vector<512x32xf32>
  %v3 = arith.negf %v2 : vector<512x32xf32>
  %v4 = math.absf %v3 : vector<512x32xf32>
  %v5 = arith.negf %v4 : vector<512x32xf32>
  %v6 = math.absf %v5 : vector<512x32xf32>
  %v7 = arith.negf %v6 : vector<512x32xf32>
  %v8 = math.absf %v7 : vector<512x32xf32>
  xetile.store_tile %v8, %tb : vector<512x32xf32>, !xetile.tile<512x32xf32>
  return
}
