// Of nested modules whose functions are equal the first one stays; others, and modules that somebody tiled, stay, too.
// RUN: xetile-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: module attributes {transform.with_named_sequence} {
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.share_kernels %root : !transform.any_op
    transform.yield
  }
  // CHECK: func.func private @one(
  // CHECK-NOT: func.func private @two(
  // CHECK: func.func private @other_constant(
  // CHECK: func.func private @other_schedule(
  // CHECK: func.func private @other_operands(
  // CHECK: func.func private @tiled(
  func.func private @one(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.func private @two(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.func private @other_constant(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.func private @other_schedule(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.func private @other_operands(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.func private @tiled(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[FIRST:.*]] = call @one(
  // CHECK-NEXT: %[[SECOND:.*]] = call @one(%[[FIRST]],
  // CHECK-NEXT: %[[THIRD:.*]] = call @other_constant(%[[SECOND]],
  // CHECK-NEXT: call @other_schedule(%[[THIRD]],
  func.func @f(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
    %a = call @one(%x, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %b = call @two(%a, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %c = call @other_constant(%b, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %d = call @other_schedule(%c, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %e = call @other_operands(%d, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %g = call @tiled(%e, %w) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %g : tensor<8xf32>
  }
  // CHECK: func.func @one(
  // CHECK-NOT: func.func @two(
  // CHECK: func.func @other_constant(
  // CHECK: func.func @other_schedule(
  // CHECK: func.func @other_operands(
  // CHECK: func.func @tiled(
  module attributes {xetile.schedule = "elementwise"} {
    func.func @one(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
      %c = arith.constant dense<2.0> : tensor<8xf32>
      %e = tensor.empty() : tensor<8xf32>
      %s = linalg.sub ins(%x, %w : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %y = linalg.mul ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
  }
  module attributes {xetile.schedule = "elementwise"} {
    func.func @two(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
      %c = arith.constant dense<2.0> : tensor<8xf32>
      %e = tensor.empty() : tensor<8xf32>
      %s = linalg.sub ins(%x, %w : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %y = linalg.mul ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
  }
  module attributes {xetile.schedule = "elementwise"} {
    func.func @other_constant(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
      %c = arith.constant dense<3.0> : tensor<8xf32>
      %e = tensor.empty() : tensor<8xf32>
      %s = linalg.sub ins(%x, %w : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %y = linalg.mul ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
  }
  module attributes {xetile.schedule = "rows"} {
    func.func @other_schedule(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
      %c = arith.constant dense<2.0> : tensor<8xf32>
      %e = tensor.empty() : tensor<8xf32>
      %s = linalg.sub ins(%x, %w : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %y = linalg.mul ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
  }
  // The same ops of arguments in another order.
  module attributes {xetile.schedule = "elementwise"} {
    func.func @other_operands(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
      %c = arith.constant dense<2.0> : tensor<8xf32>
      %e = tensor.empty() : tensor<8xf32>
      %s = linalg.sub ins(%w, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %y = linalg.mul ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
  }
  module attributes {xetile.schedule = "elementwise"} {
    func.func @tiled(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
      %c = arith.constant dense<2.0> : tensor<8xf32>
      %e = tensor.empty() : tensor<8xf32>
      %s = linalg.sub ins(%x, %w : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %y = linalg.mul ins(%s, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    func.func private @helper()
  }
}
