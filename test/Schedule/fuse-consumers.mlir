// What follows on a tiled matmul is computed in its loop, if each tile of it needs one tile of the result.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @transposed(
// CHECK: scf.forall
// CHECK: linalg.matmul
// CHECK: linalg.generic
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
func.func @transposed(%A: tensor<64x32xf16>, %B: tensor<32x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x32xf16>, tensor<32x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64x64xf32>
  %E = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%D : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %E : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %matmul tile_sizes [16, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused = transform.xetile.fuse_consumers %loop : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// One that repeats the result along a loop of its own stays: no tile of the loop would be all of its tile.
// CHECK-LABEL: func.func @repeated(
// CHECK: scf.forall
// CHECK: linalg.matmul
// CHECK-NOT: linalg
// CHECK: scf.forall.in_parallel
// CHECK: linalg.generic
// CHECK: return
#long = affine_map<(i, j, l) -> (i, j, l)>
#short = affine_map<(i, j, l) -> (i, j)>
func.func @repeated(%A: tensor<64x32xf16>, %B: tensor<32x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64x4xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x32xf16>, tensor<32x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64x64x4xf32>
  %E = linalg.generic {indexing_maps = [#short, #long], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%D : tensor<64x64xf32>) outs(%empty : tensor<64x64x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<64x64x4xf32>
  return %E : tensor<64x64x4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %matmul tile_sizes [16, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused = transform.xetile.fuse_consumers %loop : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// One that writes over the result stays, too.
// CHECK-LABEL: func.func @over_the_result(
// CHECK: scf.forall
// CHECK: linalg.matmul
// CHECK-NOT: linalg
// CHECK: scf.forall.in_parallel
// CHECK: linalg.generic
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
func.func @over_the_result(%A: tensor<64x32xf16>, %B: tensor<32x64xf16>, %C: tensor<64x64xf32>, %X: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x32xf16>, tensor<32x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  %E = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%X : tensor<64x64xf32>) outs(%D : tensor<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %E : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %matmul tile_sizes [16, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused = transform.xetile.fuse_consumers %loop : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
