// Of targets with tiles of their own what is left over of a row is a block like the others, masked; the loop has two steps at least.
// RUN: sed s/BLOCK/16/ %s | xetile-opt --transform-interpreter | FileCheck %s --check-prefixes=CHECK,LEFT
// RUN: sed s/BLOCK/64/ %s | xetile-opt --transform-interpreter | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: sed s/BLOCK/20/ %s | xetile-opt --transform-interpreter | FileCheck %s --check-prefix=WHOLE
// RUN: sed -e s/BLOCK/16/ -e s/sm_90a/sm_1/ %s | not xetile-opt --transform-interpreter 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-LABEL: func.func @attention(
// LEFT: %[[R:.*]]:3 = scf.for %[[N:.*]] = %c0 to %c40 step %c16
// FEW: %[[R:.*]]:3 = scf.for %[[N:.*]] = %c0 to %c65 step %c64
// CHECK: tensor.extract_slice %{{.*}}[%[[N]], 0] [{{16|64}}, 4] [1, 1]
// Maxima are those of elements that exist, and so are powers: others are those of minus infinity.
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8xf32>)
// CHECK: %[[I:.*]] = linalg.index 1 : index
// CHECK: %[[AT:.*]] = arith.addi %[[I]], %[[N]] : index
// LEFT: %[[SEEN:.*]] = arith.cmpi ult, %[[AT]], %c40{{.*}} {xetile.seen = true} : index
// FEW: %[[SEEN:.*]] = arith.cmpi ult, %[[AT]], %c40{{[_0-9]*}} : index
// CHECK: %[[X:.*]] = arith.select %[[SEEN]], %{{.*}}, %{{.*}} : f32
// CHECK: arith.maximumf %[[X]]
// CHECK: arith.cmpi ult
// CHECK: %[[Y:.*]] = arith.select
// CHECK: arith.subf %[[Y]]
// CHECK-NOT: arith.cmpi
// CHECK: scf.yield
// CHECK-NOT: tensor.extract_slice

// WHOLE: scf.for %{{.*}} = %c0 to %c40 step %c20
// WHOLE-NOT: arith.cmpi

// UNKNOWN: target: unknown chip 'sm_1'
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#kn = affine_map<(m, n, k) -> (k, n)>
func.func @attention(%q: tensor<8x4xf32>, %k: tensor<40x4xf32>, %v: tensor<40x12xf32>) -> tensor<8x12xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<8x40xf32>
  %ep = tensor.empty() : tensor<8x40xf32>
  %er = tensor.empty() : tensor<8xf32>
  %eo = tensor.empty() : tensor<8x12xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x40xf32>) -> tensor<8x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x12xf32>) -> tensor<8x12xf32>
  %s = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x4xf32>, tensor<40x4xf32>) outs(%zs : tensor<8x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<8x40xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %m : tensor<8x40xf32>, tensor<8xf32>) outs(%es : tensor<8x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %l = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<8x40xf32>) outs(%zr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %l : tensor<8x40xf32>, tensor<8xf32>) outs(%ep : tensor<8x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<8x40xf32>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<8x40xf32>, tensor<40x12xf32>) outs(%zo : tensor<8x12xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %block = transform.param.constant BLOCK : i64 -> !transform.param<i64>
    %target = transform.param.constant "sm_90a" -> !transform.any_param
    %loop = transform.xetile.online %func block = %block target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}
