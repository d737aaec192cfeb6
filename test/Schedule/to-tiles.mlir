// A function on tensors becomes tiles of workgroups: places of indexing maps, one vector of R x C for each value.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @chain(
// CHECK-DAG: %[[A:.*]] = bufferization.to_buffer %{{.*}} read_only : tensor<100x100xf32> to memref<100x100xf32>
// CHECK-DAG: %[[B:.*]] = bufferization.to_buffer %{{.*}} read_only : tensor<100xf32> to memref<100xf32>
// CHECK-DAG: %[[D:.*]] = memref.alloc() : memref<100x100xf32>
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (100, 100) step (32, 64)
// CHECK: %[[AT:.*]] = memref.transpose %[[A]] (d0, d1) -> (d1, d0)
// CHECK: xetile.init_tile %[[AT]][%[[M]], %[[N]]] : {{.*}} -> !xetile.tile<32x64xf32, #[[MAPPED:.*]]>
// CHECK: %[[X:.*]] = xetile.load_tile
// CHECK: memref.expand_shape %[[B]] {{\[\[}}0, 1]] output_shape [1, 100]
// CHECK: %[[ROW:.*]] = xetile.load_tile %{{.*}} -> vector<1x64xf32>
// CHECK: %[[ALL:.*]] = xetile.tile_broadcast %[[ROW]], [0] {wg_map = #{{.*}}}
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[ALL]] : vector<32x64xf32>
// CHECK: %[[T:.*]] = xetile.init_tile %[[D]][%[[M]], %[[N]]]
// CHECK: xetile.store_tile %[[S]], %[[T]]
// CHECK-NOT: linalg
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (j)>
func.func @chain(%A: tensor<100x100xf32>, %b: tensor<100xf32>) -> tensor<100x100xf32> {
  %empty = tensor.empty() : tensor<100x100xf32>
  %D = linalg.generic {indexing_maps = [#swap, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%A, %b : tensor<100x100xf32>, tensor<100xf32>) outs(%empty : tensor<100x100xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
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

// -----

// A row is too long for the tile: blocks of it, whose elements beyond the end are neutral. What was computed is selected,
// memory is asked for minus infinity. The maximum is computed once, before the loop that sums.
// CHECK-LABEL: func.func @log_sum(
// CHECK: %[[MAX:.*]] = scf.for
// CHECK: xetile.load_tile %{{.*}} {padding = 0xFF800000 : f32}
// CHECK: arith.maximumf
// CHECK: scf.yield
// CHECK: xetile.tile_reduce <maximumf> %[[MAX]], [1] : vector<8x32xf32> -> vector<8x1xf32>
// CHECK: %[[SUM:.*]] = scf.for
// CHECK-NOT: scf.for
// CHECK: %[[E:.*]] = math.exp
// CHECK: arith.select %{{.*}}, %[[E]], %{{.*}}
// CHECK: scf.yield
// CHECK: xetile.tile_reduce <add> %[[SUM]], [1]
// CHECK: memref.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [20, 1]
// CHECK: xetile.store_tile %{{.*}} : vector<8x1xf32>
func.func @log_sum(%A: tensor<20x100xf32>) -> tensor<20xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<20xf32>
  %lows = linalg.fill ins(%low : f32) outs(%empty : tensor<20xf32>) -> tensor<20xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<20xf32>) -> tensor<20xf32>
  %max = linalg.reduce { arith.maximumf } ins(%A : tensor<20x100xf32>) outs(%lows : tensor<20xf32>) dimensions = [1]
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%A, %max : tensor<20x100xf32>, tensor<20xf32>) outs(%zeros : tensor<20xf32>) {
  ^bb0(%x: f32, %m: f32, %s: f32):
    %d = arith.subf %x, %m : f32
    %e = math.exp %d : f32
    %y = arith.addf %s, %e : f32
    linalg.yield %y : f32
  } -> tensor<20xf32>
  return %sum : tensor<20xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %n = transform.param.constant 32 : i64 -> !transform.param<i64>
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%m, %n] sg_layout = [%one, %one]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.yield
  }
}

// -----

// Sums of narrow floats are f32 and rounded once. They begin with -0, which a sum of nothing but -0 keeps.
// CHECK-LABEL: func.func @narrow_sum(
// CHECK: %[[NOTHING:.*]] = arith.constant dense<-0.000000e+00> : vector<8x32xf32>
// CHECK: %[[TOTAL:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[NOTHING]]) -> (vector<8x32xf32>)
// CHECK: xetile.load_tile
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : vector<8x32xf32>
// CHECK: %[[ALL:.*]] = xetile.tile_reduce <add> %[[TOTAL]], [1] : vector<8x32xf32> -> vector<8x1xf32>
// CHECK: arith.addf {{.*}} : vector<8x1xf32>
// CHECK: arith.truncf {{.*}} : vector<8x1xf32> to vector<8x1xf16>
func.func @narrow_sum(%A: tensor<20x100xf16>, %start: tensor<20xf16>) -> tensor<20xf16> {
  %r = linalg.reduce { arith.addf } ins(%A : tensor<20x100xf16>) outs(%start : tensor<20xf16>) dimensions = [1]
  return %r : tensor<20xf16>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %n = transform.param.constant 32 : i64 -> !transform.param<i64>
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%m, %n] sg_layout = [%one, %one]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.yield
  }
}

// -----

// Products, too.
// CHECK-LABEL: func.func @narrow_product(
// CHECK: %[[TOTAL:.*]] = scf.for {{.*}} -> (vector<8x32xf32>)
// CHECK: xetile.load_tile %{{.*}} {padding = 1.000000e+00 : f16}
// CHECK: arith.extf
// CHECK: arith.mulf {{.*}} : vector<8x32xf32>
// CHECK: %[[ALL:.*]] = xetile.tile_reduce <mul> %[[TOTAL]], [1] : vector<8x32xf32> -> vector<8x1xf32>
// CHECK: arith.mulf {{.*}} : vector<8x1xf32>
// CHECK: arith.truncf {{.*}} : vector<8x1xf32> to vector<8x1xf16>
func.func @narrow_product(%A: tensor<20x100xf16>, %start: tensor<20xf16>) -> tensor<20xf16> {
  %r = linalg.reduce { arith.mulf } ins(%A : tensor<20x100xf16>) outs(%start : tensor<20xf16>) dimensions = [1]
  return %r : tensor<20xf16>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %n = transform.param.constant 32 : i64 -> !transform.param<i64>
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%m, %n] sg_layout = [%one, %one]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.apply_dce to %func : !transform.any_op
    transform.yield
  }
}

// -----

// Rows of a multiple of 16 elements that are reduced are folded: a row a workgroup, which is one subgroup.
// CHECK-LABEL: func.func @folded(
// CHECK: scf.forall (%[[M:.*]], %{{.*}}) in (20, 1)
// CHECK: memref.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [20, 64, 16]
// CHECK: memref.subview %{{.*}}[%[[M]], 0, 0] [1, 64, 16] [1, 1, 1]
// CHECK: xetile.load_tile %{{.*}} -> vector<64x16xf32>
// CHECK: xetile.tile_reduce <maximumf> %{{.*}}, [0] : vector<64x16xf32> -> vector<1x16xf32>
// CHECK: xetile.tile_reduce <maximumf> %{{.*}}, [1] : vector<1x16xf32> -> vector<1x1xf32>
// CHECK: xetile.store_tile
func.func @folded(%A: tensor<20x1024xf32>) -> tensor<20x1024xf32> {
  %low = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<20xf32>
  %all = tensor.empty() : tensor<20x1024xf32>
  %lows = linalg.fill ins(%low : f32) outs(%empty : tensor<20xf32>) -> tensor<20xf32>
  %max = linalg.reduce { arith.maximumf } ins(%A : tensor<20x1024xf32>) outs(%lows : tensor<20xf32>) dimensions = [1]
  %D = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%A, %max : tensor<20x1024xf32>, tensor<20xf32>) outs(%all : tensor<20x1024xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    linalg.yield %d : f32
  } -> tensor<20x1024xf32>
  return %D : tensor<20x1024xf32>
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

// Rows of what is returned in another shape are those that are reduced; memory is reshaped.
// CHECK-LABEL: func.func @reshaped(
// CHECK: %[[D:.*]] = memref.alloc() : memref<20x1024xf32>
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (20, 1)
// CHECK: xetile.load_tile %{{.*}} -> vector<64x16xf32>
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[D]]
// CHECK: %[[R:.*]] = tensor.expand_shape %[[T]]
// CHECK: return %[[R]]
func.func @reshaped(%A: tensor<20x1024xf32>) -> tensor<4x5x32x32xf32> {
  %low = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<20xf32>
  %all = tensor.empty() : tensor<20x1024xf32>
  %lows = linalg.fill ins(%low : f32) outs(%empty : tensor<20xf32>) -> tensor<20xf32>
  %max = linalg.reduce { arith.maximumf } ins(%A : tensor<20x1024xf32>) outs(%lows : tensor<20xf32>) dimensions = [1]
  %D = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%A, %max : tensor<20x1024xf32>, tensor<20xf32>) outs(%all : tensor<20x1024xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    linalg.yield %d : f32
  } -> tensor<20x1024xf32>
  %R = tensor.expand_shape %D [[0, 1], [2, 3]] output_shape [4, 5, 32, 32] : tensor<20x1024xf32> into tensor<4x5x32x32xf32>
  return %R : tensor<4x5x32x32xf32>
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

// Of results that are computed in several shapes tiles are of the one that is returned.
// CHECK-LABEL: func.func @two_shapes(
// CHECK-COUNT-2: memref.alloc() : memref<4x5x32x32xf32>
// CHECK: scf.forall
func.func @two_shapes(%A: tensor<20x1024xf32>) -> (tensor<4x5x32x32xf32>, tensor<4x5x32x32xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<20xf32>
  %all = tensor.empty() : tensor<20x1024xf32>
  %lows = linalg.fill ins(%low : f32) outs(%empty : tensor<20xf32>) -> tensor<20xf32>
  %max = linalg.reduce { arith.maximumf } ins(%A : tensor<20x1024xf32>) outs(%lows : tensor<20xf32>) dimensions = [1]
  %D = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%A, %max : tensor<20x1024xf32>, tensor<20xf32>) outs(%all : tensor<20x1024xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    linalg.yield %d : f32
  } -> tensor<20x1024xf32>
  %R = tensor.expand_shape %D [[0, 1], [2, 3]] output_shape [4, 5, 32, 32] : tensor<20x1024xf32> into tensor<4x5x32x32xf32>
  %e = tensor.empty() : tensor<4x5x32x32xf32>
  %Q = linalg.negf ins(%R : tensor<4x5x32x32xf32>) outs(%e : tensor<4x5x32x32xf32>) -> tensor<4x5x32x32xf32>
  return %R, %Q : tensor<4x5x32x32xf32>, tensor<4x5x32x32xf32>
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

// Where rows are many, a workgroup computes some in turn, and loads what all of them read once before.
// CHECK-LABEL: func.func @many_rows(
// CHECK: scf.forall (%[[M:.*]], %{{.*}}) = (0, 0) to (16384, 1) step (4, 1)
// CHECK: %[[GAIN:.*]] = xetile.load_tile %{{.*}} -> vector<16x16xf32>
// CHECK: scf.for %[[TURN:.*]] = %c0{{.*}} to %c4
// CHECK: %[[ROW:.*]] = arith.addi %[[M]], %[[TURN]]
// CHECK: memref.subview %{{.*}}[%[[ROW]], 0, 0] [1, 16, 16] [1, 1, 1]
// CHECK: xetile.tile_reduce <add>
// CHECK: arith.mulf %{{.*}}, %[[GAIN]]
// CHECK: xetile.store_tile
func.func @many_rows(%A: tensor<16384x256xf32>, %gain: tensor<256xf32>) -> tensor<16384x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16384xf32>
  %all = tensor.empty() : tensor<16384x256xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<16384xf32>) -> tensor<16384xf32>
  %sum = linalg.reduce { arith.addf } ins(%A : tensor<16384x256xf32>) outs(%zeros : tensor<16384xf32>) dimensions = [1]
  %D = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%A, %sum, %gain : tensor<16384x256xf32>, tensor<16384xf32>, tensor<256xf32>) outs(%all : tensor<16384x256xf32>) {
  ^bb0(%x: f32, %s: f32, %g: f32, %o: f32):
    %c = arith.subf %x, %s : f32
    %d = arith.mulf %c, %g : f32
    linalg.yield %d : f32
  } -> tensor<16384x256xf32>
  return %D : tensor<16384x256xf32>
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

// Along dimensions that a tile does not run along, what is read outside of a tensor is its last element, and dropped.
// CHECK-LABEL: func.func @outside(
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[I:.*]]) = (0, 0, 0) to (6, 7, 7)
// CHECK: %[[SHIFTED:.*]] = arith.addi %[[I]], %c-2
// CHECK: %[[INSIDE:.*]] = arith.minui %[[SHIFTED]], %c3
// CHECK: memref.subview %{{.*}}[%[[INSIDE]], 0, 0] [1, 6, 7] [1, 1, 1]
// CHECK: %[[MASK:.*]] = arith.cmpi ult
// CHECK: arith.select
// CHECK: xetile.store_tile
func.func @outside(%A: tensor<4x6x7xf32>) -> tensor<7x6x7xf32> {
  %three = arith.constant 3.0 : f32
  %D = tensor.pad %A low[2, 0, 0] high[1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %three : f32
  } : tensor<4x6x7xf32> to tensor<7x6x7xf32>
  return %D : tensor<7x6x7xf32>
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

// A reduction by code of any kind: element by element, in one loop that carries all results.
// CHECK-LABEL: func.func @last_of_the_largest(
// CHECK: %[[BOTH:.*]]:2 = scf.for {{.*}} iter_args(%[[LARGEST:.*]] = %{{.*}}, %[[AT:.*]] = %{{.*}}) -> (vector<1x64xf32>, vector<1x64xi32>)
// CHECK-NOT: scf.for
// CHECK: %[[X:.*]] = xetile.load_gather
// CHECK: %[[TAKES:.*]] = arith.cmpf oge, %[[X]], %[[LARGEST]]
// CHECK: arith.select %[[TAKES]], %[[X]], %[[LARGEST]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[AT]]
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: xetile.store_tile %[[BOTH]]#0
// CHECK: xetile.store_tile %[[BOTH]]#1
func.func @last_of_the_largest(%x: tensor<64x50xf32>, %low: tensor<64xf32>, %none: tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>) {
  %largest, %at = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x50xf32>) outs(%low, %none : tensor<64xf32>, tensor<64xi32>) {
  ^bb0(%e: f32, %m: f32, %n: i32):
    %takes = arith.cmpf oge, %e, %m : f32
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %a = arith.select %takes, %e, %m : f32
    %b = arith.select %takes, %k, %n : i32
    linalg.yield %a, %b : f32, i32
  } -> (tensor<64xf32>, tensor<64xi32>)
  return %largest, %at : tensor<64xf32>, tensor<64xi32>
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

// Windows two elements apart of an image with zeros around it: tiles lie inside of the results, and loads pad what is extended
// behind them.
// CHECK-LABEL: func.func @padded_windows(
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]], %{{.*}}, %{{.*}}) = (0, 0, 0, 0) to (56, 56, 2, 3) step (8, 32, 1, 1)
// CHECK: arith.minui %[[N]], %c24
// CHECK-COUNT-9: xetile.load_gather {{.*}} -> vector<8x32xf16>
// CHECK-NOT: arith.select
// CHECK: return
#id = affine_map<(n, c, y, x) -> (n, c, y, x)>
func.func @padded_windows(%A: tensor<2x3x112x112xf16>) -> tensor<2x3x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x112x112xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%A : tensor<2x3x112x112xf16>) outs(%e : tensor<2x3x112x112xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  } -> tensor<2x3x112x112xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x3x112x112xf32> to tensor<2x3x114x114xf32>
  %r = tensor.empty() : tensor<2x3x56x56xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %s = linalg.fill ins(%zero : f32) outs(%r : tensor<2x3x56x56xf32>) -> tensor<2x3x56x56xf32>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%p, %window : tensor<2x3x114x114xf32>, tensor<3x3xf32>) outs(%s : tensor<2x3x56x56xf32>) -> tensor<2x3x56x56xf32>
  return %y : tensor<2x3x56x56xf32>
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

// f16 has no 0.1: it is selected behind the extension.
// CHECK-LABEL: func.func @padded_with_others(
// CHECK: xetile.load_gather
// CHECK: arith.extf
// CHECK: arith.select
#id = affine_map<(n, c, y, x) -> (n, c, y, x)>
func.func @padded_with_others(%A: tensor<2x3x112x112xf16>) -> tensor<2x3x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %tenth = arith.constant 0.1 : f32
  %e = tensor.empty() : tensor<2x3x112x112xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%A : tensor<2x3x112x112xf16>) outs(%e : tensor<2x3x112x112xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  } -> tensor<2x3x112x112xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %tenth : f32
  } : tensor<2x3x112x112xf32> to tensor<2x3x114x114xf32>
  %r = tensor.empty() : tensor<2x3x56x56xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %s = linalg.fill ins(%zero : f32) outs(%r : tensor<2x3x56x56xf32>) -> tensor<2x3x56x56xf32>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%p, %window : tensor<2x3x114x114xf32>, tensor<3x3xf32>) outs(%s : tensor<2x3x56x56xf32>) -> tensor<2x3x56x56xf32>
  return %y : tensor<2x3x56x56xf32>
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
