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

// One that writes over the result reads it as an input, and has memory of its own.
// CHECK-LABEL: func.func @over_the_result(
// CHECK: %[[OWN:.*]] = tensor.empty() : tensor<64x64xf32>
// CHECK: scf.forall {{.*}} shared_outs(%[[E:.*]] = %[[OWN]])
// CHECK: %[[D:.*]] = linalg.matmul
// CHECK: %[[TO:.*]] = tensor.extract_slice %[[E]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[D]] : {{.*}}) outs(%[[TO]] :
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[O:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.addf %[[X]], %[[O]]
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg
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

// -----

// Two ways from the result to one op: each way ends at the same place of a tile. The op that joins them names the end of
// one of them as its output, without reading it.
// CHECK-LABEL: func.func @two_ways(
// CHECK: scf.forall
// CHECK: %[[D:.*]] = linalg.matmul
// CHECK: %[[X:.*]] = linalg.generic {{.*}} ins(%[[D]] :
// CHECK: math.exp
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[D]] :
// CHECK: arith.negf
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[Y]] :
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
func.func @two_ways(%A: tensor<?x32xf16>, %B: tensor<32x64xf16>, %C: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %A, %c0 : tensor<?x32xf16>
  %D = linalg.matmul ins(%A, %B : tensor<?x32xf16>, tensor<32x64xf16>) outs(%C : tensor<?x64xf32>) -> tensor<?x64xf32>
  %empty = tensor.empty(%m) : tensor<?x64xf32>
  %X = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%D : tensor<?x64xf32>) outs(%empty : tensor<?x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %Y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%D : tensor<?x64xf32>) outs(%empty : tensor<?x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %E = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%X, %Y : tensor<?x64xf32>, tensor<?x64xf32>) outs(%X : tensor<?x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  return %E : tensor<?x64xf32>
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
