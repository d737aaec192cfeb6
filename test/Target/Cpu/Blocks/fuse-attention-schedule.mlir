// RUN: xetile-opt %s --transform-interpreter --canonicalize | FileCheck %s
// A schedule does it as a step of its own, then tiles what is left of matmuls.

// CHECK-LABEL: func @one_head(
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK: scf.for
// CHECK: linalg.batch_reduce_matmul {xetile.microkernel
// CHECK: math.exp
// CHECK: linalg.batch_reduce_matmul {xetile.microkernel
// CHECK: {xetile.rows}
module attributes {transform.with_named_sequence} {
func.func @one_head(%q: tensor<256x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %i: tensor<256xi32>,
                    %j: tensor<128xi32>) -> tensor<256x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<256x128xf32>
  %em = tensor.empty() : tensor<256x128xi1>
  %er = tensor.empty() : tensor<256xf32>
  %ey = tensor.empty() : tensor<256x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<256x128xf32>) -> tensor<256x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<256xf32>) -> tensor<256xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<256x16xf32>) -> tensor<256x16xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i, %j : tensor<256xi32>, tensor<128xi32>) outs(%em : tensor<256x128xi1>) {
  ^bb0(%a: i32, %b: i32, %o: i1):
    %t = arith.cmpi sge, %a, %b : i32
    linalg.yield %t : i1
  } -> tensor<256x128xi1>
  %bias = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                          iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<256x128xi1>) outs(%es : tensor<256x128xf32>) {
  ^bb0(%a: i1, %o: f32):
    %t = arith.select %a, %zero, %lowest : f32
    linalg.yield %t : f32
  } -> tensor<256x128xf32>
  %s = linalg.matmul ins(%q, %k : tensor<256x32xf32>, tensor<32x128xf32>) outs(%zs : tensor<256x128xf32>) -> tensor<256x128xf32>
  %d = linalg.add ins(%s, %bias : tensor<256x128xf32>, tensor<256x128xf32>) outs(%es : tensor<256x128xf32>) -> tensor<256x128xf32>
  %e = linalg.exp ins(%d : tensor<256x128xf32>) outs(%es : tensor<256x128xf32>) -> tensor<256x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<256x128xf32>) outs(%zr : tensor<256xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : tensor<256x128xf32>, tensor<256xf32>) outs(%es : tensor<256x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<256x128xf32>
  %y = linalg.matmul ins(%p, %v : tensor<256x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<256x16xf32>) -> tensor<256x16xf32>
  return %y : tensor<256x16xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op) {
  %function = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
  %blocks = transform.apply_registered_pass "xetile-fuse-attention" with options = {"threads" = 2 : i64} to %function
      : (!transform.any_op) -> !transform.any_op
  %tiled = transform.apply_registered_pass "deep-tile-matmul" with options = {"threads" = 2 : i64} to %blocks
      : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}
