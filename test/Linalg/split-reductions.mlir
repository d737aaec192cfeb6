// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-split-reductions{shortest=128 rows=8},canonicalize)" --split-input-file | FileCheck %s

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// A row in blocks that fit a subgroup and divide it; sums of f16 are f32 between both.
// CHECK-LABEL: func.func @sum(
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] {{.*}} : tensor<2x5120xf16> into tensor<2x40x128xf16>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: outs(%{{.*}} : tensor<2x40xf32>)
// CHECK: arith.extf
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<2x40xf32>) outs(%{{.*}} : tensor<2xf32>)
// CHECK: arith.truncf
// CHECK-NOT: linalg.generic
func.func @sum(%x: tensor<2x5120xf16>, %start: tensor<2xf16>) -> tensor<2xf16> {
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x5120xf16>) outs(%start : tensor<2xf16>) {
  ^bb0(%a: f16, %o: f16):
    %t = arith.addf %o, %a : f16
    linalg.yield %t : f16
  } -> tensor<2xf16>
  return %s : tensor<2xf16>
}

// Many rows keep a GPU busy: they stay. Short ones do.
// CHECK-LABEL: func.func @many(
// CHECK-NOT: tensor.expand_shape
// CHECK: return
func.func @many(%x: tensor<9x5120xf32>, %y: tensor<8x128xf32>, %i: tensor<9xf32>, %j: tensor<8xf32>) -> (tensor<9xf32>, tensor<8xf32>) {
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x5120xf32>) outs(%i : tensor<9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<9xf32>
  %p = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<8x128xf32>) outs(%j : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %s, %p : tensor<9xf32>, tensor<8xf32>
}

// Of a prime number of elements the last block hangs over: what is not there is left out, and where
// an element is stays known.
// CHECK-LABEL: func.func @places(
// CHECK: tensor.pad %{{.*}} low[0] high[9]
// CHECK: tensor<4992xi32> into tensor<39x128xi32>
// CHECK: linalg.index 0
// CHECK: linalg.index 1
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK: arith.minsi
// CHECK: linalg.generic
// CHECK: arith.minsi
func.func @places(%x: tensor<4983xi32>, %i: tensor<i32>) -> tensor<i32> {
  %s = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4983xi32>) outs(%i : tensor<i32>) {
  ^bb0(%a: i32, %o: i32):
    %n = linalg.index 0 : index
    %c = arith.index_cast %n : index to i32
    %e = arith.subi %a, %c : i32
    %t = arith.minsi %o, %e : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  return %s : tensor<i32>
}

// -----

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// Of all elements, first the longer dimension; what that leaves of the other is short.
// CHECK-LABEL: func.func @both(
// CHECK: tensor<50x100xf32> into tensor<50x50x2xf32>
// CHECK: ["parallel", "reduction", "reduction"]
// CHECK: outs(%{{.*}} : tensor<50xf32>)
// CHECK: iterator_types = ["reduction"]
func.func @both(%x: tensor<50x100xf32>, %i: tensor<f32>) -> tensor<f32> {
  %s = linalg.generic {indexing_maps = [#all, affine_map<(m, n) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<50x100xf32>) outs(%i : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#one = affine_map<(m) -> (m)>

// A variance, of any number of rows: squares about a block's own mean, then about that of all. The mean that the program has is
// what they are about in the end.
// CHECK-LABEL: func.func @variance(
// CHECK: %[[X:.*]] = tensor.expand_shape %{{.*}} : tensor<99x960xf32> into tensor<99x10x96xf32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<99x10x96xf32>) outs(%{{.*}} : tensor<99x10xf32>)
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[S]] : tensor<99x10x96xf32>, tensor<99x10xf32>) outs(%{{.*}} : tensor<99x10xf32>)
// CHECK: arith.divf
// CHECK: %[[D:.*]] = arith.subf
// CHECK: arith.mulf %[[D]], %[[D]]
// CHECK: arith.addf
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<99x10xf32>) outs(%{{.*}} : tensor<99xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %[[S]], %[[T]] : tensor<99x10xf32>, tensor<99x10xf32>, tensor<99xf32>) outs(%{{.*}} : tensor<99xf32>)
// CHECK-NOT: tensor<99x960xf32>) outs
func.func @variance(%x: tensor<99x960xf32>) -> tensor<99xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<99xf32>
  %e = tensor.empty() : tensor<99x960xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<99xf32>) -> tensor<99xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<99x960xf32>) outs(%z : tensor<99xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<99xf32>
  %m = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%s : tensor<99xf32>) outs(%r : tensor<99xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 960.0 : f32
    %t = arith.divf %a, %n : f32
    linalg.yield %t : f32
  } -> tensor<99xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<99x960xf32>, tensor<99xf32>) outs(%e : tensor<99x960xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<99x960xf32>
  %q = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<99x960xf32>) outs(%z : tensor<99xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<99xf32>
  return %q : tensor<99xf32>
}
