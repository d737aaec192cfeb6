// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// split_keys_c1: negative.
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @f(%Q: tensor<16x4x64xf16>, %K: tensor<16x4096x64xf16>, %V: tensor<16x4096x64xf16>) -> tensor<16x4x64xf32> {
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
    %parts = transform.param.constant -1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{split_keys = -1: expected at least 0}}
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_keys_c1: an unknown chip.
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @f(%Q: tensor<16x4x64xf16>, %K: tensor<16x4096x64xf16>, %V: tensor<16x4096x64xf16>) -> tensor<16x4x64xf32> {
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
    %target = transform.param.constant "xyz" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{target: unknown chip 'xyz'}}
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_keys_c3: more parts than blocks of 16 keys.
#qk = affine_map<(h, m, n, d) -> (h, m, d)>
#kk = affine_map<(h, m, n, d) -> (h, n, d)>
#ss = affine_map<(h, m, n, d) -> (h, m, n)>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>
#pp = affine_map<(h, m, d, n) -> (h, m, n)>
#vv = affine_map<(h, m, d, n) -> (h, n, d)>
#oo = affine_map<(h, m, d, n) -> (h, m, d)>
func.func @f(%Q: tensor<16x4x64xf16>, %K: tensor<16x100x64xf16>, %V: tensor<16x100x64xf16>) -> tensor<16x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<16x4x100xf32>
  %er = tensor.empty() : tensor<16x4xf32>
  %ep = tensor.empty() : tensor<16x4x100xf16>
  %eo = tensor.empty() : tensor<16x4x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x4x100xf32>) -> tensor<16x4x100xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %lr = linalg.fill ins(%least : f32) outs(%er : tensor<16x4xf32>) -> tensor<16x4xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x4x64xf32>) -> tensor<16x4x64xf32>
  %S = linalg.generic {indexing_maps = [#qk, #kk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%Q, %K : tensor<16x4x64xf16>, tensor<16x100x64xf16>) outs(%zs : tensor<16x4x100xf32>) {
  ^bb0(%q: f16, %k: f16, %o: f32):
    %qe = arith.extf %q : f16 to f32
    %ke = arith.extf %k : f16 to f32
    %p = arith.mulf %qe, %ke : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<16x4x100xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%S : tensor<16x4x100xf32>) outs(%lr : tensor<16x4xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<16x4xf32>
  %P = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S, %m : tensor<16x4x100xf32>, tensor<16x4xf32>) outs(%ep : tensor<16x4x100xf16>) {
  ^bb0(%s: f32, %t: f32, %o: f16):
    %d = arith.subf %s, %t : f32
    %e = math.exp %d : f32
    %r = arith.truncf %e : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x4x100xf16>
  // expected-error @below {{split_keys = 8: 100 keys in parts of 16, ceil(keys / 8) as a multiple of 16, are 7; expected split_keys = 7}}
  %O = linalg.generic {indexing_maps = [#pp, #vv, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%P, %V : tensor<16x4x100xf16>, tensor<16x100x64xf16>) outs(%zo : tensor<16x4x64xf32>) {
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
    %parts = transform.param.constant 8 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_keys_c2: a softmax's sum, without a product.
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @f(%S: tensor<4x4096xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x4096xf32>
  %er = tensor.empty() : tensor<4xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %lr = linalg.fill ins(%least : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%S : tensor<4x4096xf32>) outs(%lr : tensor<4xf32>) {
  ^bb0(%s: f32, %o: f32):
    %r = arith.maximumf %s, %o : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  // expected-error @below {{split_keys: expected products of powers and values that are in memory}}
  %l = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%S, %m : tensor<4x4096xf32>, tensor<4xf32>) outs(%zr : tensor<4xf32>) {
  ^bb0(%s: f32, %t: f32, %o: f32):
    %d = arith.subf %s, %t : f32
    %e = math.exp %d : f32
    %r = arith.addf %e, %o : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %l : tensor<4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}
