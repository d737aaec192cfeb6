// Sums of narrow floats are made in f32 and rounded once.
// RUN: xetile-opt %s --xetile-widen-sums --canonicalize | FileCheck %s
// RUN: xetile-opt %s --xetile-widen-sums="short-f32=1024" --canonicalize | FileCheck %s --check-prefix=SHORT

// CHECK-LABEL: func @matvec(
// CHECK: %[[START:.*]] = arith.extf %{{.*}} : tensor<16xbf16> to tensor<16xf32>
// CHECK: %[[SUMS:.*]] = linalg.generic
// CHECK-SAME: outs(%[[START]] : tensor<16xf32>)
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[SUM:.*]]: f32):
// CHECK-DAG: %[[X:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-DAG: %[[Y:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[P]] : f32
// CHECK: linalg.yield %[[NEXT]] : f32
// CHECK: arith.truncf %[[SUMS]] : tensor<16xf32> to tensor<16xbf16>
func.func @matvec(%a: tensor<16x64xbf16>, %x: tensor<64xbf16>, %y: tensor<16xbf16>) -> tensor<16xbf16> {
  %r = linalg.matvec ins(%a, %x : tensor<16x64xbf16>, tensor<64xbf16>) outs(%y : tensor<16xbf16>) -> tensor<16xbf16>
  return %r : tensor<16xbf16>
}

// A constant start needs no tensor of its own; maxima are exact.
// CHECK-LABEL: func @reductions(
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: linalg.fill ins(%[[ZERO]] : f32)
// CHECK: linalg.generic
// CHECK: linalg.reduce { arith.maximumf }
func.func @reductions(%a: tensor<4x64xf16>, %m: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %r = linalg.reduce {arith.addf} ins(%a : tensor<4x64xf16>) outs(%f : tensor<4xf16>) dimensions = [1]
  %x = linalg.reduce {arith.maximumf} ins(%a : tensor<4x64xf16>) outs(%m : tensor<4xf16>) dimensions = [1]
  return %r, %x : tensor<4xf16>, tensor<4xf16>
}

// Others stay: integers, wide sums, tiles of contractions, whose sums registers hold.
// CHECK-LABEL: func @others(
// CHECK: linalg.matvec
// CHECK: linalg.dot
// CHECK: linalg.matmul
// CHECK-NOT: arith.truncf
func.func @others(%a: tensor<4x4xi8>, %x: tensor<4xi8>, %d: tensor<4xf32>, %s: tensor<f32>, %m: tensor<4x4xf16>)
    -> (tensor<4xi8>, tensor<f32>, tensor<4x4xf16>) {
  %r = linalg.matvec ins(%a, %x : tensor<4x4xi8>, tensor<4xi8>) outs(%x : tensor<4xi8>) -> tensor<4xi8>
  %t = linalg.dot ins(%d, %d : tensor<4xf32>, tensor<4xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  %u = linalg.matmul {xetile.microkernel = array<i64: 4, 16>} ins(%m, %m : tensor<4x4xf16>, tensor<4x4xf16>)
      outs(%m : tensor<4x4xf16>) -> tensor<4x4xf16>
  return %r, %t, %u : tensor<4xi8>, tensor<f32>, tensor<4x4xf16>
}

// A contraction that was not tiled: without its dimensions of one element it would be none.
// CHECK-LABEL: func @untiled(
// CHECK: linalg.generic
// CHECK: ^bb0(%{{.*}}: bf16, %{{.*}}: bf16, %{{.*}}: f32):
// CHECK: arith.truncf %{{.*}} : tensor<1x1xf32> to tensor<1x1xbf16>
func.func @untiled(%a: tensor<1x13xbf16>, %b: tensor<13x1xbf16>, %c: tensor<1x1xbf16>) -> tensor<1x1xbf16> {
  %r = linalg.matmul ins(%a, %b : tensor<1x13xbf16>, tensor<13x1xbf16>) outs(%c : tensor<1x1xbf16>) -> tensor<1x1xbf16>
  return %r : tensor<1x1xbf16>
}

// Windows of f32, if more than 64 products are added but the op has not too many, are summed in f64.
// CHECK-LABEL: func @windows(
// CHECK-NOT: f64
// SHORT-LABEL: func @windows(
// SHORT: %[[START:.*]] = arith.extf %{{.*}} : tensor<9xf32> to tensor<9xf64>
// SHORT: %[[SUMS:.*]] = linalg.generic {{.*}} outs(%[[START]] : tensor<9xf64>)
// SHORT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[SUM:.*]]: f64):
// SHORT-DAG: %[[X:.*]] = arith.extf %[[A]] : f32 to f64
// SHORT-DAG: %[[Y:.*]] = arith.extf %[[B]] : f32 to f64
// SHORT: %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f64
// SHORT: arith.addf %[[SUM]], %[[P]] : f64
// SHORT: arith.truncf %[[SUMS]] : tensor<9xf64> to tensor<9xf32>
func.func @windows(%x: tensor<108xf32>, %f: tensor<100xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %r = linalg.conv_1d ins(%x, %f : tensor<108xf32>, tensor<100xf32>) outs(%y : tensor<9xf32>) -> tensor<9xf32>
  return %r : tensor<9xf32>
}

// Few additions to an element, too many of the op, no windows, no products, unknown sizes, and narrow floats stay.
// SHORT-LABEL: func @not_short(
// SHORT: linalg.conv_1d ins(%{{.*}} : tensor<72xf32>, tensor<64xf32>)
// SHORT: linalg.conv_1d ins(%{{.*}} : tensor<111xf32>, tensor<100xf32>)
// SHORT: linalg.dot
// SHORT: linalg.pooling_nwc_sum
// SHORT: linalg.conv_1d ins(%{{.*}} : tensor<?xf32>, tensor<100xf32>)
// SHORT: linalg.conv_1d ins(%{{.*}} : tensor<108xf16>, tensor<100xf16>)
// SHORT-NOT: truncf
// SHORT: return
func.func @not_short(%a: tensor<72xf32>, %f: tensor<64xf32>, %b: tensor<111xf32>, %g: tensor<100xf32>, %s: tensor<f32>,
                     %p: tensor<1x108x1xf32>, %u: tensor<?xf32>, %h: tensor<108xf16>, %k: tensor<100xf16>, %r9: tensor<9xf32>,
                     %r12: tensor<12xf32>, %r191: tensor<1x9x1xf32>, %ru: tensor<?xf32>, %r16: tensor<9xf16>)
    -> (tensor<9xf32>, tensor<12xf32>, tensor<f32>, tensor<1x9x1xf32>, tensor<?xf32>, tensor<9xf16>) {
  %few = linalg.conv_1d ins(%a, %f : tensor<72xf32>, tensor<64xf32>) outs(%r9 : tensor<9xf32>) -> tensor<9xf32>
  %many = linalg.conv_1d ins(%b, %g : tensor<111xf32>, tensor<100xf32>) outs(%r12 : tensor<12xf32>) -> tensor<12xf32>
  %dot = linalg.dot ins(%g, %g : tensor<100xf32>, tensor<100xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  %pool = linalg.pooling_nwc_sum ins(%p, %g : tensor<1x108x1xf32>, tensor<100xf32>) outs(%r191 : tensor<1x9x1xf32>)
    -> tensor<1x9x1xf32>
  %unknown = linalg.conv_1d ins(%u, %g : tensor<?xf32>, tensor<100xf32>) outs(%ru : tensor<?xf32>) -> tensor<?xf32>
  %narrow = linalg.conv_1d ins(%h, %k : tensor<108xf16>, tensor<100xf16>) outs(%r16 : tensor<9xf16>) -> tensor<9xf16>
  return %few, %many, %dot, %pool, %unknown, %narrow
    : tensor<9xf32>, tensor<12xf32>, tensor<f32>, tensor<1x9x1xf32>, tensor<?xf32>, tensor<9xf16>
}
