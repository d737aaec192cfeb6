// Sizes that only a run knows: one body, loops over blocks of what is reduced, neutral elements by the size of the run.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// Sizes of computed tensors are those of arguments; the sizes of a tile's matrix stand at the tile.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]], %c1
// CHECK: memref.alloc(%[[M]], %[[N]]) : memref<?x?xf32>
// CHECK: scf.forall (%[[ROW:.*]], %{{.*}}) = (0, 0) to (%[[M]], 1) step (8, 1)
// CHECK: %[[MAXIMA:.*]] = scf.for %[[COLUMN:.*]] = %c0{{.*}} to %[[N]] step %c128
// CHECK: xetile.init_tile %{{.*}}[%[[ROW]], %[[COLUMN]]], [%[[M]], %[[N]]], [%[[N]], 1]
// CHECK: xetile.load_tile %{{.*}} {padding = 0xFF800000 : f32}
// CHECK: xetile.tile_reduce <maximumf>
// CHECK: scf.for
// CHECK: math.exp
// CHECK: %[[BOUND:.*]] = vector.broadcast %[[N]] : index to vector<1x128xindex>
// CHECK: %[[MASK:.*]] = arith.cmpi ult, %{{.*}}, %[[BOUND]]
// CHECK: arith.select
// CHECK: xetile.tile_reduce <add>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[N]] step %c128
// CHECK: xetile.store_tile
// CHECK-NOT: scf.if
#id = affine_map<(i, j) -> (i, j)>
#kept = affine_map<(i, j) -> (i)>
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %le = tensor.empty(%m) : tensor<?xf32>
  %lf = linalg.fill ins(%low : f32) outs(%le : tensor<?xf32>) -> tensor<?xf32>
  %l = linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%lf : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#id, #kept, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %l : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %rows = tensor.dim %p, %c0 : tensor<?x?xf32>
  %se = tensor.empty(%rows) : tensor<?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%sf : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #kept, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %open]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.yield
  }
}

// -----

// Whole rows of known length stay folded to tiles, whatever their number.
// CHECK-LABEL: func.func @folded(
// CHECK: memref.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 64, 16] : memref<?x1024xf32> into memref<?x64x16xf32>
// CHECK: memref.subview %{{.*}}[%{{.*}}, 0, 0] [1, 64, 16] [1, 1, 1]
// CHECK: xetile.load_tile %{{.*}} -> vector<64x16xf32>
// CHECK-NOT: scf.for
#id = affine_map<(i, j) -> (i, j)>
#kept = affine_map<(i, j) -> (i)>
func.func @folded(%x: tensor<?x1024xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x1024xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %open]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.yield
  }
}

// -----

// A number that is made of a computed tensor's size is of an argument's: else the tensor is computed for it, on the host.
// CHECK-LABEL: func.func @mean(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %{{.*}}: tensor<?x?xf32>
// CHECK-NOT: linalg
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]], %c1
// CHECK-DAG: %[[NUMBER:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK-DAG: arith.sitofp %[[NUMBER]] : i32 to f32
// CHECK-NOT: linalg
// CHECK: scf.forall
// CHECK-NOT: linalg
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
#kept = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
func.func @mean(%x: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %rows = tensor.dim %p, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %p, %c1 : tensor<?x?xf32>
  %number = arith.index_cast %columns : index to i32
  %count = arith.sitofp %number : i32 to f32
  %se = tensor.empty(%rows) : tensor<?xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x?xf32>) outs(%sf : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%s : tensor<?xf32>) outs(%se : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %count : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %open]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.yield
  }
}
