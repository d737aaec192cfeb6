// RUN: xetile-opt %s --transform-interpreter --canonicalize --cse --split-input-file --allow-unregistered-dialect | FileCheck %s

// A step's tiles were loaded the step before; the next ones come behind the last use of what is there. B does not move.
// CHECK-LABEL: func.func @one_ahead
// CHECK-SAME:    (%[[A:.*]]: memref<64x128xf16>, %[[B:.*]]: memref<32x64xf16>
// CHECK:         %[[FIRST:.*]] = xetile.init_tile %[[A]][0, 0]
// CHECK:         %[[A0:.*]] = xetile.load_tile %[[FIRST]]
// CHECK:         scf.for %[[K:.*]] = %c0 to %c128 step %c32 iter_args(%[[ACC:.*]] = %{{.*}}, %[[HERE:.*]] = %[[A0]])
// CHECK:           %[[S:.*]] = xetile.tile_mma %[[HERE]], %{{.*}}, %[[ACC]]
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[K]], %c32
// CHECK-NEXT:      %[[TILE:.*]] = xetile.init_tile %[[A]][0, %[[NEXT]]]
// CHECK-NEXT:      %[[AHEAD:.*]] = xetile.load_tile %[[TILE]]
// CHECK:           scf.yield %[[S]], %[[AHEAD]]
func.func @one_ahead(%A: memref<64x128xf16>, %B: memref<32x64xf16>) -> vector<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %sum = scf.for %k = %c0 to %c128 step %c32 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
    %ta = xetile.init_tile %A[0, %k] : memref<64x128xf16> -> !xetile.tile<64x32xf16>
    %tb = xetile.init_tile %B[0, 0] : memref<32x64xf16> -> !xetile.tile<32x64xf16>
    %a = xetile.load_tile %ta : !xetile.tile<64x32xf16> -> vector<64x32xf16>
    %b = xetile.load_tile %tb : !xetile.tile<32x64xf16> -> vector<32x64xf16>
    %d = xetile.tile_mma %a, %b, %acc : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
    scf.yield %d : vector<64x64xf32>
  }
  return %sum : vector<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// Two steps ahead in a loop whose end only a run knows; an offset that others use, too, stays that of the step.
// CHECK-LABEL: func.func @two_ahead
// CHECK-COUNT-2: xetile.load_tile
// CHECK:         scf.for %[[K:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[ACC:.*]] = %{{.*}}, %[[NOW:[a-z0-9]+]] = %{{.*}}, %[[LATER:[a-z0-9]+]] = %{{.*}})
// CHECK-NEXT:      %[[ROW:.*]] = arith.muli %[[K]], %c32
// CHECK-NEXT:      arith.addf %[[ACC]], %[[NOW]]
// CHECK-NEXT:      %[[FAR:.*]] = arith.addi %[[K]], %c2
// CHECK-NEXT:      %[[AT:.*]] = arith.muli %[[FAR]], %c32
// CHECK-NEXT:      %[[TILE:.*]] = xetile.init_tile %{{.*}}[0, %[[AT]]]
// CHECK-NEXT:      %[[AHEAD:.*]] = xetile.load_tile %[[TILE]]
// CHECK-NEXT:      arith.index_cast %[[ROW]]
// CHECK:           scf.yield %{{.*}}, %[[LATER]], %[[AHEAD]]
// CHECK:         } {test.found}
func.func @two_ahead(%A: memref<32x1024xf32>, %end: index) -> vector<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %sum = scf.for %i = %c0 to %end step %c1 iter_args(%acc = %zero) -> (vector<32x32xf32>) {
    %k = arith.muli %i, %c32 : index
    %t = xetile.init_tile %A[0, %k] : memref<32x1024xf32> -> !xetile.tile<32x32xf32>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf32> -> vector<32x32xf32>
    %x = arith.addf %acc, %a : vector<32x32xf32>
    %n = arith.index_cast %k : index to i32
    %f = arith.sitofp %n : i32 to f32
    %v = vector.broadcast %f : f32 to vector<32x32xf32>
    %y = arith.addf %x, %v : vector<32x32xf32>
    scf.yield %y : vector<32x32xf32>
  }
  return %sum : vector<32x32xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 2 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.annotate %ahead "test.found" : !transform.any_op
    transform.yield
  }
}

// -----

// Nothing to do: a depth of 0. The loop is still found.
// CHECK-LABEL: func.func @none
// CHECK-NOT:     xetile.load_tile
// CHECK:         scf.for
// CHECK:           "test.store"
// CHECK:         } {test.found}
func.func @none(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    "test.store"(%i) : (index) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 0 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.annotate %ahead "test.found" : !transform.any_op
    transform.yield
  }
}
