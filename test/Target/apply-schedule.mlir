// A schedule of a file, with values for its parameters.
// RUN: split-file --leading-lines %s %t
// RUN: xetile-opt %t/payload.mlir --xetile-apply-schedule="files=%t/tiles.mlir" | FileCheck %s --check-prefix=DEFAULT
// RUN: xetile-opt %t/payload.mlir --xetile-apply-schedule="files=%t/tiles.mlir values=rows=8" | FileCheck %s --check-prefix=GIVEN
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule="files=%t/tiles.mlir values=rows=0" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule="files=%t/tiles.mlir values=row=8" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule 2>&1 | FileCheck %s --check-prefix=NONE
// DEFAULT: scf.for %{{.*}} step %c16
// GIVEN: scf.for %{{.*}} step %c8
// RANGE: error: parameter 'rows' is '0', expected an integer from 1 to 64
// NAME: error: the schedule has no parameter 'row', expected one of: rows
// NONE: error: option files is empty, expected files of transform ops

//--- payload.mlir
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

//--- tiles.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %rows = transform.tune.knob<"rows"> = 16 from options = {min = 1, max = 64} -> !transform.param<i64>
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %matmul tile_sizes [%rows]
      : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
