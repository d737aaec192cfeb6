// RUN: xetile-opt %s --split-input-file --xetile-check-asserts | FileCheck %s

// CHECK-LABEL: func.func @function(
// CHECK-SAME: %[[N:.*]]: i64, %[[M:.*]]: i64)
// CHECK: %[[HOLDS:.*]] = arith.cmpi slt
// CHECK-NOT: cf.assert %
// CHECK: call @xetile_expect(%c1_i64{{.*}}, %[[HOLDS]], %c0_i64{{.*}}, %c-1_i64{{.*}}) : (i64, i1, i64, i64) -> ()
// A quotient that it may be about.
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[M]]
// CHECK: %[[LEAST:.*]] = arith.cmpi eq, %[[N]], %c-9223372036854775808_i64
// CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[M]], %c-1_i64
// CHECK: %[[BOTH:.*]] = arith.andi %[[LEAST]], %[[MINUS]]
// CHECK: %[[NONE:.*]] = arith.ori %[[ZERO]], %[[BOTH]]
// CHECK: %[[SAFE:.*]] = arith.select %[[NONE]], %c1_i64{{.*}}, %[[M]]
// CHECK: arith.divsi %[[N]], %[[SAFE]]
// CHECK: arith.remui %[[N]], %c5_i64
// CHECK: func.func private @xetile_expect
// CHECK-SAME: {{\[\[}}"cf.assert in line {{[0-9]+}}", "n is small"]]
func.func @function(%n: i64, %m: i64) -> (i64, i64) {
  %c5 = arith.constant 5 : i64
  %holds = arith.cmpi slt, %n, %c5 : i64
  cf.assert %holds, "n is small"
  %q = arith.divsi %n, %m : i64
  %r = arith.remui %n, %c5 : i64
  return %q, %r : i64, i64
}

// -----

// CHECK-LABEL: func.func @known(
// CHECK-NOT: assert
// CHECK-NOT: xetile_expect
// CHECK: arith.divsi %arg0, %arg1
func.func @known(%n: i64, %m: i64) -> i64 {
  %c5 = arith.constant 5 : i64
  %least = arith.minsi %n, %c5 : i64
  %holds = arith.cmpi sle, %least, %c5 : i64
  cf.assert %holds, "n is small"
  %q = arith.divsi %n, %m : i64
  return %q : i64
}

// -----

// CHECK-LABEL: func.func @body(
// CHECK: %[[FAILURES:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK: %[[HOLDS:.*]] = arith.cmpi slt
// CHECK: %[[FAILS:.*]] = arith.cmpi eq, %[[HOLDS]], %false
// CHECK: arith.extui %[[FAILS]]
// CHECK: arith.maxui
// CHECK: %[[GREATEST:.*]] = tensor.extract %[[FAILURES]][]
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[GREATEST]]
// CHECK: call @xetile_expect(%{{.*}}, %[[NONE]]
// CHECK-NOT: cf.assert %
#id = affine_map<(d0) -> (d0)>
func.func @body(%a: tensor<8xi64>) -> tensor<8xi64> {
  %c5 = arith.constant 5 : i64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%a : tensor<8xi64>) outs(%a : tensor<8xi64>) {
  ^bb0(%x: i64, %o: i64):
    %holds = arith.cmpi slt, %x, %c5 : i64
    cf.assert %holds, "all are small"
    linalg.yield %x : i64
  } -> tensor<8xi64>
  return %r : tensor<8xi64>
}
