// Reductions whose reduced dimensions all have one element.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-drop-unit-reductions)' | FileCheck %s

// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0) -> (d0, 0)>
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[LINE:.*]] = affine_map<(d0) -> (d0)>

// The element and what the reduction starts from are operands.
// CHECK-LABEL: func.func @maximum
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[LINE]], #[[LINE]]], iterator_types = ["parallel"]}
// CHECK-SAME: ins(%arg0, %arg1 : tensor<?x1xf32>, tensor<?xf32>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[START:.*]]: f32, %{{.*}}: f32):
// CHECK: arith.maximumf %[[X]], %[[START]]
func.func @maximum(%x: tensor<?x1xf32>, %start: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x1xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// A dimension of one element of the result is that of the operand; indices of it stay.
// CHECK-LABEL: func.func @kept_dimension
// CHECK: linalg.generic {indexing_maps = [#[[SAME]], #[[START:.*]], #[[SAME]]], iterator_types = ["parallel", "parallel"]}
// CHECK: linalg.index 1
func.func @kept_dimension(%x: tensor<8x1xi64>, %start: tensor<8x1xi64>) -> tensor<8x1xi64> {
  %y = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, 0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x1xi64>) outs(%start : tensor<8x1xi64>) {
  ^bb0(%a: i64, %o: i64):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    %s = arith.addi %a, %n : i64
    %r = arith.addi %s, %o : i64
    linalg.yield %r : i64
  } -> tensor<8x1xi64>
  return %y : tensor<8x1xi64>
}

// Of all that is reduced, one dimension has more elements: it stays, as does what only a run knows.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: "reduction"
func.func @others(%x: tensor<8x1x3xf32>, %z: tensor<8x?xf32>, %start: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = linalg.generic {indexing_maps = [affine_map<(m, k, l) -> (m, k, l)>, affine_map<(m, k, l) -> (m)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<8x1x3xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<8x?xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y, %w : tensor<8xf32>, tensor<8xf32>
}
