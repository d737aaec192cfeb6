// RUN: xetile-opt %s --xetile-scans-to-loops --canonicalize | FileCheck %s

// One element after the other.
// CHECK-LABEL: func @rows
// CHECK-SAME: %[[X:.*]]: tensor<4x60xf32>
// CHECK: scf.for %[[M:[^ ]+]] = %{{.*}} to %{{.*}} step {{.*}} iter_args(%[[ALL:.*]] = %{{.*}}) -> (tensor<4x60xf32>)
// CHECK: scf.for %[[N:[^ ]+]] = {{.*}} iter_args(%[[OUT:.*]] = %[[ALL]], %[[BEFORE:.*]] = %{{.*}}) -> (tensor<4x60xf32>, f64)
// CHECK: %[[E:.*]] = tensor.extract %[[X]][%[[M]], %[[N]]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[E]] : f32 to f64
// CHECK: %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[WIDE]] : f64
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f64 to f32
// CHECK: %[[NEXT:.*]] = tensor.insert %[[ROUNDED]] into %[[OUT]][%[[M]], %[[N]]]
// CHECK: scf.yield %[[NEXT]], %[[SUM]]
#whole = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @rows(%x: tensor<4x60xf32>) -> tensor<4x60xf32> {
  %zero = arith.constant 0.0 : f64
  %any = tensor.empty() : tensor<4x60xf32>
  %last = tensor.empty() : tensor<4xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%last : tensor<4xf64>) -> tensor<4xf64>
  %y:2 = linalg.generic {indexing_maps = [#whole, #whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x60xf32>) outs(%any, %zeros : tensor<4x60xf32>, tensor<4xf64>) {
  ^bb0(%e: f32, %_: f32, %before: f64):
    %wide = arith.extf %e : f32 to f64
    %sum = arith.addf %before, %wide : f64
    %rounded = arith.truncf %sum : f64 to f32
    linalg.yield %rounded, %sum : f32, f64
  } -> (tensor<4x60xf32>, tensor<4xf64>)
  return %y#0 : tensor<4x60xf32>
}

// Along another dimension: rows are multiplied, of sizes that the run knows.
// CHECK-LABEL: func @columns
// CHECK: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: scf.for
// CHECK: %[[ONES:.*]] = linalg.fill ins(%[[ONE]] : i64) outs(%{{.*}} : tensor<5xi64>)
// CHECK: scf.for {{.*}} iter_args(%[[OUT:.*]] = %{{.*}}, %[[BEFORE:.*]] = %[[ONES]]) -> (tensor<?x?x5xi64>, tensor<5xi64>)
// CHECK: %[[ROW:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, %{{.*}}, 0] [1, 1, 5] [1, 1, 1]
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[OUT]]
// CHECK: %[[SUMS:.*]]:2 = linalg.generic {{.*}} ins(%[[ROW]] : tensor<5xi64>) outs(%[[PLACE]], %[[BEFORE]] :
// CHECK: arith.muli
// CHECK: tensor.insert_slice %[[SUMS]]#0 into %[[OUT]]
#all = affine_map<(a, b, c) -> (a, b, c)>
#others = affine_map<(a, b, c) -> (a, c)>
func.func @columns(%x: tensor<?x?x5xi64>, %any: tensor<?x?x5xi64>, %last: tensor<?x5xi64>) -> tensor<?x?x5xi64> {
  %one = arith.constant 1 : i64
  %ones = linalg.fill ins(%one : i64) outs(%last : tensor<?x5xi64>) -> tensor<?x5xi64>
  %y:2 = linalg.generic {indexing_maps = [#all, #all, #others], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<?x?x5xi64>) outs(%any, %ones : tensor<?x?x5xi64>, tensor<?x5xi64>) {
  ^bb0(%e: i64, %_: i64, %before: i64):
    %product = arith.muli %e, %before : i64
    linalg.yield %product, %product : i64, i64
  } -> (tensor<?x?x5xi64>, tensor<?x5xi64>)
  return %y#0 : tensor<?x?x5xi64>
}

// What starts from other numbers stays: those would be lost.
// CHECK-LABEL: func @other_start
// CHECK-NOT: scf.for
// CHECK: linalg.generic
func.func @other_start(%x: tensor<4x60xf32>, %from: tensor<4xf32>) -> tensor<4x60xf32> {
  %any = tensor.empty() : tensor<4x60xf32>
  %y:2 = linalg.generic {indexing_maps = [#whole, #whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x60xf32>) outs(%any, %from : tensor<4x60xf32>, tensor<4xf32>) {
  ^bb0(%e: f32, %_: f32, %before: f32):
    %sum = arith.addf %before, %e : f32
    linalg.yield %sum, %sum : f32, f32
  } -> (tensor<4x60xf32>, tensor<4xf32>)
  return %y#0 : tensor<4x60xf32>
}

// Each element with the one before only is no scan, nor is one whose last value is used.
// CHECK-LABEL: func @no_scans
// CHECK-NOT: scf.for
func.func @no_scans(%x: tensor<4x60xf32>) -> (tensor<4x60xf32>, tensor<4x60xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %any = tensor.empty() : tensor<4x60xf32>
  %last = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%last : tensor<4xf32>) -> tensor<4xf32>
  %d:2 = linalg.generic {indexing_maps = [#whole, #whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x60xf32>) outs(%any, %zeros : tensor<4x60xf32>, tensor<4xf32>) {
  ^bb0(%e: f32, %_: f32, %before: f32):
    %difference = arith.subf %e, %before : f32
    linalg.yield %difference, %e : f32, f32
  } -> (tensor<4x60xf32>, tensor<4xf32>)
  %y:2 = linalg.generic {indexing_maps = [#whole, #whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x60xf32>) outs(%any, %zeros : tensor<4x60xf32>, tensor<4xf32>) {
  ^bb0(%e: f32, %_: f32, %before: f32):
    %sum = arith.addf %before, %e : f32
    linalg.yield %sum, %sum : f32, f32
  } -> (tensor<4x60xf32>, tensor<4xf32>)
  return %d#0, %y#0, %y#1 : tensor<4x60xf32>, tensor<4x60xf32>, tensor<4xf32>
}
