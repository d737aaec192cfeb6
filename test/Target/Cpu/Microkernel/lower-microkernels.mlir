// RUN: xetile-opt %s --xetile-lower-microkernels="bf16-dot" --canonicalize --cse | FileCheck %s

// The fill before starts the sums; C is never read.
// CHECK-LABEL: func @fill
// CHECK-SAME: (%[[A:.*]]: memref<1x12x256xf32>, %[[B:.*]]: memref<1x256x32xf32>, %[[C:.*]]: memref<12x32xf32>)
// CHECK-NOT: linalg
// CHECK-NOT: vector.load %[[C]]
// CHECK: scf.for %[[K:.*]] = %c0 to %c256 step %c1 iter_args
// CHECK: %[[LEFT:.*]] = vector.load %[[B]][%c0, %[[K]], %c0] : memref<1x256x32xf32>, vector<16xf32>
// CHECK: %[[RIGHT:.*]] = vector.load %[[B]][%c0, %[[K]], %c16]
// CHECK: %[[X:.*]] = memref.load %[[A]][%c0, %c0, %[[K]]]
// CHECK: %[[ROW:.*]] = vector.broadcast %[[X]] : f32 to vector<16xf32>
// CHECK: vector.fma %[[ROW]], %[[LEFT]]
// CHECK: vector.fma %[[ROW]], %[[RIGHT]]
// CHECK-COUNT-24: vector.store
// CHECK-NOT: linalg
func.func @fill(%a: memref<1x12x256xf32>, %b: memref<1x256x32xf32>, %c: memref<12x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<12x32xf32>)
  linalg.batch_reduce_matmul ins(%a, %b : memref<1x12x256xf32>, memref<1x256x32xf32>) outs(%c : memref<12x32xf32>)
  return
}

// 3 columns left of 16: masked, so that nothing past the edge is touched.
// CHECK-LABEL: func @edge
// CHECK: %[[MASK:.*]] = vector.constant_mask [3] : vector<16xi1>
// CHECK: vector.maskedload %{{.*}}, %[[MASK]]
// CHECK-NOT: vector.load
// CHECK: vector.fma
// CHECK: vector.maskedstore %{{.*}}, %[[MASK]]
func.func @edge(%a: memref<1x5x7xf32>, %b: memref<1x7x3xf32>, %c: memref<5x3xf32>) {
  linalg.batch_reduce_matmul ins(%a, %b : memref<1x5x7xf32>, memref<1x7x3xf32>) outs(%c : memref<5x3xf32>)
  return
}

// Pairs of bf16 along k: one instruction multiplies and adds both.
// CHECK-LABEL: func @pairs
// CHECK: vector.load %{{.*}} : memref<64x32xbf16>, vector<32xbf16>
// CHECK: %[[PAIR:.*]] = vector.load %{{.*}} : memref<8x64x2xbf16>, vector<2xbf16>
// CHECK: vector.bitcast %[[PAIR]] : vector<2xbf16> to vector<1xi32>
// CHECK: x86vector.avx512.dot %{{.*}} : vector<32xbf16> -> vector<16xf32>
#a = affine_map<(m, n, k, p) -> (m, k, p)>
#b = affine_map<(m, n, k, p) -> (k, n, p)>
#c = affine_map<(m, n, k, p) -> (m, n)>
func.func @pairs(%a: memref<8x64x2xbf16>, %b: memref<64x16x2xbf16>, %c: memref<8x16xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<8x64x2xbf16>, memref<64x16x2xbf16>) outs(%c : memref<8x16xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %xf = arith.extf %x : bf16 to f32
    %yf = arith.extf %y : bf16 to f32
    %p = arith.mulf %xf, %yf : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Neither n nor k is contiguous in B: left to the lowering to loops.
// CHECK-LABEL: func @strided
// CHECK: linalg.matmul
func.func @strided(%a: memref<8x64xf32>, %b: memref<64x16xf32, strided<[32, 2]>>, %c: memref<8x16xf32>) {
  linalg.matmul ins(%a, %b : memref<8x64xf32>, memref<64x16xf32, strided<[32, 2]>>) outs(%c : memref<8x16xf32>)
  return
}

// Both inputs are contiguous along k: vectors of it, and a sum of lanes in the end. Four columns of a row are stored
// together, as their halves of lanes are added together.
// CHECK-LABEL: func @along_k
// CHECK-SAME: (%[[A:.*]]: memref<6x64xf32>, %[[B:.*]]: memref<4x64xf32>, %[[C:.*]]: memref<6x4xf32>)
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c16
// CHECK: vector.load %[[B]][%c0, %[[K]]] : memref<4x64xf32>, vector<16xf32>
// CHECK: %[[ROW:.*]] = vector.load %[[A]][%c0, %[[K]]] : memref<6x64xf32>, vector<16xf32>
// CHECK-COUNT-24: vector.fma
// CHECK: scf.yield
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK: %[[SUMS:.*]] = vector.shuffle {{.*}} [0, 2, 4, 6]
// CHECK: vector.load %[[C]][%c0, %c0] : memref<6x4xf32>, vector<4xf32>
// CHECK-COUNT-6: vector.store {{.*}} : memref<6x4xf32>, vector<4xf32>
// CHECK-NOT: linalg
func.func @along_k(%a: memref<6x64xf32>, %b: memref<4x64xf32>, %c: memref<6x4xf32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<6x64xf32>, memref<4x64xf32>) outs(%c : memref<6x4xf32>)
  return
}

// A single column: its operands are views of one vector. 5 elements of k are left.
// CHECK-LABEL: func @column
// CHECK: %[[X:.*]] = memref.transpose %{{.*}} (d0, d1) -> (d1, d0)
// CHECK: vector.load %[[X]][%c0, %{{.*}}] : memref<1x37xf32, strided<[1, 1]>>, vector<16xf32>
// CHECK: %[[MASK:.*]] = vector.constant_mask [5] : vector<16xi1>
// CHECK: vector.maskedload %{{.*}}, %[[MASK]]
// CHECK-NOT: linalg
func.func @column(%a: memref<8x37xf32>, %b: memref<37x1xf32>, %c: memref<8x1xf32>) {
  linalg.matmul ins(%a, %b : memref<8x37xf32>, memref<37x1xf32>) outs(%c : memref<8x1xf32>)
  return
}

// Pairs of bf16 lie along k as the instruction wants them.
// CHECK-LABEL: func @pairs_along_k
// CHECK: x86vector.avx512.dot %{{.*}} : vector<32xbf16> -> vector<16xf32>
func.func @pairs_along_k(%a: memref<2x64xbf16>, %b: memref<64x16xbf16, strided<[1, 64]>>, %c: memref<2x16xf32>) {
  linalg.matmul ins(%a, %b : memref<2x64xbf16>, memref<64x16xbf16, strided<[1, 64]>>) outs(%c : memref<2x16xf32>)
  return
}

// A single sum of integers is a reduction of whole vectors: LLVM forgets lanes of halves of halves.
// CHECK-LABEL: func @single_sum
// CHECK-NOT: vector.shuffle
// CHECK: vector.reduction <add>, %{{.*}} : vector<16xi32> into i32
// CHECK-NOT: vector.shuffle
func.func @single_sum(%a: memref<1x64xi32>, %b: memref<1x64xi32>, %c: memref<1x1xi32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<1x64xi32>, memref<1x64xi32>) outs(%c : memref<1x1xi32>)
  return
}
