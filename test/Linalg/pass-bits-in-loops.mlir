// Tensors of i1 that loops and branches hand on are bytes.
// RUN: xetile-opt %s --xetile-pass-bits-as-bytes | FileCheck %s

// CHECK-LABEL: func.func @control
// CHECK-SAME: %[[M:.*]]: tensor<8xi8>
// CHECK: scf.for {{.*}} -> (tensor<8xi8>) {
// CHECK: scf.yield %{{.*}} : tensor<8xi8>
// CHECK: scf.while {{.*}} : (tensor<8xi8>) -> tensor<8xi8> {
// CHECK: scf.condition(%{{.*}}) %{{.*}} : tensor<8xi8>
// CHECK: ^bb0(%{{.*}}: tensor<8xi8>):
// CHECK: scf.yield %{{.*}} : tensor<8xi8>
// CHECK: scf.if {{.*}} -> (tensor<8xi8>) {
// CHECK-COUNT-2: scf.yield %{{.*}} : tensor<8xi8>
// CHECK: return %{{.*}} : tensor<8xi8>
func.func @control(%m: tensor<8xi1>, %n: index, %some: i1) -> tensor<8xi1> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %m) -> (tensor<8xi1>) {
    %x = arith.xori %t, %m : tensor<8xi1>
    scf.yield %x : tensor<8xi1>
  }
  %s = scf.while (%t = %r) : (tensor<8xi1>) -> tensor<8xi1> {
    scf.condition(%some) %t : tensor<8xi1>
  } do {
  ^bb0(%t: tensor<8xi1>):
    %x = arith.xori %t, %m : tensor<8xi1>
    scf.yield %x : tensor<8xi1>
  }
  %u = scf.if %some -> tensor<8xi1> {
    scf.yield %s : tensor<8xi1>
  } else {
    scf.yield %r : tensor<8xi1>
  }
  return %u : tensor<8xi1>
}
