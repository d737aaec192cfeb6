// RUN: xetile-opt %s --xetile-linalg-to-vector-loops="vector-bits=512" --canonicalize --cse | FileCheck %s

#rows = affine_map<(m, n) -> (m)>
#columns = affine_map<(m, n) -> (n)>
#both = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// 20 columns: one vector and 4 masked elements; one factor for a row.
// CHECK-LABEL: func @scale_and_bias
// CHECK-SAME: (%[[S:.*]]: memref<8xf32>, %[[B:.*]]: memref<20xf32>, %[[C:.*]]: memref<8x20xf32>)
// CHECK: scf.for %[[M:.*]] = %c0 to %c8 step %c1
// CHECK: %[[FACTOR:.*]] = memref.load %[[S]][%[[M]]]
// CHECK: %[[X:.*]] = vector.load %[[C]][%[[M]], %c0]
// CHECK: %[[BIAS:.*]] = vector.load %[[B]][%c0] : memref<20xf32>, vector<16xf32>
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

// Sums of rows: four vectors of partial sums, then one, then a masked one; the sums' sum goes to what was there.
// CHECK-LABEL: func @sum_of_rows
// CHECK-SAME: (%[[A:.*]]: memref<5x92xf32>, %[[C:.*]]: memref<5x1xf32>)
// CHECK: scf.for %[[M:.*]] = %c0 to %c5 step %c1
// CHECK: %[[X0:.*]] = vector.load %[[A]][%[[M]], %c0]
// CHECK: vector.load %[[A]][%[[M]], %c16]
// CHECK: vector.load %[[A]][%[[M]], %c32]
// CHECK: vector.load %[[A]][%[[M]], %c48]
// CHECK: %[[X4:.*]] = vector.load %[[A]][%[[M]], %c64]
// CHECK: %[[S4:.*]] = arith.addf %[[X4]], %[[X0]]
// CHECK: %[[MASK:.*]] = vector.constant_mask [12]
// CHECK: %[[X5:.*]] = vector.maskedload %[[A]][%[[M]], %c80], %[[MASK]]
// CHECK: %[[S5:.*]] = arith.addf %[[X5]], %[[S4]]
// CHECK: arith.select %[[MASK]], %[[S5]], %[[S4]]
// CHECK: %[[SUM:.*]] = vector.reduction <add>, {{.*}} fastmath<reassoc> : vector<16xf32> into f32
// CHECK: %[[BEFORE:.*]] = memref.load %[[C]][%[[M]], %c0]
// CHECK: %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[SUM]]
// CHECK: memref.store %[[AFTER]], %[[C]][%[[M]], %c0]
func.func @sum_of_rows(%a: memref<5x92xf32>, %c: memref<5x1xf32>) {
  linalg.generic {indexing_maps = [#both, affine_map<(m, n) -> (m, 0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<5x92xf32>) outs(%c : memref<5x1xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %s = arith.addf %x, %sum : f32
    linalg.yield %s : f32
  }
  return
}

// Largest of columns: four vectors of columns stay in registers over all rows.
// CHECK-LABEL: func @max_of_columns
// CHECK-SAME: (%[[A:.*]]: memref<?x64xbf16>, %[[C:.*]]: memref<64xbf16>)
// CHECK: %[[ROWS:.*]] = memref.dim %[[A]], %c0
// CHECK: %[[MAXIMA:.*]]:2 = scf.for %[[M:.*]] = %c0 to %[[ROWS]] step %c1 iter_args
// CHECK: %[[X:.*]] = vector.load %[[A]][%[[M]], %{{.*}}] : memref<?x64xbf16>, vector<32xbf16>
// CHECK: arith.maximumf %[[X]], %{{.*}} : vector<32xbf16>
// CHECK: vector.store %[[MAXIMA]]#0
// CHECK: vector.store %[[MAXIMA]]#1
func.func @max_of_columns(%a: memref<?x64xbf16>, %c: memref<64xbf16>) {
  linalg.generic {indexing_maps = [#both, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<?x64xbf16>) outs(%c : memref<64xbf16>) {
  ^bb0(%x: bf16, %max: bf16):
    %s = arith.maximumf %x, %max : bf16
    linalg.yield %s : bf16
  }
  return
}

// Vectors along the result's columns; the window starts at column plus tap.
// CHECK-LABEL: func @window
// CHECK-SAME: (%[[A:.*]]: memref<1x1x18xf32>, %[[F:.*]]: memref<1x1x3xf32>, %[[C:.*]]: memref<1x1x16xf32>)
// CHECK: %[[SUM:.*]] = scf.for %[[TAP:.*]] = %c0 to %c3 step %c1
// CHECK-DAG: vector.load %[[A]][%c0, %c0, %[[TAP]]] : memref<1x1x18xf32>, vector<16xf32>
// CHECK-DAG: memref.load %[[F]][%c0, %c0, %[[TAP]]]
// CHECK: vector.store %[[SUM]], %[[C]][%c0, %c0, %c0]
func.func @window(%a: memref<1x1x18xf32>, %f: memref<1x1x3xf32>, %c: memref<1x1x16xf32>) {
  linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>}
      ins(%a, %f : memref<1x1x18xf32>, memref<1x1x3xf32>) outs(%c : memref<1x1x16xf32>)
  return
}

// Every other element: not vectors, nor is a sum whose order the body depends on.
// CHECK-LABEL: func @steps
// CHECK: linalg.conv_1d_ncw_fcw
// CHECK: linalg.generic
func.func @steps(%a: memref<1x1x33xf32>, %f: memref<1x1x3xf32>, %c: memref<1x1x16xf32>, %b: memref<8xf32>, %s: memref<f32>) {
  linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<2> : vector<1xi64>}
      ins(%a, %f : memref<1x1x33xf32>, memref<1x1x3xf32>) outs(%c : memref<1x1x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> ()>], iterator_types = ["reduction"]}
      ins(%b : memref<8xf32>) outs(%s : memref<f32>) {
  ^bb0(%x: f32, %before: f32):
    %half = arith.mulf %before, %x : f32
    %y = arith.addf %half, %x : f32
    linalg.yield %y : f32
  }
  return
}

// 36 rows: two parts of 16 additions, each from zero, and 4 more; no more than 32 have no parts.
// CHECK-LABEL: func @parts_of_sums
// CHECK-SAME: %[[X:.*]]: memref<36x16xf32>
// CHECK: %[[BEFORE:.*]] = vector.load %{{.*}}[%c0] : memref<16xf32>
// CHECK: %[[TOTAL:.*]] = scf.for %[[FIRST:.*]] = %c0 to %c32 step %c16 iter_args(%[[SO_FAR:.*]] = %[[BEFORE]])
// CHECK: %[[PART:.*]] = scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %c1 iter_args(%{{.*}} = %[[ZERO:.*]])
// CHECK: %[[SUM:.*]] = arith.addf %[[SO_FAR]], %[[PART]]
// CHECK: scf.yield %[[SUM]]
// CHECK: scf.for %{{.*}} = %c32 to %c36 step %c1 iter_args(%{{.*}} = %[[TOTAL]])
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1
// CHECK-NOT: scf.for
// CHECK: return
func.func @parts_of_sums(%x: memref<36x16xf32>, %y: memref<32x16xf32>, %c: memref<16xf32>) {
  linalg.reduce {arith.addf} ins(%x : memref<36x16xf32>) outs(%c : memref<16xf32>) dimensions = [0]
  linalg.reduce {arith.addf} ins(%y : memref<32x16xf32>) outs(%c : memref<16xf32>) dimensions = [0]
  return
}

// Extremes do not round.
// CHECK-LABEL: func @extremes
// CHECK: scf.for %{{.*}} = %c0 to %c36 step %c1
// CHECK-NOT: scf.for
// CHECK: return
func.func @extremes(%x: memref<36x16xf32>, %c: memref<16xf32>) {
  linalg.reduce {arith.maximumf} ins(%x : memref<36x16xf32>) outs(%c : memref<16xf32>) dimensions = [0]
  return
}
