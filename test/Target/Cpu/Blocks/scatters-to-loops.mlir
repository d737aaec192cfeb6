// RUN: xetile-opt %s --xetile-scatters-to-loops --canonicalize | FileCheck %s

// CHECK-LABEL: func @sums
// CHECK-SAME: %[[X:.*]]: tensor<7x33xf32>, %[[ROWS:.*]]: tensor<9xi64>, %[[UPDATES:.*]]: tensor<9x33xf32>
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c9 {{.*}} iter_args(%[[ALL:.*]] = %[[X]])
// CHECK: %[[ROW:.*]] = tensor.extract %[[ROWS]][%[[N]]]
// CHECK: %[[AT:.*]] = arith.index_cast %[[ROW]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[AT]], %c7
// CHECK: scf.if %[[EXISTS]]
// CHECK: scf.for %[[W:.*]] = %{{.*}} to %c33 {{.*}} iter_args(%[[OUT:.*]] = %[[ALL]])
// CHECK: tensor.extract %[[UPDATES]][%[[N]], %[[W]]]
// CHECK: tensor.extract %[[OUT]][%[[AT]], %[[W]]]
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: tensor.insert %[[SUM]] into %[[OUT]][%[[AT]], %[[W]]]
// CHECK: else
// CHECK: scf.yield %[[ALL]]
#rows = affine_map<(d, w, n) -> (n)>
#updates = affine_map<(d, w, n) -> (n, w)>
#all = affine_map<(d, w, n) -> (d, w)>
func.func @sums(%x: tensor<7x33xf32>, %rows: tensor<9xi64>, %updates: tensor<9x33xf32>) -> tensor<7x33xf32> {
  %zero = arith.constant -0.0 : f32
  %y = linalg.generic {indexing_maps = [#rows, #updates, #all], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %updates : tensor<9xi64>, tensor<9x33xf32>) outs(%x : tensor<7x33xf32>) {
  ^bb0(%row: i64, %update: f32, %before: f32):
    %d = linalg.index 0 : index
    %n = arith.index_cast %d : index to i64
    %here = arith.cmpi eq, %n, %row : i64
    %taken = arith.select %here, %update, %zero : f32
    %sum = arith.addf %before, %taken : f32
    linalg.yield %sum : f32
  } -> tensor<7x33xf32>
  return %y : tensor<7x33xf32>
}

// Rows that are not equal to a number are no scatter.
// CHECK-LABEL: func @below
// CHECK: linalg.generic
func.func @below(%x: tensor<7x33xf32>, %rows: tensor<9xi64>, %updates: tensor<9x33xf32>) -> tensor<7x33xf32> {
  %zero = arith.constant -0.0 : f32
  %y = linalg.generic {indexing_maps = [#rows, #updates, #all], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %updates : tensor<9xi64>, tensor<9x33xf32>) outs(%x : tensor<7x33xf32>) {
  ^bb0(%row: i64, %update: f32, %before: f32):
    %d = linalg.index 0 : index
    %n = arith.index_cast %d : index to i64
    %here = arith.cmpi slt, %n, %row : i64
    %taken = arith.select %here, %update, %zero : f32
    %sum = arith.addf %before, %taken : f32
    linalg.yield %sum : f32
  } -> tensor<7x33xf32>
  return %y : tensor<7x33xf32>
}
