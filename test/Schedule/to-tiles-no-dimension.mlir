// RUN: xetile-opt %s --transform-interpreter | FileCheck %s
// A size that no dimension is: the program is undefined where it runs, and compiled without a look at it.

// CHECK-LABEL: func.func @beyond
// CHECK:         scf.forall
func.func @beyond(%a: tensor<?x?xf32>, %i: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c15 = arith.constant 15 : index
  %x = linalg.exp ins(%a : tensor<?x?xf32>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = tensor.dim %x, %c15 : tensor<?x?xf32>
  %e = tensor.empty(%d, %d) : tensor<?x?xf32>
  %y = linalg.exp ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %open]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
