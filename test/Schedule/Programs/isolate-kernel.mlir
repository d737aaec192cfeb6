// RUN: xetile-opt %s --transform-interpreter --split-input-file 2>&1 | FileCheck %s

// Of a module in which a kernel has a number, that kernel and the rest are modules of their own, and called.
// CHECK: remark: own
// CHECK: remark: rest
// CHECK: remark: program
// CHECK-LABEL: func.func @f(
// CHECK: call @f_0_matmul
// CHECK: call @f_1_elementwise
// CHECK: module attributes {xetile.isolated, xetile.schedule = "matmul"}
// CHECK: module attributes {xetile.schedule = "elementwise"}
module {
  func.func @f(%A: tensor<64x32xf16>, %B: tensor<32x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %D = linalg.matmul {xetile.kernel = 7 : i64, xetile.schedule = "matmul"}
        ins(%A, %B : tensor<64x32xf16>, tensor<32x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
    %E = linalg.exp ins(%D : tensor<64x64xf32>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %E : tensor<64x64xf32>
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %module = transform.get_parent_op %func {op_name = "builtin.module"} : (!transform.any_op) -> !transform.any_op
    %own, %rest = transform.xetile.isolate_kernel %module {schedule = "matmul"}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.debug.emit_remark_at %own, "own" : !transform.any_op
    transform.debug.emit_remark_at %rest, "rest" : !transform.any_op
    %program = transform.xetile.get_program %own : (!transform.any_op) -> !transform.any_op
    transform.debug.emit_remark_at %program, "program" : !transform.any_op
    transform.yield
  }
}

// -----

// Without a number all of it is the kernel, and nothing is around it but the test.
// CHECK: remark: own
// CHECK-NOT: remark: rest
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: linalg.matmul
module {
  func.func @plain(%A: tensor<64x32xf16>, %B: tensor<32x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %D = linalg.matmul ins(%A, %B : tensor<64x32xf16>, tensor<32x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %D : tensor<64x64xf32>
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %module = transform.get_parent_op %func {op_name = "builtin.module"} : (!transform.any_op) -> !transform.any_op
    %own, %rest = transform.xetile.isolate_kernel %module {schedule = "matmul"}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.debug.emit_remark_at %own, "own" : !transform.any_op
    transform.debug.emit_remark_at %rest, "rest" : !transform.any_op
    transform.yield
  }
}
