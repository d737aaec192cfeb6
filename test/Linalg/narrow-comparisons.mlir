// RUN: xetile-opt %s --split-input-file --xetile-narrow-comparisons | FileCheck %s

// CHECK-LABEL: func @number_of_the_type
// CHECK: %[[LIMIT:.*]] = arith.constant 2.000000e+01 : f32
// CHECK: arith.cmpf ogt, %arg0, %[[LIMIT]] : f32
// CHECK-NOT: arith.extf
// CHECK: return
func.func @number_of_the_type(%x: f32) -> i1 {
  %limit = arith.constant 20.0 : f64
  %wide = arith.extf %x : f32 to f64
  %r = arith.cmpf ogt, %wide, %limit : f64
  return %r : i1
}

// -----

// 0.1 is between 0x3DCCCCCC and 0x3DCCCCCD, the nearest: whatever is above 0.1 is above the first of them, whatever is
// below is below the second.
// CHECK-LABEL: func @number_between
// CHECK: %[[BELOW:.*]] = arith.constant 0.099999994 : f32
// CHECK: arith.cmpf ogt, %arg0, %[[BELOW]] : f32
// CHECK: %[[ABOVE:.*]] = arith.constant 1.000000e-01 : f32
// CHECK: arith.cmpf ult, %arg0, %[[ABOVE]] : f32
func.func @number_between(%x: f32) -> (i1, i1) {
  %limit = arith.constant 0.1 : f64
  %wide = arith.extf %x : f32 to f64
  %r = arith.cmpf ogt, %wide, %limit : f64
  %s = arith.cmpf ult, %wide, %limit : f64
  return %r, %s : i1, i1
}

// -----

// 0.1 >= x is x <= 0.1.
// CHECK-LABEL: func @constant_first
// CHECK: %[[BELOW:.*]] = arith.constant 0.099999994 : f32
// CHECK: arith.cmpf ole, %arg0, %[[BELOW]] : f32
func.func @constant_first(%x: f32) -> i1 {
  %limit = arith.constant 0.1 : f64
  %wide = arith.extf %x : f32 to f64
  %r = arith.cmpf oge, %limit, %wide : f64
  return %r : i1
}

// -----

// Nothing below infinity is above 1e300.
// CHECK-LABEL: func @too_large
// CHECK: %[[LARGEST:.*]] = arith.constant 3.40282347E+38 : f32
// CHECK: arith.cmpf ogt, %arg0, %[[LARGEST]] : f32
func.func @too_large(%x: f32) -> i1 {
  %limit = arith.constant 1.0e300 : f64
  %wide = arith.extf %x : f32 to f64
  %r = arith.cmpf ogt, %wide, %limit : f64
  return %r : i1
}

// -----

// No number of the type is equal.
// CHECK-LABEL: func @equality
// CHECK: arith.cmpf oeq, %{{.*}}, %{{.*}} : f64
func.func @equality(%x: f32) -> i1 {
  %limit = arith.constant 0.1 : f64
  %wide = arith.extf %x : f32 to f64
  %r = arith.cmpf oeq, %wide, %limit : f64
  return %r : i1
}

// -----

// What else is computed from the extended number stays.
// CHECK-LABEL: func @other_uses
// CHECK: %[[WIDE:.*]] = arith.extf %arg0 : f16 to f64
// CHECK: arith.cmpf ogt, %arg0, %{{.*}} : f16
// CHECK: return %{{.*}}, %[[WIDE]]
func.func @other_uses(%x: f16) -> (i1, f64) {
  %limit = arith.constant 0.5 : f64
  %wide = arith.extf %x : f16 to f64
  %r = arith.cmpf ogt, %wide, %limit : f64
  return %r, %wide : i1, f64
}

// -----

// Each predicate rounds to its own side: 0.1 and what is below are at most 0x3DCCCCCC, what is above at least 0x3DCCCCCD.
// CHECK-LABEL: func @every_predicate
// CHECK: %[[LIMIT:.*]] = arith.constant 0.099999994 : f32
// CHECK-NEXT: arith.cmpf ogt, %arg0, %[[LIMIT]] : f32
// CHECK: %[[LIMIT:.*]] = arith.constant 0.099999994 : f32
// CHECK-NEXT: arith.cmpf ugt, %arg0, %[[LIMIT]] : f32
// CHECK: %[[LIMIT:.*]] = arith.constant 0.099999994 : f32
// CHECK-NEXT: arith.cmpf ole, %arg0, %[[LIMIT]] : f32
// CHECK: %[[LIMIT:.*]] = arith.constant 0.099999994 : f32
// CHECK-NEXT: arith.cmpf ule, %arg0, %[[LIMIT]] : f32
// CHECK: %[[LIMIT:.*]] = arith.constant 1.000000e-01 : f32
// CHECK-NEXT: arith.cmpf olt, %arg0, %[[LIMIT]] : f32
// CHECK: %[[LIMIT:.*]] = arith.constant 1.000000e-01 : f32
// CHECK-NEXT: arith.cmpf ult, %arg0, %[[LIMIT]] : f32
// CHECK: %[[LIMIT:.*]] = arith.constant 1.000000e-01 : f32
// CHECK-NEXT: arith.cmpf oge, %arg0, %[[LIMIT]] : f32
// CHECK: %[[LIMIT:.*]] = arith.constant 1.000000e-01 : f32
// CHECK-NEXT: arith.cmpf uge, %arg0, %[[LIMIT]] : f32
func.func @every_predicate(%x: f32) -> (i1, i1, i1, i1, i1, i1, i1, i1) {
  %limit = arith.constant 0.1 : f64
  %wide = arith.extf %x : f32 to f64
  %r0 = arith.cmpf ogt, %wide, %limit : f64
  %r1 = arith.cmpf ugt, %wide, %limit : f64
  %r2 = arith.cmpf ole, %wide, %limit : f64
  %r3 = arith.cmpf ule, %wide, %limit : f64
  %r4 = arith.cmpf olt, %wide, %limit : f64
  %r5 = arith.cmpf ult, %wide, %limit : f64
  %r6 = arith.cmpf oge, %wide, %limit : f64
  %r7 = arith.cmpf uge, %wide, %limit : f64
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : i1, i1, i1, i1, i1, i1, i1, i1
}

// -----

// With the constant first each predicate is its mirror image.
// CHECK-LABEL: func @every_predicate_mirrored
// CHECK: cmpf olt, %arg0
// CHECK: cmpf ult, %arg0
// CHECK: cmpf oge, %arg0
// CHECK: cmpf uge, %arg0
// CHECK: cmpf ogt, %arg0
// CHECK: cmpf ugt, %arg0
// CHECK: cmpf ole, %arg0
// CHECK: cmpf ule, %arg0
func.func @every_predicate_mirrored(%x: f32) -> (i1, i1, i1, i1, i1, i1, i1, i1) {
  %limit = arith.constant 0.1 : f64
  %wide = arith.extf %x : f32 to f64
  %r0 = arith.cmpf ogt, %limit, %wide : f64
  %r1 = arith.cmpf ugt, %limit, %wide : f64
  %r2 = arith.cmpf ole, %limit, %wide : f64
  %r3 = arith.cmpf ule, %limit, %wide : f64
  %r4 = arith.cmpf olt, %limit, %wide : f64
  %r5 = arith.cmpf ult, %limit, %wide : f64
  %r6 = arith.cmpf oge, %limit, %wide : f64
  %r7 = arith.cmpf uge, %limit, %wide : f64
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : i1, i1, i1, i1, i1, i1, i1, i1
}
