// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-expand-math))" | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: func @exp
  // CHECK-NOT: math.exp %
  // CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-1.500000e+02> : vector<8xf32>
  // CHECK: llvm.intr.maxnum(%{{.*}}, %[[LOW]])
  // CHECK: %[[WHOLE:.*]] = math.trunc
  // CHECK: math.fma %[[WHOLE]]
  // CHECK-COUNT-2: math.exp2
  // CHECK-NOT: arith.cmpf
  func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
    %r = math.exp %x : vector<8xf32>
    return %r : vector<8xf32>
  }

  // A polynomial near zero, one power and one reciprocal elsewhere.
  // CHECK-LABEL: func @tanh
  // CHECK: %[[SIZE:.*]] = math.absf
  // CHECK-COUNT-5: math.fma
  // CHECK: math.exp2
  // CHECK: arith.divf
  // CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[SIZE]]
  // CHECK: arith.select %[[SMALL]]
  // CHECK: math.copysign
  // CHECK: math.tanh %{{.*}} fastmath<afn>
  func.func @tanh(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
    %r = math.tanh %x : vector<8xf32>
    %q = math.tanh %x fastmath<afn> : vector<8xf32>
    return %r, %q : vector<8xf32>, vector<8xf32>
  }

  // Two polynomials and one reciprocal. What is above 1 is 1 with the sign.
  // CHECK-LABEL: func @erf
  // CHECK-COUNT-6: math.fma
  // CHECK: arith.divf
  // CHECK-COUNT-4: math.fma
  // CHECK: %[[SIZE:.*]] = math.absf
  // CHECK: %[[MORE:.*]] = arith.cmpf ogt, %[[SIZE]]
  // CHECK: %[[ONE:.*]] = math.copysign
  // CHECK: arith.select %[[MORE]], %[[ONE]]
  // CHECK-NOT: arith.select
  // CHECK-NOT: math.erf
  func.func @erf(%x: vector<8xf32>) -> vector<8xf32> {
    %r = math.erf %x : vector<8xf32>
    return %r : vector<8xf32>
  }

  // CHECK-LABEL: func @quick_exp
  // CHECK: math.exp %{{.*}} fastmath<afn>
  // CHECK: math.exp %{{.*}} : f16
  func.func @quick_exp(%x: f32, %h: f16) -> (f32, f16) {
    %r = math.exp %x fastmath<afn> : f32
    %q = math.exp %h : f16
    return %r, %q : f32, f16
  }

  // One reciprocal for both.
  // CHECK-LABEL: func @quotients
  // CHECK: %[[R:.*]] = arith.divf
  // CHECK-NOT: arith.divf
  // CHECK: %[[S:.*]] = arith.mulf %arg0
  // CHECK: %[[Q:.*]] = arith.mulf %[[S]], %[[R]]
  // CHECK: %[[M:.*]] = math.absf %[[Q]]
  // CHECK: %[[E:.*]] = math.fma %[[M]],
  // CHECK: %[[F:.*]] = llvm.intr.maxnum(%[[E]]
  // CHECK: %[[T:.*]] = math.fma %[[F]], %{{.*}}, %[[M]]
  // CHECK: arith.bitcast %[[T]]
  // CHECK: %[[SIGN:.*]] = arith.bitcast %[[Q]]
  // CHECK: arith.andi %[[SIGN]]
  func.func @quotients(%x: vector<8xf32>, %y: vector<8xf32>, %s: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
    %q = arith.divf %x, %s : vector<8xf32>
    %r = arith.divf %y, %s : vector<8xf32>
    return %q, %r : vector<8xf32>, vector<8xf32>
  }

  // What belongs to the divisor is computed for one element.
  // CHECK-LABEL: func @splat
  // CHECK: %[[R:.*]] = arith.divf %{{.*}}, %{{.*}} : f32
  // CHECK: vector.broadcast %[[R]] : f32 to vector<4xf32>
  // CHECK-NOT: arith.divf
  func.func @splat(%x: vector<4xf32>, %s: f32) -> vector<4xf32> {
    %t = vector.broadcast %s : f32 to vector<4xf32>
    %q = arith.divf %x, %t : vector<4xf32>
    return %q : vector<4xf32>
  }

  // CHECK-LABEL: func @other_quotients
  // CHECK-COUNT-7: arith.divf
  func.func @other_quotients(%x: f32, %y: f32, %s: f32, %t: f32, %h: f16) -> (f32, f32, f32, f32, f32, f16, f16) {
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %alone = arith.divf %x, %y : f32
    %half = arith.divf %x, %two : f32
    %other = arith.divf %y, %two : f32
    %reciprocal = arith.divf %one, %s : f32
    %quick = arith.divf %x, %s fastmath<arcp> : f32
    %small = arith.divf %h, %h : f16
    %same = arith.divf %h, %h : f16
    return %alone, %half, %other, %reciprocal, %quick, %small, %same : f32, f32, f32, f32, f32, f16, f16
  }

  // Few values of f32 and f16: one test of a sum of magnitudes, which is NaN if one of them is.
  // CHECK-LABEL: func @tree
  // CHECK: %[[M:.*]] = llvm.intr.maxnum(%arg0, %arg1)
  // CHECK: %[[N:.*]] = llvm.intr.maxnum(%[[M]], %arg2)
  // CHECK-DAG: %[[A:.*]] = math.absf %arg0
  // CHECK-DAG: %[[B:.*]] = math.absf %arg1
  // CHECK: %[[AB:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK: %[[C:.*]] = math.absf %arg2
  // CHECK: %[[ABC:.*]] = arith.addf %[[AB]], %[[C]]
  // CHECK: %[[NUMBER:.*]] = arith.cmpf ord, %[[ABC]], %[[ABC]]
  // CHECK-NOT: arith.cmpf
  // CHECK: arith.select %[[NUMBER]], %[[N]], %[[ABC]]
  // CHECK-NOT: arith.maximumf
  func.func @tree(%a: vector<8xf16>, %b: vector<8xf16>, %c: vector<8xf16>) -> vector<8xf16> {
    %m = arith.maximumf %a, %b : vector<8xf16>
    %n = arith.maximumf %m, %c : vector<8xf16>
    return %n : vector<8xf16>
  }

  // CHECK-LABEL: func @wide_tree
  // CHECK: %[[M:.*]] = llvm.intr.maxnum(%arg0, %arg1)
  // CHECK: %[[N:.*]] = llvm.intr.maxnum(%[[M]], %arg2)
  // CHECK: %[[AB:.*]] = arith.cmpf uno, %arg0, %arg1
  // CHECK: %[[C:.*]] = arith.cmpf uno, %arg2, %arg2
  // CHECK: %[[ANY:.*]] = arith.ori %[[AB]], %[[C]]
  // CHECK: arith.select %[[ANY]], %{{.*}}, %[[N]]
  func.func @wide_tree(%a: f64, %b: f64, %c: f64) -> f64 {
    %m = arith.maximumf %a, %b : f64
    %n = arith.maximumf %m, %c : f64
    return %n : f64
  }

  // A value that others take is a leaf; a minimum is no maximum.
  // CHECK-LABEL: func @no_trees
  // CHECK-COUNT-2: arith.minimumf
  // CHECK: arith.maximumf
  // CHECK-NOT: llvm.intr
  func.func @no_trees(%a: f32, %b: f32, %c: f32) -> (f32, f32, f32) {
    %m = arith.minimumf %a, %b : f32
    %n = arith.minimumf %m, %c : f32
    %x = arith.maximumf %n, %c : f32
    return %m, %n, %x : f32, f32, f32
  }

  // A quotient that divides others is prepared once, and gone as it was.
  // CHECK-LABEL: func @quotients_by_a_quotient
  // CHECK-COUNT-2: arith.divf %{{.*}}, %{{.*}} : f32
  // CHECK-NOT: arith.divf
  // CHECK: return
  func.func @quotients_by_a_quotient(%a: f32, %b: f32, %d: f32) -> (f32, f32, f32) {
    %x = arith.divf %a, %d : f32
    %y = arith.divf %b, %d : f32
    %z = arith.divf %a, %x : f32
    %w = arith.divf %y, %x : f32
    return %y, %z, %w : f32, f32, f32
  }

  // CHECK-LABEL: func @numbers
  // CHECK: llvm.intr.maxnum
  // CHECK: llvm.intr.minnum
  // CHECK: arith.maxnumf
  func.func @numbers(%a: f64, %b: vector<3xf32>, %c: vector<2x2xf32>) -> (f64, vector<3xf32>, vector<2x2xf32>) {
    %m = arith.maxnumf %a, %a : f64
    %n = arith.minnumf %b, %b : vector<3xf32>
    %o = arith.maxnumf %c, %c : vector<2x2xf32>
    return %m, %n, %o : f64, vector<3xf32>, vector<2x2xf32>
  }
}
