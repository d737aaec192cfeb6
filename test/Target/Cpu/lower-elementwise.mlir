// RUN: xetile-opt %s --xetile-lower-elementwise="vector-bits=512" --canonicalize --cse | FileCheck %s

#rows = affine_map<(m, n) -> (m)>
#columns = affine_map<(m, n) -> (n)>
#both = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// 20 columns: one vector and 4 masked elements; one factor for a row.
// CHECK-LABEL: func @scale_and_bias
// CHECK-SAME: (%[[S:.*]]: memref<8xf32>, %[[B:.*]]: memref<20xf32>, %[[C:.*]]: memref<8x20xf32>)
// CHECK: scf.for %[[M:.*]] = %c0 to %c8 step %c1
// CHECK: %[[FACTOR:.*]] = memref.load %[[S]][%[[M]]]
// CHECK: %[[BIAS:.*]] = vector.load %[[B]][%c0] : memref<20xf32>, vector<16xf32>
// CHECK: %[[X:.*]] = vector.load %[[C]][%[[M]], %c0]
// CHECK: %[[FACTORS:.*]] = vector.broadcast %[[FACTOR]] : f32 to vector<16xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[FACTORS]] : vector<16xf32>
// CHECK: %[[Y:.*]] = arith.addf %[[P]], %[[BIAS]] : vector<16xf32>
// CHECK: vector.store %[[Y]], %[[C]][%[[M]], %c0]
// CHECK: %[[MASK:.*]] = vector.constant_mask [4] : vector<16xi1>
// CHECK: vector.maskedload %[[B]][%c16], %[[MASK]]
// CHECK: vector.maskedstore %[[C]][%[[M]], %c16], %[[MASK]]
// CHECK-NOT: linalg
func.func @scale_and_bias(%s: memref<8xf32>, %b: memref<20xf32>, %c: memref<8x20xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns, #both], iterator_types = ["parallel", "parallel"]}
      ins(%s, %b : memref<8xf32>, memref<20xf32>) outs(%c : memref<8x20xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %z, %x : f32
    %q = arith.addf %p, %y : f32
    linalg.yield %q : f32
  }
  return
}

// Functions of vectors are for xetile-lower-math.
// CHECK-LABEL: func @function
// CHECK: math.tanh {{.*}} : vector<16xf32>
// CHECK: return
func.func @function(%a: memref<4x16xf32>, %c: memref<4x16xf32>) {
  linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x16xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32):
    %p = math.tanh %x : f32
    linalg.yield %p : f32
  }
  return
}

// An op with two results is on vectors, too.
// CHECK-LABEL: func @two_results
// CHECK: math.sincos {{.*}} : vector<16xf32>
// CHECK-NOT: linalg
// CHECK: return
func.func @two_results(%a: memref<4x16xf32>, %c: memref<4x16xf32>) {
  linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x16xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32):
    %p, %q = math.sincos %x : f32
    %y = arith.addf %p, %q : f32
    linalg.yield %y : f32
  }
  return
}

// Columns of the input are apart: left as it is.
// CHECK-LABEL: func @transpose
// CHECK: linalg.generic
func.func @transpose(%a: memref<16x4xf32>, %c: memref<4x16xf32>) {
  linalg.generic {indexing_maps = [#turned, #both], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<16x4xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  }
  return
}
