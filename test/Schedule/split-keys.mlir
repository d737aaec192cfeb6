// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// Parts of one size: views of keys and values; what they give is put together behind them.
// CHECK-LABEL: func.func @even
// CHECK: %[[K:.*]] = tensor.expand_shape %arg1 {{\[\[}}0], [1, 2], [3]] {{.*}} into tensor<16x4x1024x64xf16>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%arg0, %[[K]] {{.*}} outs(%{{.*}} : tensor<4x16x4x1024xf32>)
// CHECK-SAME: xetile.kernel = 0 : i64, xetile.schedule = "attention"
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[S]] : {{.*}} outs(%{{.*}} : tensor<4x16x4xf32>)
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[M]] : {{.*}} outs(%{{.*}} : tensor<4x16x4x1024xf16>)
// CHECK: arith.maxnumf
// CHECK-NOT: linalg.index
// CHECK: math.exp
// CHECK: %[[V:.*]] = tensor.expand_shape %arg2
// CHECK: %[[O:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[V]] : {{.*}} outs(%{{.*}} : tensor<4x16x4x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[M]] : tensor<4x16x4xf32>) outs(%{{.*}} : tensor<16x4xf32>)
// CHECK-SAME: xetile.kernel = 1 : i64, xetile.schedule = "rows"
// CHECK: linalg.generic {{.*}} ins(%[[O]], {{.*}} outs(%{{.*}} : tensor<16x4x64xf32>)
// CHECK-SAME: xetile.kernel = 1 : i64
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @even(%Q: tensor<16x4x64xf16>, %K: tensor<16x4096x64xf16>, %V: tensor<16x4096x64xf16>) -> tensor<16x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<16x4x4096xf32>
  %er = tensor.empty() : tensor<16x4xf32>
  %ep = tensor.empty() : tensor<16x4x4096xf16>
  %eo = tensor.empty() : tensor<16x4x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x4x4096xf32>) -> tensor<16x4x4096xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %lr = linalg.fill ins(%least : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x4x64xf32>) -> tensor<16x4x64xf32>
  %S = linalg.generic {indexing_maps = [#qk, #kk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<16x4x64xf16>, tensor<16x4096x64xf16>) outs(%zs : tensor<16x4x4096xf32>) {
  ^bb0(%q: f16, %k: f16, %o: f32):
    %qe = arith.extf %q : f16 to f32
    %ke = arith.extf %k : f16 to f32
    %p = arith.mulf %qe, %ke : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x4x4096xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%S : tensor<16x4x4096xf32>) outs(%lr : tensor<16x4xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<16x4xf32>
  %P = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S, %m : tensor<16x4x4096xf32>, tensor<16x4xf32>) outs(%ep : tensor<16x4x4096xf16>) {
  ^bb0(%s: f32, %t: f32, %o: f16):
    %d = arith.subf %s, %t : f32
    %e = math.exp %d : f32
    %r = arith.truncf %e : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x4x4096xf16>
  %O = linalg.generic {indexing_maps = [#pp, #vv, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%P, %V : tensor<16x4x4096xf16>, tensor<16x4096x64xf16>) outs(%zo : tensor<16x4x64xf32>) {
  ^bb0(%p: f16, %v: f16, %o: f32):
    %pe = arith.extf %p : f16 to f32
    %ve = arith.extf %v : f16 to f32
    %x = arith.mulf %pe, %ve : f32
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  return %O : tensor<16x4x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// A rest of the keys: zeros behind their end, whose scores are minus infinity.
// CHECK-LABEL: func.func @rest
// CHECK: tensor.pad %arg1 low[0, 0, 0] high[0, 8, 0]
// CHECK: xetile.kernel = 0 : i64
// CHECK: tensor<16x1008x64xf16> into tensor<16x3x336x64xf16>
// CHECK: %[[PLACE:.*]] = arith.cmpi ult, %{{.*}}, %c1000
// CHECK: %[[X:.*]] = arith.select %[[PLACE]], %{{.*}}, %{{.*}} : f32
// CHECK: maximumf %[[X]]
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: math.exp
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @rest(%Q: tensor<16x4x64xf16>, %K: tensor<16x1000x64xf16>, %V: tensor<16x1000x64xf16>) -> tensor<16x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<16x4x1000xf32>
  %er = tensor.empty() : tensor<16x4xf32>
  %ep = tensor.empty() : tensor<16x4x1000xf16>
  %eo = tensor.empty() : tensor<16x4x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x4x1000xf32>) -> tensor<16x4x1000xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %lr = linalg.fill ins(%least : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x4x64xf32>) -> tensor<16x4x64xf32>
  %S = linalg.generic {indexing_maps = [#qk, #kk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<16x4x64xf16>, tensor<16x1000x64xf16>) outs(%zs : tensor<16x4x1000xf32>) {
  ^bb0(%q: f16, %k: f16, %o: f32):
    %qe = arith.extf %q : f16 to f32
    %ke = arith.extf %k : f16 to f32
    %p = arith.mulf %qe, %ke : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x4x1000xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%S : tensor<16x4x1000xf32>) outs(%lr : tensor<16x4xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<16x4xf32>
  %P = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S, %m : tensor<16x4x1000xf32>, tensor<16x4xf32>) outs(%ep : tensor<16x4x1000xf16>) {
  ^bb0(%s: f32, %t: f32, %o: f16):
    %d = arith.subf %s, %t : f32
    %e = math.exp %d : f32
    %r = arith.truncf %e : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x4x1000xf16>
  %O = linalg.generic {indexing_maps = [#pp, #vv, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%P, %V : tensor<16x4x1000xf16>, tensor<16x1000x64xf16>) outs(%zo : tensor<16x4x64xf32>) {
  ^bb0(%p: f16, %v: f16, %o: f32):
    %pe = arith.extf %p : f16 to f32
    %ve = arith.extf %v : f16 to f32
    %x = arith.mulf %pe, %ve : f32
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  return %O : tensor<16x4x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %parts = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// Left open: 16 workgroups of one subgroup, and 4096 places; no part of less than 256 keys.
// CHECK-LABEL: func.func @open
// CHECK: into tensor<16x16x256x64xf16>
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @open(%Q: tensor<16x4x64xf16>, %K: tensor<16x4096x64xf16>, %V: tensor<16x4096x64xf16>) -> tensor<16x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<16x4x4096xf32>
  %er = tensor.empty() : tensor<16x4xf32>
  %ep = tensor.empty() : tensor<16x4x4096xf16>
  %eo = tensor.empty() : tensor<16x4x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x4x4096xf32>) -> tensor<16x4x4096xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %lr = linalg.fill ins(%least : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x4x64xf32>) -> tensor<16x4x64xf32>
  %S = linalg.generic {indexing_maps = [#qk, #kk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<16x4x64xf16>, tensor<16x4096x64xf16>) outs(%zs : tensor<16x4x4096xf32>) {
  ^bb0(%q: f16, %k: f16, %o: f32):
    %qe = arith.extf %q : f16 to f32
    %ke = arith.extf %k : f16 to f32
    %p = arith.mulf %qe, %ke : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x4x4096xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%S : tensor<16x4x4096xf32>) outs(%lr : tensor<16x4xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<16x4xf32>
  %P = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S, %m : tensor<16x4x4096xf32>, tensor<16x4xf32>) outs(%ep : tensor<16x4x4096xf16>) {
  ^bb0(%s: f32, %t: f32, %o: f16):
    %d = arith.subf %s, %t : f32
    %e = math.exp %d : f32
    %r = arith.truncf %e : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x4x4096xf16>
  %O = linalg.generic {indexing_maps = [#pp, #vv, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%P, %V : tensor<16x4x4096xf16>, tensor<16x4096x64xf16>) outs(%zo : tensor<16x4x64xf32>) {
  ^bb0(%p: f16, %v: f16, %o: f32):
    %pe = arith.extf %p : f16 to f32
    %ve = arith.extf %v : f16 to f32
    %x = arith.mulf %pe, %ve : f32
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  return %O : tensor<16x4x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// Too few keys.
// CHECK-LABEL: func.func @few
// CHECK-NOT: xetile.kernel
// CHECK: return
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @few(%Q: tensor<16x4x64xf16>, %K: tensor<16x500x64xf16>, %V: tensor<16x500x64xf16>) -> tensor<16x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<16x4x500xf32>
  %er = tensor.empty() : tensor<16x4xf32>
  %ep = tensor.empty() : tensor<16x4x500xf16>
  %eo = tensor.empty() : tensor<16x4x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x4x500xf32>) -> tensor<16x4x500xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %lr = linalg.fill ins(%least : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x4x64xf32>) -> tensor<16x4x64xf32>
  %S = linalg.generic {indexing_maps = [#qk, #kk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<16x4x64xf16>, tensor<16x500x64xf16>) outs(%zs : tensor<16x4x500xf32>) {
  ^bb0(%q: f16, %k: f16, %o: f32):
    %qe = arith.extf %q : f16 to f32
    %ke = arith.extf %k : f16 to f32
    %p = arith.mulf %qe, %ke : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x4x500xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%S : tensor<16x4x500xf32>) outs(%lr : tensor<16x4xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<16x4xf32>
  %P = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S, %m : tensor<16x4x500xf32>, tensor<16x4xf32>) outs(%ep : tensor<16x4x500xf16>) {
  ^bb0(%s: f32, %t: f32, %o: f16):
    %d = arith.subf %s, %t : f32
    %e = math.exp %d : f32
    %r = arith.truncf %e : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x4x500xf16>
  %O = linalg.generic {indexing_maps = [#pp, #vv, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%P, %V : tensor<16x4x500xf16>, tensor<16x500x64xf16>) outs(%zo : tensor<16x4x64xf32>) {
  ^bb0(%p: f16, %v: f16, %o: f32):
    %pe = arith.extf %p : f16 to f32
    %ve = arith.extf %v : f16 to f32
    %x = arith.mulf %pe, %ve : f32
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  return %O : tensor<16x4x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// Workgroups that fill the device.
// CHECK-LABEL: func.func @full
// CHECK-NOT: xetile.kernel
// CHECK: return
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @full(%Q: tensor<16x4096x64xf16>, %K: tensor<16x4096x64xf16>, %V: tensor<16x4096x64xf16>) -> tensor<16x4096x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<16x4096x4096xf32>
  %er = tensor.empty() : tensor<16x4096xf32>
  %ep = tensor.empty() : tensor<16x4096x4096xf16>
  %eo = tensor.empty() : tensor<16x4096x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x4096x4096xf32>) -> tensor<16x4096x4096xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %lr = linalg.fill ins(%least : f32) outs(%er : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x4096x64xf32>) -> tensor<16x4096x64xf32>
  %S = linalg.generic {indexing_maps = [#qk, #kk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<16x4096x64xf16>, tensor<16x4096x64xf16>) outs(%zs : tensor<16x4096x4096xf32>) {
  ^bb0(%q: f16, %k: f16, %o: f32):
    %qe = arith.extf %q : f16 to f32
    %ke = arith.extf %k : f16 to f32
    %p = arith.mulf %qe, %ke : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x4096x4096xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%S : tensor<16x4096x4096xf32>) outs(%lr : tensor<16x4096xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<16x4096xf32>
  %P = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S, %m : tensor<16x4096x4096xf32>, tensor<16x4096xf32>) outs(%ep : tensor<16x4096x4096xf16>) {
  ^bb0(%s: f32, %t: f32, %o: f16):
    %d = arith.subf %s, %t : f32
    %e = math.exp %d : f32
    %r = arith.truncf %e : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x4096x4096xf16>
  %O = linalg.generic {indexing_maps = [#pp, #vv, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%P, %V : tensor<16x4096x4096xf16>, tensor<16x4096x64xf16>) outs(%zo : tensor<16x4096x64xf32>) {
  ^bb0(%p: f16, %v: f16, %o: f32):
    %pe = arith.extf %p : f16 to f32
    %ve = arith.extf %v : f16 to f32
    %x = arith.mulf %pe, %ve : f32
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  } -> tensor<16x4096x64xf32>
  return %O : tensor<16x4096x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "bmg" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// One part is none.
// CHECK-LABEL: func.func @one
// CHECK-NOT: xetile.kernel
// CHECK: return
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @one(%Q: tensor<16x4x64xf16>, %K: tensor<16x4096x64xf16>, %V: tensor<16x4096x64xf16>) -> tensor<16x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<16x4x4096xf32>
  %er = tensor.empty() : tensor<16x4xf32>
  %ep = tensor.empty() : tensor<16x4x4096xf16>
  %eo = tensor.empty() : tensor<16x4x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x4x4096xf32>) -> tensor<16x4x4096xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %lr = linalg.fill ins(%least : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x4x64xf32>) -> tensor<16x4x64xf32>
  %S = linalg.generic {indexing_maps = [#qk, #kk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<16x4x64xf16>, tensor<16x4096x64xf16>) outs(%zs : tensor<16x4x4096xf32>) {
  ^bb0(%q: f16, %k: f16, %o: f32):
    %qe = arith.extf %q : f16 to f32
    %ke = arith.extf %k : f16 to f32
    %p = arith.mulf %qe, %ke : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x4x4096xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%S : tensor<16x4x4096xf32>) outs(%lr : tensor<16x4xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<16x4xf32>
  %P = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S, %m : tensor<16x4x4096xf32>, tensor<16x4xf32>) outs(%ep : tensor<16x4x4096xf16>) {
  ^bb0(%s: f32, %t: f32, %o: f16):
    %d = arith.subf %s, %t : f32
    %e = math.exp %d : f32
    %r = arith.truncf %e : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x4x4096xf16>
  %O = linalg.generic {indexing_maps = [#pp, #vv, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%P, %V : tensor<16x4x4096xf16>, tensor<16x4096x64xf16>) outs(%zo : tensor<16x4x64xf32>) {
  ^bb0(%p: f16, %v: f16, %o: f32):
    %pe = arith.extf %p : f16 to f32
    %ve = arith.extf %v : f16 to f32
    %x = arith.mulf %pe, %ve : f32
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  } -> tensor<16x4x64xf32>
  return %O : tensor<16x4x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %parts = transform.param.constant 1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}
