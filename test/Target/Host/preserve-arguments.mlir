// Arguments are not writable, but those that are marked as such; what slices are inserted into is copied as a whole.
// RUN: xetile-opt %s --xetile-preserve-arguments | FileCheck %s --check-prefixes=CHECK,GIVEN
// RUN: xetile-opt %s --xetile-preserve-arguments="all" | FileCheck %s --check-prefixes=CHECK,ALL

// CHECK: func @f(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %[[B:.*]]: tensor<2xf32> {bufferization.writable = false},
// GIVEN-SAME: tensor<4xf32> {bufferization.writable = true})
// ALL-SAME: tensor<4xf32> {bufferization.writable = false})
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<4xf32>
// CHECK: tensor.insert_slice %[[B]] into %[[COPY]]
func.func @f(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<4xf32> {bufferization.writable = true}) -> tensor<4xf32> {
  %r = tensor.insert_slice %b into %a[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %r : tensor<4xf32>
}
