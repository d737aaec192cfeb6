// What is made of an op in the body of a linalg op is where that stands; so are loads for it.
// RUN: xetile-opt %s --transform-interpreter --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (j)>
func.func @chain(%A: tensor<100x100xf32>, %b: tensor<100xf32>) -> tensor<100x100xf32> {
  %empty = tensor.empty() : tensor<100x100xf32>
  %D = linalg.generic {indexing_maps = [#swap, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %b : tensor<100x100xf32>, tensor<100xf32>) outs(%empty : tensor<100x100xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    // CHECK: xetile.load_tile{{.*}} loc("{{.*}}to-tiles-locations.mlir":[[#@LINE+2]]:10)
    // CHECK: arith.addf{{.*}} loc("{{.*}}to-tiles-locations.mlir":[[#@LINE+1]]:10)
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<100x100xf32>
  return %D : tensor<100x100xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %m = transform.param.constant 32 : i64 -> !transform.param<i64>
    %n = transform.param.constant 64 : i64 -> !transform.param<i64>
    %two = transform.param.constant 2 : i64 -> !transform.param<i64>
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%m, %n] sg_layout = [%two, %two]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.yield
  }
}

