// RUN: xetile-opt %s --xetile-drop-unit-dims | FileCheck %s

#both = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m, 0)>

// The sum of a row has one index, and so has what reads it.
// CHECK: #[[BOTH:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @rows
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[BOTH]], #[[ROW]]]
// CHECK-SAME: outs(%{{.*}} : tensor<4xf32>)
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic {indexing_maps = [#[[BOTH]], #[[ROW]], #[[BOTH]]]
// CHECK-SAME: ins(%{{.*}}, %[[SUM]] : tensor<4x8xf32>, tensor<4xf32>)
func.func @rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %any = tensor.empty() : tensor<4x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%any : tensor<4x1xf32>) -> tensor<4x1xf32>
  %sum = linalg.generic {indexing_maps = [#both, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%zeros : tensor<4x1xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x1xf32>
  %all = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4x8xf32>, tensor<4x1xf32>) outs(%all : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func @loop
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8xf32>)
func.func @loop(%x: tensor<1x8xf32>, %n: index) -> tensor<1x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<1x8xf32> {
    %e = linalg.generic {indexing_maps = [#both], iterator_types = ["parallel", "parallel"]} outs(%t : tensor<1x8xf32>) {
    ^bb0(%a: f32):
      %y = math.exp %a : f32
      linalg.yield %y : f32
    } -> tensor<1x8xf32>
    scf.yield %e : tensor<1x8xf32>
  }
  return %r : tensor<1x8xf32>
}

// A microkernel of a tiled matmul stays as it is: its attribute says how it is lowered, and how sums are rounded.
// CHECK-LABEL: func @microkernel
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x1xbf16>) attrs = {xetile.microkernel = array<i64: 4, 16>}
func.func @microkernel(%a: tensor<4x1xbf16>, %b: tensor<1x1xbf16>, %c: tensor<4x1xbf16>) -> tensor<4x1xbf16> {
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x1xbf16>, tensor<1x1xbf16>) outs(%c : tensor<4x1xbf16>)
      attrs = {xetile.microkernel = array<i64: 4, 16>} {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<4x1xbf16>
  return %d : tensor<4x1xbf16>
}
