// RUN: xetile-opt %s --split-input-file --xetile-check-indices | FileCheck %s

// The index depends on the first loop alone, which the reduction runs.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[TABLE:.*]]: tensor<50x64xf32>, %[[INDICES:.*]]: tensor<300xi64>)
// CHECK: %[[LAST:.*]] = arith.constant 49 : index
// CHECK: %[[MOST:.*]] = linalg.generic {indexing_maps = [#[[ROWS]], #[[ONE]]], iterator_types = ["reduction"]} ins(%[[INDICES]] : tensor<300xi64>)
// CHECK: arith.maxui
// CHECK: %[[TOLD:.*]] = tensor.extract %[[MOST]][]
// CHECK: %[[HOLDS:.*]] = arith.cmpi ule, %[[TOLD]]
// CHECK: call @xetile_expect(%{{.*}}, %[[HOLDS]], %{{.*}}, %{{.*}}) : (i64, i1, i64, i64) -> ()
// CHECK: linalg.generic
// CHECK: ^bb0(%[[IN:.*]]: i64, %{{.*}}: f32)
// CHECK: %[[AT:.*]] = arith.index_cast %[[IN]]
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: %[[SAFE:.*]] = arith.minui %[[AT]], %[[LAST]]
// CHECK: tensor.extract %[[TABLE]][%[[SAFE]], %[[COLUMN]]]
func.func @rows(%t: tensor<50x64xf32>, %i: tensor<300xi64>) -> tensor<300x64xf32> {
  %e = tensor.empty() : tensor<300x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]} ins(%i : tensor<300xi64>) outs(%e : tensor<300x64xf32>) {
  ^bb0(%a: i64, %o: f32):
    %x = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%x, %j] : tensor<50x64xf32>
    linalg.yield %v : f32
  } -> tensor<300x64xf32>
  return %r : tensor<300x64xf32>
}
// CHECK: func.func private @xetile_expect(i64, i1, i64, i64)
// CHECK-SAME: xetile.expectations = {{\[\[}}"tensor.extract in line {{[0-9]+}}", "expected an index within dimension 0"]]

// -----

// Known to be in range: a constant, the index of a loop, remainders, what an op before clamped.
// CHECK-LABEL: func.func @known(
// CHECK-NOT: xetile_expect
// CHECK-NOT: minui
#id = affine_map<(d0) -> (d0)>
func.func @known(%t: tensor<8x4xf32>, %i: tensor<8xi32>) -> tensor<8xf32> {
  %c3 = arith.constant 3 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : index
  %ie = tensor.empty() : tensor<8xi32>
  %clamped = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%i : tensor<8xi32>) outs(%ie : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %b = arith.maxsi %a, %c0 : i32
    %c = arith.minsi %b, %c3 : i32
    linalg.yield %c : i32
  } -> tensor<8xi32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
    ins(%i, %clamped : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: i32, %b: i32, %o: f32):
    %k = linalg.index 0 : index
    %x = arith.index_cast %b : i32 to index
    %m = arith.andi %a, %c3 : i32
    %y = arith.index_cast %m : i32 to index
    %v = tensor.extract %t[%k, %x] : tensor<8x4xf32>
    %w = tensor.extract %t[%y, %c1] : tensor<8x4xf32>
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Where a negative one counts from the end, too; one more than is in range is not known to be.
// CHECK-LABEL: func.func @wrapped(
// CHECK-NOT: minui
// CHECK-LABEL: func.func @wrapped_too_far(
// CHECK: minui
#id = affine_map<(d0) -> (d0)>
func.func @wrapped(%t: tensor<8xf32>, %i: tensor<8xi4>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%i : tensor<8xi4>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: i4, %o: f32):
    %b = arith.extsi %a : i4 to i64
    %less = arith.cmpi slt, %b, %c0 : i64
    %s = arith.addi %b, %c8 : i64
    %w = arith.select %less, %s, %b : i64
    %x = arith.index_cast %w : i64 to index
    %v = tensor.extract %t[%x] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @wrapped_too_far(%t: tensor<8xf32>, %i: tensor<8xi4>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%i : tensor<8xi4>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: i4, %o: f32):
    %b = arith.extsi %a : i4 to i64
    %less = arith.cmpi sle, %b, %c0 : i64
    %s = arith.addi %b, %c8 : i64
    %w = arith.select %less, %s, %b : i64
    %x = arith.index_cast %w : i64 to index
    %v = tensor.extract %t[%x] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A table without elements is not read. A loop that the index does not depend on may never run.
// CHECK-LABEL: func.func @dynamic(
// CHECK: %[[SIZE:.*]] = tensor.dim %arg0
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[SIZE]]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK: %[[ROWS:.*]] = tensor.dim %arg2, %{{.*}} : tensor<?x?xf32>
// CHECK: %[[NEVER:.*]] = arith.cmpi eq, %[[ROWS]]
// CHECK: arith.select %[[NEVER]]
// CHECK: call @xetile_expect
// CHECK: linalg.generic
// CHECK: scf.if %[[NONE]]
// CHECK-NEXT: arith.constant 0.0
// CHECK: else
// CHECK-NEXT: tensor.extract %arg0
func.func @dynamic(%t: tensor<?xf32>, %i: tensor<?xindex>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]} ins(%i : tensor<?xindex>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: index, %b: f32):
    %v = tensor.extract %t[%a] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// Of a branch, what is taken.
// CHECK-LABEL: func.func @branch(
// CHECK: linalg.generic
// CHECK: %[[TAKEN:.*]] = arith.cmpi slt
// CHECK: %[[BOTH:.*]]:2 = scf.if %[[TAKEN]] -> (f32, i64)
// CHECK: arith.maxui
// CHECK: else
// CHECK: linalg.yield %[[BOTH]]#1
// CHECK: call @xetile_expect
#id = affine_map<(d0) -> (d0)>
func.func @branch(%t: tensor<8xf32>, %i: tensor<8xindex>) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%i : tensor<8xindex>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: index, %o: f32):
    %taken = arith.cmpi slt, %a, %c4 : index
    %v = scf.if %taken -> f32 {
      %w = tensor.extract %t[%a] : tensor<8xf32>
      scf.yield %w : f32
    } else {
      scf.yield %z : f32
    }
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// An index may depend on an op that asserts something itself: that stays where it is, and is not asked twice.
// CHECK-LABEL: func.func @condition_with_an_assertion(
// CHECK: linalg.generic
// CHECK-NOT: cf.assert
// CHECK: call @xetile_expect(
// CHECK: linalg.generic
// CHECK: cf.assert %{{.*}}, "small ones are positive"
#id = affine_map<(d0) -> (d0)>
func.func @condition_with_an_assertion(%a: tensor<8xindex>, %x: tensor<?xf32>, %out: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%a : tensor<8xindex>) outs(%out : tensor<8xf32>) {
  ^bb0(%i: index, %o: f32):
    %small = arith.cmpi slt, %i, %c5 : index
    %at = scf.if %small -> index {
      %positive = arith.cmpi sge, %i, %c0 : index
      cf.assert %positive, "small ones are positive"
      scf.yield %i : index
    } else {
      scf.yield %c0 : index
    }
    %v = tensor.extract %x[%at] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
