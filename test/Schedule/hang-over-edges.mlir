// Operands that are computed of what memory has are no zeros beyond the end of k: they are masked, unless k is known to
// end with a tile.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// 40 is two tiles of 16 and a rest.
// CHECK-LABEL: func.func @rest(
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<16x16xi1>
// CHECK: %[[A:.*]] = arith.select %[[MASK]], %[[SUM]]
// CHECK: vector.contract {{.*}} %[[A]], %
#id = affine_map<(i, j) -> (i, j)>
func.func @rest(%A: tensor<64x40xf16>, %B: tensor<40x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %two = arith.constant 2.0 : f16
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<64x40xf16>) outs(%A : tensor<64x40xf16>) {
  ^bb0(%x: f16, %o: f16):
    %s = arith.addf %x, %two : f16
    linalg.yield %s : f16
  } -> tensor<64x40xf16>
  %D = linalg.matmul ins(%a, %B : tensor<64x40xf16>, tensor<40x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m = transform.param.constant 16 : i64 -> !transform.param<i64>
    %n = transform.param.constant 32 : i64 -> !transform.param<i64>
    %k = transform.param.constant 16 : i64 -> !transform.param<i64>
    %tiled, %loop = transform.structured.tile_using_forall %matmul tile_sizes [16, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %slice, %steps = transform.structured.tile_using_for %tiled tile_sizes [0, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.xetile.hang_over_edges %loop tile = [%m, %n, %k] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// Only the run knows.
// CHECK-LABEL: func.func @unknown(
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<16x16xi1>
// CHECK: %[[A:.*]] = arith.select %[[MASK]], %[[SUM]]
// CHECK: vector.contract {{.*}} %[[A]], %
#id = affine_map<(i, j) -> (i, j)>
func.func @unknown(%A: tensor<64x?xf16>, %B: tensor<?x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %two = arith.constant 2.0 : f16
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<64x?xf16>) outs(%A : tensor<64x?xf16>) {
  ^bb0(%x: f16, %o: f16):
    %s = arith.addf %x, %two : f16
    linalg.yield %s : f16
  } -> tensor<64x?xf16>
  %D = linalg.matmul ins(%a, %B : tensor<64x?xf16>, tensor<?x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m = transform.param.constant 16 : i64 -> !transform.param<i64>
    %n = transform.param.constant 32 : i64 -> !transform.param<i64>
    %k = transform.param.constant 16 : i64 -> !transform.param<i64>
    %tiled, %loop = transform.structured.tile_using_forall %matmul tile_sizes [16, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %slice, %steps = transform.structured.tile_using_for %tiled tile_sizes [0, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.xetile.hang_over_edges %loop tile = [%m, %n, %k] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// A constant tensor is itself beyond the end, too, where the operand would be 2.
// CHECK-LABEL: func.func @constant(
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<16x16xi1>
// CHECK: %[[A:.*]] = arith.select %[[MASK]], %[[SUM]]
// CHECK: vector.contract {{.*}} %[[A]], %
#id = affine_map<(i, j) -> (i, j)>
func.func @constant(%A: tensor<64x40xf16>, %B: tensor<40x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %two = arith.constant dense<2.0> : tensor<64x40xf16>
  %a = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %two : tensor<64x40xf16>, tensor<64x40xf16>) outs(%A : tensor<64x40xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %s = arith.addf %x, %y : f16
    linalg.yield %s : f16
  } -> tensor<64x40xf16>
  %D = linalg.matmul ins(%a, %B : tensor<64x40xf16>, tensor<40x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m = transform.param.constant 16 : i64 -> !transform.param<i64>
    %n = transform.param.constant 32 : i64 -> !transform.param<i64>
    %k = transform.param.constant 16 : i64 -> !transform.param<i64>
    %tiled, %loop = transform.structured.tile_using_forall %matmul tile_sizes [16, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %slice, %steps = transform.structured.tile_using_for %tiled tile_sizes [0, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.xetile.hang_over_edges %loop tile = [%m, %n, %k] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----

// All of k is one tile.
// CHECK-LABEL: func.func @one_tile(
// CHECK-NOT: create_mask
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
func.func @one_tile(%A: tensor<64x16xf16>, %B: tensor<16x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %two = arith.constant 2.0 : f16
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A : tensor<64x16xf16>) outs(%A : tensor<64x16xf16>) {
  ^bb0(%x: f16, %o: f16):
    %s = arith.addf %x, %two : f16
    linalg.yield %s : f16
  } -> tensor<64x16xf16>
  %D = linalg.matmul ins(%a, %B : tensor<64x16xf16>, tensor<16x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m = transform.param.constant 16 : i64 -> !transform.param<i64>
    %n = transform.param.constant 32 : i64 -> !transform.param<i64>
    %k = transform.param.constant 16 : i64 -> !transform.param<i64>
    %tiled, %loop = transform.structured.tile_using_forall %matmul tile_sizes [16, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %slice, %steps = transform.structured.tile_using_for %tiled tile_sizes [0, 0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.xetile.hang_over_edges %loop tile = [%m, %n, %k] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}
