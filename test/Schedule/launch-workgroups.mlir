// Steps of a loop become workgroups: a single loop along x, the first of two along y, all that follow along z.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @single(
// CHECK: gpu.launch blocks(%[[X:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c4, %{{.*}} = %c1{{.*}}, %{{.*}} = %c1{{.*}})
// CHECK-NEXT: %[[PLACE:.*]] = affine.apply #{{.*}}()[%[[X]]]
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[PLACE]]]
func.func @single(%m: memref<100xf32>, %x: f32) {
  scf.forall (%i) = (0) to (100) step (32) {
    memref.store %x, %m[%i] : memref<100xf32>
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    %launch = transform.xetile.launch_workgroups %loop : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @four(
// CHECK-DAG: %[[X:.*]] = arith.constant 7 : index
// CHECK-DAG: %[[Y:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[Z:.*]] = arith.constant 6 : index
// CHECK: gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[X]], %{{.*}} = %[[Y]], %{{.*}} = %[[Z]])
// CHECK: arith.remui
// CHECK: arith.divui
func.func @four(%m: memref<5x7x2x3xf32>, %x: f32) {
  scf.forall (%i, %j, %k, %l) in (5, 7, 2, 3) {
    memref.store %x, %m[%i, %j, %k, %l] : memref<5x7x2x3xf32>
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    %launch = transform.xetile.launch_workgroups %loop : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
