// A schedule that upstream's interpreter dies of is an error at the op that was running. That of a user runs in a
// process of its own; what it makes and what it says come back.
//
// RUN: split-file --leading-lines %s %t
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/wrong-kind.mlir 2>&1 | FileCheck %s --check-prefix=DIES
// RUN: xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/tiles.mlir 2> %t/said | FileCheck %s --check-prefix=TILED
// RUN: FileCheck %s --check-prefix=REMARK < %t/said
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/fails.mlir 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not xetile-opt %t/payload.mlir --xetile-apply-schedule=files=%t/invalid.mlir 2>&1 | FileCheck %s --check-prefix=INVALID

//--- payload.mlir
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// Tiles of size 0 are no tiles: upstream makes no loop and asks it for its bounds, which ends by one signal or another.
//--- wrong-kind.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    %size = transform.param.constant 0 : i64 -> !transform.param<i64>
    // DIES: wrong-kind.mlir:[[#@LINE + 1]]:23: error: transform.structured.tile_using_forall ended the process that applies the schedule ({{Segmentation fault|Aborted}}); expected handles of ops and parameters that it takes
    %tiled, %forall = transform.structured.tile_using_forall %matmul tile_sizes *(%size)
      : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

//--- tiles.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op
    // REMARK: payload.mlir:{{[0-9]+}}:8: remark: found
    transform.debug.emit_remark_at %matmul, "found" : !transform.any_op
    // TILED: scf.for
    // TILED: linalg.matmul {{.*}} outs({{.*}} : tensor<16x64xf32>)
    %tiled, %loop = transform.structured.tile_using_for %matmul tile_sizes [16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

//--- fails.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.consumed}) {
    // FAILS: fails.mlir:[[#@LINE + 2]]:{{[0-9]+}}: error: only ops implementing TilingInterface are supported
    // FAILS: payload.mlir:{{.*}} note: target op
    %tiled, %loop = transform.structured.tile_using_for %m tile_sizes [16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

//--- invalid.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    // INVALID: error: 'builtin.module' op can only contain attributes with dialect-prefixed names, found: 'mine'
    transform.annotate %m "mine" : !transform.any_op
    transform.yield
  }
}
