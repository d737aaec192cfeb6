// RUN: xetile-opt %s --allow-unregistered-dialect --convert-tm-tensor-to-linalg --canonicalize | FileCheck %s

// Elements of f32 are added in f64, each sum is rounded once.
// CHECK-DAG: #[[WHOLE:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @rows
// CHECK-SAME: %[[X:.*]]: tensor<4x60xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%{{.*}} : f64) outs(%{{.*}} : tensor<4xf64>)
// CHECK: %[[Y:.*]]:2 = linalg.generic {indexing_maps = [#[[WHOLE]], #[[WHOLE]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME: ins(%[[X]] : tensor<4x60xf32>) outs(%{{.*}}, %[[ZEROS]] : tensor<4x60xf32>, tensor<4xf64>)
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32, %[[BEFORE:.*]]: f64):
// CHECK: %[[WIDE:.*]] = arith.extf %[[IN]] : f32 to f64
// CHECK: %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[WIDE]] : f64
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f64 to f32
// CHECK: linalg.yield %[[ROUNDED]], %[[SUM]]
// CHECK: return %[[Y]]#0
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

// Along another dimension, of sizes that the run knows, of integers: products are not widened.
// CHECK-LABEL: func @columns
// CHECK: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: %[[ONES:.*]] = linalg.fill ins(%[[ONE]] : i64) outs(%{{.*}} : tensor<?x5xi64>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} {{.*}} outs(%{{.*}}, %[[ONES]] : tensor<?x?x5xi64>, tensor<?x5xi64>)
// CHECK: %[[PRODUCT:.*]] = arith.muli
// CHECK: linalg.yield %[[PRODUCT]], %[[PRODUCT]]
func.func @columns(%x: tensor<?x?x5xi64>) -> tensor<?x?x5xi64> {
  %any = tensor.empty() : tensor<5xi64>
  %y:2 = "tm_tensor.scan"(%x, %any, %any) <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: i64, %b: i64):
    %product = arith.muli %a, %b : i64
    "tm_tensor.yield"(%product) : (i64) -> ()
  }) : (tensor<?x?x5xi64>, tensor<5xi64>, tensor<5xi64>) -> (tensor<?x?x5xi64>, tensor<5xi64>)
  return %y#0 : tensor<?x?x5xi64>
}
