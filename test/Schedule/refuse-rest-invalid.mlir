// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// refuse_rest_c1: without a loop what no kernel around a matmul can have, all of it, with the reason.
module {
  func.func @f(%a: tensor<8x64xf32>, %s: tensor<8xf32>, %x: tensor<1x3x10x10xf32>, %f: tensor<8x3x3x3xf32>,
               %y: tensor<1x8x8x8xf32>) -> (tensor<8xf32>, tensor<1x8x8x8xf32>, tensor<8x66xf32>, tensor<8x64xf32>) {
    %e = linalg.exp ins(%a : tensor<8x64xf32>) outs(%a : tensor<8x64xf32>) -> tensor<8x64xf32>
    // expected-error @below {{4 ops are not part of a matmul's kernel; a kernel of the schedule 'matmul' is one matmul with elementwise ops before and after: compile the others by themselves ('rows' and 'elementwise' take what has no matmul), or all of it for the target cpu}}
    // expected-note @below {{linalg.reduce of arith.addf: reductions other than a matmul's are kernels of the schedule 'rows'}}
    %r = linalg.reduce { arith.addf } ins(%e : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
    // expected-note @below {{linalg.conv_2d_nchw_fchw: convolutions and poolings are kernels of the schedule 'rows'}}
    %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %f : tensor<1x3x10x10xf32>, tensor<8x3x3x3xf32>) outs(%y : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %zero = arith.constant 0.0 : f32
    // expected-note @below {{linalg.softmax: reductions other than a matmul's are kernels of the schedule 'rows'}}
    %m = linalg.softmax dimension(1) ins(%a : tensor<8x64xf32>) outs(%a : tensor<8x64xf32>) -> tensor<8x64xf32>
    // expected-note @below {{tensor.pad: it is no elementwise op}}
    %p = tensor.pad %a low[0, 1] high[0, 1] {
    ^bb0(%row: index, %column: index):
      tensor.yield %zero : f32
    } : tensor<8x64xf32> to tensor<8x66xf32>
    return %r, %c, %p, %m : tensor<8xf32>, tensor<1x8x8x8xf32>, tensor<8x66xf32>, tensor<8x64xf32>
  }
  module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.refuse_rest in %root : !transform.any_op
    transform.yield
  }
}
}

// -----

// refuse_rest_c1: beside a loop all that computes.
module {
  func.func @f(%a: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
    %any = tensor.empty() : tensor<8x64xf32>
    %r = scf.forall (%m) = (0) to (8) step (1) shared_outs(%all = %any) -> (tensor<8x64xf32>) {
      %x = tensor.extract_slice %a[%m, 0] [1, 64] [1, 1] : tensor<8x64xf32> to tensor<1x64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %x into %all[%m, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<8x64xf32>
      }
    }
    // expected-error @below {{an op is not part of a matmul's kernel; }}
    // expected-note @below {{linalg.exp: it is beside the matmul, or behind another of these ops}}
    %e = linalg.exp ins(%r : tensor<8x64xf32>) outs(%any : tensor<8x64xf32>) -> tensor<8x64xf32>
    return %r, %e : tensor<8x64xf32>, tensor<8x64xf32>
  }
  module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.refuse_rest in %root : !transform.any_op
    transform.yield
  }
}
}
