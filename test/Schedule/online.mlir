// Reductions that depend on a maximum become one loop over blocks, and what reads them stays behind it.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#kn = affine_map<(m, n, k) -> (k, n)>

// Scores of a block of 16 of 40 keys are computed in the loop, and of the last 8 behind it; the quotient is one of the sums.
// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[Q:.*]]: tensor<8x4xf32>, %[[K:.*]]: tensor<40x4xf32>, %[[V:.*]]: tensor<40x12xf32>)
// CHECK-NOT: tensor<8x40x
// CHECK: %[[R:.*]]:3 = scf.for %[[N:.*]] = %c0 to %c32 step %c16 iter_args(%[[MO:.*]] = %{{.*}}, %[[LO:.*]] = %{{.*}}, %[[OO:.*]] = %{{.*}}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8x12xf32>)
// CHECK: %[[KN:.*]] = tensor.extract_slice %[[K]][%[[N]], 0] [16, 4] [1, 1]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[KN]] : tensor<8x4xf32>, tensor<16x4xf32>)
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<8x16xf32>) outs(%[[MO]] : tensor<8xf32>)
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[M]] : tensor<8x16xf32>, tensor<8xf32>)
// CHECK: %[[SAFE:.*]] = arith.maxnumf %{{.*}}, %{{.*}} : f32
// CHECK: arith.subf %{{.*}}, %[[SAFE]] : f32
// CHECK: %[[F:.*]] = linalg.generic {{.*}} ins(%[[MO]], %[[M]] : tensor<8xf32>, tensor<8xf32>)
// CHECK: %[[LF:.*]] = linalg.generic {{.*}} ins(%[[LO]], %[[F]] : tensor<8xf32>, tensor<8xf32>) outs(%[[LO]] : tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<8x16xf32>) outs(%[[LF]] : tensor<8xf32>)
// CHECK-NOT: arith.divf
// CHECK: tensor.extract_slice %[[V]][%[[N]], 0] [16, 12] [1, 1]
// CHECK: linalg.copy ins(%[[M]] : tensor<8xf32>) outs(%[[MO]] : tensor<8xf32>)
// CHECK: scf.yield
// CHECK: tensor.extract_slice %[[K]][32, 0] [8, 4] [1, 1]
// CHECK: tensor.extract_slice %[[V]][32, 0] [8, 12] [1, 1]
// CHECK: arith.constant -3.40282347E+38
// CHECK: arith.divf
// CHECK: return
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
    %block = transform.param.constant 16 : i64 -> !transform.param<i64>
    %loop = transform.xetile.online %func block = %block : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#kn = affine_map<(m, n, k) -> (k, n)>

// Of narrow floats maxima are those of scores times log2(e), from a number on: nothing is minus infinity then.
// CHECK-LABEL: func.func @narrow(
// CHECK-NOT: tensor<8x40x
// CHECK: arith.constant -9.99999968E+37 : f32
// CHECK: scf.for
// CHECK: %[[LOG:.*]] = arith.constant 1.44269502 : f32
// CHECK: %[[X:.*]] = arith.mulf %{{.*}}, %[[LOG]] : f32
// CHECK: arith.maxnumf %[[X]], %{{.*}} : f32
// CHECK: %[[D:.*]] = arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: math.exp2 %[[D]] : f32
// CHECK-NOT: math.exp %
// CHECK: scf.yield
// CHECK: return
func.func @narrow(%q: tensor<8x4xf16>, %k: tensor<40x4xf16>, %v: tensor<40x12xf16>) -> tensor<8x12xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<8x40xf32>
  %ep = tensor.empty() : tensor<8x40xf16>
  %er = tensor.empty() : tensor<8xf32>
  %eo = tensor.empty() : tensor<8x12xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x40xf32>) -> tensor<8x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x12xf32>) -> tensor<8x12xf32>
  %s = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x4xf16>, tensor<40x4xf16>) outs(%zs : tensor<8x40xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
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
      ins(%e, %l : tensor<8x40xf32>, tensor<8xf32>) outs(%ep : tensor<8x40xf16>) {
  ^bb0(%a: f32, %b: f32, %o: f16):
    %d = arith.divf %a, %b : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x40xf16>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<8x40xf16>, tensor<40x12xf16>) outs(%zo : tensor<8x12xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %z = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %z : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %block = transform.param.constant 16 : i64 -> !transform.param<i64>
    %loop = transform.xetile.online %func block = %block : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#kn = affine_map<(m, n, k) -> (k, n)>

// A causal mask ends rows: the loop says where, and which comparison is known before. A mask of what comes after does not.
// CHECK-LABEL: func.func @causal(
// CHECK: scf.for
// CHECK: arith.cmpi sle, %{{.*}}, %{{.*}} {xetile.seen = true} : index
// CHECK: } {xetile.reach = array<i64: 2, 0, -1099511627776, 3>}
// CHECK-LABEL: func.func @window(
// CHECK: scf.for
// CHECK: arith.cmpi sge, %{{.*}}, %{{.*}} {xetile.seen = true} : index
// CHECK: } {xetile.reach = array<i64: 2, 0, 3, 1099511627776>}
func.func @causal(%q: tensor<8x4xf16>, %k: tensor<40x4xf16>, %v: tensor<40x12xf16>) -> tensor<8x12xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<8x40xf32>
  %ep = tensor.empty() : tensor<8x40xf16>
  %er = tensor.empty() : tensor<8xf32>
  %eo = tensor.empty() : tensor<8x12xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x40xf32>) -> tensor<8x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x12xf32>) -> tensor<8x12xf32>
  %s = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x4xf16>, tensor<40x4xf16>) outs(%zs : tensor<8x40xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %f = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<8x40xf32>) outs(%es : tensor<8x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %three = arith.constant 3 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %last = arith.addi %i, %three : index
    %seen = arith.cmpi sle, %j, %last : index
    %t = arith.select %seen, %a, %low : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%f : tensor<8x40xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%f, %m : tensor<8x40xf32>, tensor<8xf32>) outs(%es : tensor<8x40xf32>) {
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
      ins(%e, %l : tensor<8x40xf32>, tensor<8xf32>) outs(%ep : tensor<8x40xf16>) {
  ^bb0(%a: f32, %b: f32, %o: f16):
    %d = arith.divf %a, %b : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x40xf16>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<8x40xf16>, tensor<40x12xf16>) outs(%zo : tensor<8x12xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %z = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %z : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}

func.func @window(%q: tensor<8x4xf16>, %k: tensor<40x4xf16>, %v: tensor<40x12xf16>) -> tensor<8x12xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<8x40xf32>
  %ep = tensor.empty() : tensor<8x40xf16>
  %er = tensor.empty() : tensor<8xf32>
  %eo = tensor.empty() : tensor<8x12xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x40xf32>) -> tensor<8x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x12xf32>) -> tensor<8x12xf32>
  %s = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<8x4xf16>, tensor<40x4xf16>) outs(%zs : tensor<8x40xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %f = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<8x40xf32>) outs(%es : tensor<8x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %three = arith.constant 3 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %last = arith.addi %i, %three : index
    %seen = arith.cmpi sge, %j, %last : index
    %t = arith.select %seen, %a, %low : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%f : tensor<8x40xf32>) outs(%lr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%f, %m : tensor<8x40xf32>, tensor<8xf32>) outs(%es : tensor<8x40xf32>) {
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
      ins(%e, %l : tensor<8x40xf32>, tensor<8xf32>) outs(%ep : tensor<8x40xf16>) {
  ^bb0(%a: f32, %b: f32, %o: f16):
    %d = arith.divf %a, %b : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x40xf16>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %v : tensor<8x40xf16>, tensor<40x12xf16>) outs(%zo : tensor<8x12xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %z = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %z : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %block = transform.param.constant 16 : i64 -> !transform.param<i64>
    %loop = transform.xetile.online %func block = %block : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#one = affine_map<(m) -> (m)>

// A variance with its mean: squares of a block are about its own mean, and go with those before by the distance of both means.
// CHECK-LABEL: func.func @variance(
// CHECK-SAME: %[[X:.*]]: tensor<8x40xf16>
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[S0:.*]] = %{{.*}}, %[[Q0:.*]] = %{{.*}}) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: %[[XN:.*]] = tensor.extract_slice %[[X]][0, %[[N]]] [8, 16] [1, 1]
// CHECK: %[[SN:.*]] = linalg.generic {{.*}} ins(%[[XN]] : tensor<8x16xf16>)
// CHECK: linalg.generic {{.*}} ins(%[[S0]], %[[SN]] : tensor<8xf32>, tensor<8xf32>)
// CHECK: %[[QN:.*]] = linalg.generic {{.*}} ins(%[[XN]], %[[SN]] : tensor<8x16xf16>, tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[Q0]], %[[QN]], %[[S0]], %[[SN]] : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK: arith.index_cast %[[N]] : index to i64
// CHECK: arith.divf
// CHECK: scf.yield
// CHECK: tensor.extract_slice %[[X]][0, 32] [8, 8] [1, 1]
// CHECK: arith.constant 3.200000e+01 : f32
func.func @variance(%x: tensor<8x40xf16>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<8x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x40xf16>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %t = arith.addf %o, %w : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x40xf16>, tensor<8xf32>) outs(%e : tensor<8x40xf32>) {
  ^bb0(%a: f16, %b: f32, %o: f32):
    %share = arith.constant 0.025 : f32
    %mean = arith.mulf %b, %share : f32
    %w = arith.extf %a : f16 to f32
    %t = arith.subf %w, %mean : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %q = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<8x40xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %q : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %block = transform.param.constant 16 : i64 -> !transform.param<i64>
    %loop = transform.xetile.online %func block = %block : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// A product of what two other products make is carried, and a block of these is computed where it is read: 16 of 40 hidden
// values, and the last 8 behind the loop.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func.func @gated(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<4x40xf32>, %[[U:.*]]: tensor<4x40xf32>, %[[V:.*]]: tensor<40x12xf32>)
// CHECK-NOT: tensor<8x40x
// CHECK: %[[R:.*]] = scf.for %[[N:.*]] = %c0 to %c32 step %c16 iter_args(%[[Y:.*]] = %{{.*}}) -> (tensor<8x12xf32>)
// CHECK: %[[WN:.*]] = tensor.extract_slice %[[W]][0, %[[N]]] [4, 16] [1, 1]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[WN]] : tensor<8x4xf32>, tensor<4x16xf32>)
// CHECK: %[[UN:.*]] = tensor.extract_slice %[[U]][0, %[[N]]] [4, 16] [1, 1]
// CHECK: %[[G:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[UN]] : tensor<8x4xf32>, tensor<4x16xf32>)
// CHECK: %[[H:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[G]] : tensor<8x16xf32>, tensor<8x16xf32>)
// CHECK: %[[VN:.*]] = tensor.extract_slice %[[V]][%[[N]], 0] [16, 12] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[H]], %[[VN]] : tensor<8x16xf32>, tensor<16x12xf32>) outs(%[[Y]] : tensor<8x12xf32>)
// CHECK: scf.yield
// CHECK: tensor.extract_slice %[[W]][0, 32] [4, 8] [1, 1]
// CHECK: linalg.generic {{.*}} outs(%[[R]] : tensor<8x12xf32>)
func.func @gated(%x: tensor<8x4xf32>, %w: tensor<4x40xf32>, %u: tensor<4x40xf32>, %v: tensor<40x12xf32>) -> tensor<8x12xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<8x40xf32>
  %ey = tensor.empty() : tensor<8x12xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x40xf32>) -> tensor<8x40xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<8x12xf32>) -> tensor<8x12xf32>
  %s = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x4xf32>, tensor<4x40xf32>) outs(%zs : tensor<8x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %g = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %u : tensor<8x4xf32>, tensor<4x40xf32>) outs(%zs : tensor<8x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %h = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s, %g : tensor<8x40xf32>, tensor<8x40xf32>) outs(%es : tensor<8x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %v : tensor<8x40xf32>, tensor<40x12xf32>) outs(%zy : tensor<8x12xf32>) {
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
    %block = transform.param.constant 16 : i64 -> !transform.param<i64>
    %loop = transform.xetile.online %func block = %block products
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
