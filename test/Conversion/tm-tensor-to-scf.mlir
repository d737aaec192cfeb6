// RUN: xetile-opt %s --allow-unregistered-dialect --convert-tm-tensor-to-scf --canonicalize | FileCheck %s

// Elements of f32 are added in f64, each sum is rounded once.
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
func.func @rows(%x: tensor<4x60xf32>) -> tensor<4x60xf32> {
  %any = tensor.empty() : tensor<4x60xf32>
  %last = tensor.empty() : tensor<4xf32>
  %y:2 = "tm_tensor.scan"(%x, %any, %last) <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    "tm_tensor.yield"(%sum) : (f32) -> ()
  }) : (tensor<4x60xf32>, tensor<4x60xf32>, tensor<4xf32>) -> (tensor<4x60xf32>, tensor<4xf32>)
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
func.func @columns(%x: tensor<?x?x5xi64>) -> tensor<?x?x5xi64> {
  %any = tensor.empty() : tensor<5xi64>
  %y:2 = "tm_tensor.scan"(%x, %any, %any) <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: i64, %b: i64):
    %product = arith.muli %a, %b : i64
    "tm_tensor.yield"(%product) : (i64) -> ()
  }) : (tensor<?x?x5xi64>, tensor<5xi64>, tensor<5xi64>) -> (tensor<?x?x5xi64>, tensor<5xi64>)
  return %y#0 : tensor<?x?x5xi64>
}
