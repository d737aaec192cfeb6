// RUN: xetile-opt %s --allow-unregistered-dialect --convert-tm-tensor-to-linalg --canonicalize | FileCheck %s
// RUN: xetile-opt %s --allow-unregistered-dialect --convert-tm-tensor-to-linalg=asserts=true | FileCheck %s --check-prefix=ASSERT

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

// Indices of two dimensions become the number of a row, -1 for those out of bounds; f16 is added in f32.
// ASSERT-LABEL: func @scatter
// ASSERT: cf.assert %{{.*}}, "an index of what is updated is out of bounds"
// CHECK-LABEL: func @scatter
// CHECK-SAME: %[[X:.*]]: tensor<3x5x7xf16>, %[[I:.*]]: tensor<9x2xi64>, %[[U:.*]]: tensor<9x1x1x7xf16>
// CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-NOT: cf.assert
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<9xi64>)
// CHECK: %[[EXISTS:.*]] = arith.andi
// CHECK: arith.select %[[EXISTS]], %{{.*}}, %[[NONE]] : i64
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<15x7xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[ROWS]], %{{.*}} : tensor<9xi64>, tensor<9x7xf16>) outs(%[[WIDE]] : tensor<15x7xf32>)
// CHECK: ^bb0(%[[ROW:.*]]: i64, %[[UPDATE:.*]]: f16, %[[BEFORE:.*]]: f32):
// CHECK: %[[HERE:.*]] = arith.cmpi eq, %{{.*}}, %[[ROW]] : i64
// CHECK: %[[EXTENDED:.*]] = arith.extf %[[UPDATE]]
// CHECK: %[[TAKEN:.*]] = arith.select %[[HERE]], %[[EXTENDED]], %[[ZERO]] : f32
// CHECK: arith.addf %[[BEFORE]], %[[TAKEN]] : f32
// CHECK: arith.truncf
// CHECK: tensor.expand_shape {{.*}} : tensor<15x7xf16> into tensor<3x5x7xf16>
func.func @scatter(%x: tensor<3x5x7xf16>, %i: tensor<9x2xi64>, %u: tensor<9x1x1x7xf16>) -> tensor<3x5x7xf16> {
  %y = "tm_tensor.scatter"(%u, %i, %x) <{dimension_map = array<i64: 0, 1>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = false}> ({
  ^bb0(%a: f16, %b: f16):
    %sum = arith.addf %b, %a : f16
    "tm_tensor.yield"(%sum) : (f16) -> ()
  }) : (tensor<9x1x1x7xf16>, tensor<9x2xi64>, tensor<3x5x7xf16>) -> tensor<3x5x7xf16>
  return %y : tensor<3x5x7xf16>
}

// What replaces is chosen; ops of several results beside it, from indices alone, are one for each.
// CHECK-LABEL: func @replace
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<9xi64>) {
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<9xf32>) {
// CHECK: linalg.generic
// CHECK: ^bb0(%{{.*}}: i64, %[[UPDATE:.*]]: f32, %[[BEFORE:.*]]: f32):
// CHECK: arith.select %{{.*}}, %[[UPDATE]], %[[BEFORE]] : f32
func.func @replace(%x: tensor<7xf32>, %i: tensor<9xi64>, %u: tensor<9xf32>) -> tensor<7xf32> {
  %e = tensor.empty() : tensor<9x1xi64>
  %f = tensor.empty() : tensor<9xf32>
  %both:2 = linalg.generic {indexing_maps = [affine_map<(n) -> (n, 0)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      outs(%e, %f : tensor<9x1xi64>, tensor<9xf32>) {
  ^bb0(%p: i64, %q: f32):
    %n = linalg.index 0 : index
    %at = tensor.extract %i[%n] : tensor<9xi64>
    %v = tensor.extract %u[%n] : tensor<9xf32>
    linalg.yield %at, %v : i64, f32
  } -> (tensor<9x1xi64>, tensor<9xf32>)
  %y = "tm_tensor.scatter"(%both#1, %both#0, %x) <{dimension_map = array<i64: 0>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = false}> ({
  ^bb0(%a: f32, %b: f32):
    "tm_tensor.yield"(%a) : (f32) -> ()
  }) : (tensor<9xf32>, tensor<9x1xi64>, tensor<7xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}
