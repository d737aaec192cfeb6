// What bf16 is made from and of. Numbers: test/python/targets/cpu/test_narrow_floats.py.
// RUN: xetile-opt %s --split-input-file --xetile-lower-math --cse | FileCheck %s

// Integers that f32 has are rounded once; larger ones go through f64, rounded to odd, or they were rounded twice.
// CHECK-LABEL: func @exact
// CHECK-SAME: (%[[X:.*]]: i24)
// CHECK: arith.sitofp %[[X]] : i24 to f32
// CHECK-NOT: f64
// CHECK: return
func.func @exact(%x: i24) -> bf16 {
  %y = arith.sitofp %x : i24 to bf16
  return %y : bf16
}

// -----

// CHECK-LABEL: func @large
// CHECK-SAME: (%[[X:.*]]: i25, %[[Y:.*]]: vector<4xi32>)
// CHECK: %[[WIDE:.*]] = arith.uitofp %[[X]] : i25 to f64
// CHECK: %[[NEAREST:.*]] = arith.truncf %[[WIDE]] : f64 to f32
// CHECK: arith.extf %[[NEAREST]] : f32 to f64
// CHECK: %[[INEXACT:.*]] = arith.cmpf one
// CHECK: arith.ori
// CHECK: arith.sitofp %[[Y]] : vector<4xi32> to vector<4xf64>
// CHECK-NOT: to bf16
// CHECK: return
func.func @large(%x: i25, %y: vector<4xi32>) -> (bf16, vector<4xbf16>) {
  %0 = arith.uitofp %x : i25 to bf16
  %1 = arith.sitofp %y : vector<4xi32> to vector<4xbf16>
  return %0, %1 : bf16, vector<4xbf16>
}

// -----

// f64 has not all integers of 64 bits: of large ones the lowest 16 bits become one.
// CHECK-LABEL: func @larger
// CHECK-SAME: (%[[X:.*]]: i64)
// CHECK: %[[CUT:.*]] = arith.trunci %[[X]] : i64 to i32
// CHECK: %[[BACK:.*]] = arith.extsi %[[CUT]] : i32 to i64
// CHECK: %[[LARGE:.*]] = arith.cmpi ne, %[[BACK]], %[[X]]
// CHECK: %[[EXACT:.*]] = arith.select %[[LARGE]], %{{.*}}, %[[X]]
// CHECK: arith.sitofp %[[EXACT]] : i64 to f64
func.func @larger(%x: i64) -> bf16 {
  %y = arith.sitofp %x : i64 to bf16
  return %y : bf16
}

// -----

// A rounding that the op names is not ours.
// CHECK-LABEL: func @named
// CHECK: arith.truncf %{{.*}} to_nearest_even : f32 to bf16
func.func @named(%x: f32) -> bf16 {
  %y = arith.truncf %x to_nearest_even : f32 to bf16
  return %y : bf16
}
