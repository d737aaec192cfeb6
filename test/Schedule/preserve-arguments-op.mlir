// RUN: xetile-opt %s --transform-interpreter | FileCheck %s

// CHECK: func.func @unmarked(%{{.*}}: tensor<4x4xf16> {bufferization.writable = false}, %{{.*}}: index,
// CHECK-SAME: %{{.*}}: tensor<4x4xf32> {bufferization.writable = false})
func.func @unmarked(%A: tensor<4x4xf16>, %n: index, %C: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %C : tensor<4x4xf32>
}

// CHECK: func.func @marked(%{{.*}}: tensor<4x4xf16> {bufferization.writable = false},
// CHECK-SAME: %{{.*}}: tensor<4x4xf32> {bufferization.writable = true})
func.func @marked(%A: tensor<4x4xf16>, %C: tensor<4x4xf32> {bufferization.writable = true}) -> tensor<4x4xf32> {
  return %C : tensor<4x4xf32>
}

// CHECK: func.func @buffer(%{{.*}}: memref<4x4xf32>)
func.func @buffer(%C: memref<4x4xf32>) {
  return
}

// CHECK: func.func private @declaration(tensor<4x4xf32>)
func.func private @declaration(tensor<4x4xf32>)

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.preserve_arguments in %root : !transform.any_op
    transform.yield
  }
}
