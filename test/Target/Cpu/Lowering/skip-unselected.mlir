// RUN: xetile-opt %s --split-input-file --xetile-skip-unselected | FileCheck %s

// CHECK-LABEL: func @first_side
// CHECK: %[[NEGATIVE:.*]] = arith.cmpf olt, %arg0, %{{.*}} : vector<16xf32>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[NEGATIVE]] : vector<16xi1> into i1
// CHECK: %[[Y:.*]] = scf.if %[[ANY]] -> (vector<16xf32>) {
// CHECK-NEXT: %[[POWER:.*]] = math.expm1 %arg0
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[POWER]], %arg1
// CHECK-NEXT: %[[SELECTED:.*]] = arith.select %[[NEGATIVE]], %[[SCALED]], %arg0
// CHECK-NEXT: scf.yield %[[SELECTED]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %arg0
// CHECK: return %[[Y]]
func.func @first_side(%x: vector<16xf32>, %scale: vector<16xf32>) -> vector<16xf32> {
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %power = math.expm1 %x : vector<16xf32>
  %scaled = arith.mulf %power, %scale : vector<16xf32>
  %negative = arith.cmpf olt, %x, %zeros : vector<16xf32>
  %y = arith.select %negative, %scaled, %x : vector<16xi1>, vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// The other side is needed unless all lanes take the first.
// CHECK-LABEL: func @second_side
// CHECK: %[[ALL:.*]] = vector.reduction <and>, %arg0 : vector<16xi1> into i1
// CHECK: scf.if %[[ALL]] -> (vector<16xf32>) {
// CHECK-NEXT: scf.yield %arg1
// CHECK-NEXT: } else {
// CHECK-NEXT: math.exp
// CHECK-NEXT: math.log1p
// CHECK-NEXT: arith.select
func.func @second_side(%which: vector<16xi1>, %x: vector<16xf32>) -> vector<16xf32> {
  %e = math.exp %x : vector<16xf32>
  %l = math.log1p %e : vector<16xf32>
  %y = arith.select %which, %x, %l : vector<16xi1>, vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// A selection inside of what is skipped skips, too.
// CHECK-LABEL: func @nested
// CHECK: scf.if
// CHECK: scf.if
// CHECK: math.tanh
// CHECK: math.exp
func.func @nested(%a: vector<16xi1>, %b: vector<16xi1>, %x: vector<16xf32>) -> vector<16xf32> {
  %t = math.tanh %x : vector<16xf32>
  %inner = arith.select %a, %t, %x : vector<16xi1>, vector<16xf32>
  %e = math.exp %inner : vector<16xf32>
  %y = arith.select %b, %e, %x : vector<16xi1>, vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Arithmetic costs no more than to look; what is used elsewhere is needed in any case; scalars are selected by a branch
// or not as LLVM likes.
// CHECK-LABEL: func @left_alone
// CHECK-NOT: scf.if
// CHECK: return
func.func @left_alone(%which: vector<16xi1>, %x: vector<16xf32>, %b: i1, %s: f32)
    -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, f32) {
  %m = arith.mulf %x, %x : vector<16xf32>
  %r = math.sqrt %m : vector<16xf32>
  %y = arith.select %which, %r, %x : vector<16xi1>, vector<16xf32>
  %e = math.exp %x : vector<16xf32>
  %z = arith.select %which, %e, %x : vector<16xi1>, vector<16xf32>
  %l = math.log %s : f32
  %t = arith.select %b, %l, %s : f32
  return %y, %z, %e, %t : vector<16xf32>, vector<16xf32>, vector<16xf32>, f32
}

// -----

// The condition is what needs the function here.
// CHECK-LABEL: func @condition
// CHECK-NOT: scf.if
// CHECK: return
func.func @condition(%x: vector<16xf32>) -> vector<16xf32> {
  %e = math.exp %x : vector<16xf32>
  %which = arith.cmpf olt, %e, %x : vector<16xf32>
  %y = arith.select %which, %e, %x : vector<16xi1>, vector<16xf32>
  return %y : vector<16xf32>
}
