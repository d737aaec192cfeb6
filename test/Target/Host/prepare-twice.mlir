// What prepares a function leaves one alone that is prepared: a module may be printed and compiled on.
// REQUIRES: cpu
// RUN: xetile-opt %s --xetile-prepare-for-cpu > %t.once
// RUN: xetile-opt %t.once --xetile-prepare-for-cpu | diff %t.once -
// RUN: FileCheck %s < %t.once
// RUN: xetile-opt %s --xetile-preserve-arguments="all" | FileCheck %s --check-prefix=ALL
// RUN: xetile-opt %s --xetile-preserve-arguments | FileCheck %s --check-prefix=UNMARKED

// CHECK: func @f(%{{.*}}: tensor<?x4xf32> {bufferization.writable = true}, %{{.*}}: tensor<4x?xf32>, %{{.*}}: tensor<f32>)
// CHECK: func @f_check({{.*}} -> (i64, i64, i64)
// ALL: func @f(%{{.*}}: tensor<?x4xf32> {bufferization.writable = false}, %{{.*}}: tensor<4x?xf32> {bufferization.writable = false}
// UNMARKED: func @f(%{{.*}}: tensor<?x4xf32> {bufferization.writable = true}, %{{.*}}: tensor<4x?xf32> {bufferization.writable = false}
func.func @f(%a: tensor<?x4xf32> {bufferization.writable = true}, %b: tensor<4x?xf32>, %s: f32) -> (tensor<?x4xf32>, f32) {
  %r = linalg.transpose ins(%b : tensor<4x?xf32>) outs(%a : tensor<?x4xf32>) permutation = [1, 0]
  return %r, %s : tensor<?x4xf32>, f32
}
