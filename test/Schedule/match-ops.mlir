// RUN: xetile-opt %s --transform-interpreter --verify-diagnostics | FileCheck %s

// What steps for CPUs take, as transform.foreach_match asks.
#row = affine_map<(m, k) -> (m, k)>
#sum = affine_map<(m, k) -> (m)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: func.func @ops
func.func @ops(%a: tensor<8x64xf32>, %b: tensor<64x8xf32>, %c: tensor<8x8xf32>, %x: tensor<1x3x10x10xf32>,
               %f: tensor<8x3x3x3xf32>, %y: tensor<1x8x8x8xf32>, %g: tensor<3x3x3xf32>, %z: tensor<1x3x8x8xf32>,
               %s: tensor<8xf32>) {
  // CHECK: linalg.matmul {found = "matmul"}
  %0 = linalg.matmul ins(%a, %b : tensor<8x64xf32>, tensor<64x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: linalg.conv_2d_nchw_fchw {{.*}}found = "convolution"
  %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %f : tensor<1x3x10x10xf32>, tensor<8x3x3x3xf32>) outs(%y : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  // Depthwise: no sum over channels.
  // CHECK: linalg.depthwise_conv_2d_nchw_chw
  // CHECK-NOT: found
  %2 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %g : tensor<1x3x10x10xf32>, tensor<3x3x3xf32>) outs(%z : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %3 = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  // CHECK: return
  return
}

transform.named_sequence @is_matmul(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  transform.xetile.match_matmul %op : !transform.any_op
  transform.yield %op : !transform.any_op
}
transform.named_sequence @is_convolution(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  transform.xetile.match_convolution %op : !transform.any_op
  transform.yield %op : !transform.any_op
}
transform.named_sequence @matmul(%op: !transform.any_op {transform.readonly}) {
  %name = transform.param.constant "matmul" -> !transform.any_param
  transform.annotate %op "found" = %name : !transform.any_op, !transform.any_param
  transform.yield
}
transform.named_sequence @convolution(%op: !transform.any_op {transform.readonly}) {
  %name = transform.param.constant "convolution" -> !transform.any_param
  transform.annotate %op "found" = %name : !transform.any_op, !transform.any_param
  transform.yield
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  transform.foreach_match in %function @is_matmul -> @matmul, @is_convolution -> @convolution
      : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}
