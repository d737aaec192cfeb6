// RUN: xetile-opt %s --xetile-lazy-maxima --canonicalize --split-input-file | FileCheck %s

// A step with the maximum that was; where a sum is too large, nothing of it is kept but a new maximum.
// CHECK-LABEL: func.func @attention
// CHECK-SAME:    (%[[Q:.*]]: vector<16x64xf16>, %[[K:.*]]: memref<64x512xf16>, %[[V:.*]]: memref<512x64xf16>
// CHECK-DAG:     %[[THRESHOLD:.*]] = arith.constant 9.99999984E+17 : f32
// CHECK-DAG:     %[[ONES:.*]] = arith.constant dense<1.000000e+00> : vector<64x16xf16>
// CHECK:         scf.while (%[[N:.*]] = %c0, %[[O:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}})
// CHECK:           xetile.prefetch_tile
// CHECK:           %[[S:.*]] = xetile.tile_mma %[[Q]], %{{.*}}, %{{.*}}
// CHECK-NOT:       tile_reduce
// CHECK:           %[[MB:.*]] = xetile.tile_broadcast %[[M]], [1]
// CHECK:           %[[X:.*]] = arith.subf %[[S]], %[[MB]]
// CHECK:           %[[P:.*]] = math.exp2 %[[X]]
// CHECK:           %[[H:.*]] = arith.truncf %[[P]]
// CHECK:           %[[SUM:.*]] = xetile.tile_mma %[[H]], %[[ONES]], %[[L]]
// CHECK:           %[[TOP:.*]] = xetile.tile_reduce <maxnumf> %[[SUM]], [0] : vector<16x16xf32> -> vector<1x16xf32>
// CHECK:           %[[ONE:.*]] = vector.extract %[[TOP]][0, 0]
// CHECK:           %[[NUMBER:.*]] = arith.maxnumf %[[ONE]], %cst
// CHECK:           %[[AGAIN:.*]] = arith.cmpf uge, %[[NUMBER]], %[[THRESHOLD]]
// CHECK:           %[[R:.*]]:4 = scf.if %[[AGAIN]]
// CHECK-NOT:         prefetch
// CHECK:             %[[S2:.*]] = xetile.tile_mma %[[Q]], %{{.*}}, %{{.*}}
// CHECK:             %[[T:.*]] = xetile.tile_reduce <maxnumf> %[[S2]], [1]
// CHECK:             %[[MN:.*]] = arith.maxnumf %[[M]], %[[T]]
// CHECK:             %[[D:.*]] = arith.subf %[[M]], %[[MN]]
// CHECK:             %[[RATIO:.*]] = math.exp2 %[[D]]
// CHECK-DAG:         %[[RO:.*]] = arith.mulf %[[O]], %
// CHECK-DAG:         %[[RL:.*]] = arith.mulf %[[L]], %
// CHECK:             scf.yield %[[N]], %[[RO]], %[[MN]], %[[RL]]
// CHECK:           } else {
// CHECK:             xetile.load_tile
// CHECK:             %[[OUT:.*]] = xetile.tile_mma %[[H]], %{{.*}}, %[[O]]
// CHECK:             %[[NEXT:.*]] = arith.addi %[[N]], %c64
// CHECK:             scf.yield %[[NEXT]], %[[OUT]], %[[M]], %[[SUM]]
// CHECK:           }
// CHECK:           %[[MORE:.*]] = arith.cmpi slt, %[[R]]#0, %c512
// CHECK:           scf.condition(%[[MORE]]) %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3
// CHECK-NOT:     scf.for
func.func @attention(%q: vector<16x64xf16>, %K: memref<64x512xf16>, %V: memref<512x64xf16>)
    -> (vector<16x64xf32>, vector<16x1xf32>, vector<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %low = arith.constant dense<-1.0e38> : vector<16x1xf32>
  %zeros = arith.constant dense<0.0> : vector<16x64xf32>
  %none = arith.constant dense<0.0> : vector<16x16xf32>
  %ones = arith.constant dense<1.0> : vector<64x16xf16>
  %r:3 = scf.for %n = %c0 to %c512 step %c64 iter_args(%o = %zeros, %m = %low, %l = %none)
      -> (vector<16x64xf32>, vector<16x1xf32>, vector<16x16xf32>) {
    %ahead = arith.addi %n, %c64 : index
    %pt = xetile.init_tile %K[0, %ahead] : memref<64x512xf16> -> !xetile.tile<64x64xf16>
    xetile.prefetch_tile %pt locality<3> : !xetile.tile<64x64xf16>
    %kt = xetile.init_tile %K[0, %n] : memref<64x512xf16> -> !xetile.tile<64x64xf16>
    %k = xetile.load_tile %kt : !xetile.tile<64x64xf16> -> vector<64x64xf16>
    %s = xetile.tile_mma %q, %k, %zeros : vector<16x64xf16>, vector<64x64xf16>, vector<16x64xf32> -> vector<16x64xf32>
    %t = xetile.tile_reduce <maxnumf> %s, [1] : vector<16x64xf32> -> vector<16x1xf32>
    %mn = arith.maxnumf %m, %t : vector<16x1xf32>
    %mb = xetile.tile_broadcast %mn, [1] : vector<16x1xf32> -> vector<16x64xf32>
    %x = arith.subf %s, %mb : vector<16x64xf32>
    %p = math.exp2 %x : vector<16x64xf32>
    %h = arith.truncf %p : vector<16x64xf32> to vector<16x64xf16>
    %d = arith.subf %m, %mn : vector<16x1xf32>
    %ratio = math.exp2 %d : vector<16x1xf32>
    %ro = xetile.tile_broadcast %ratio, [1] : vector<16x1xf32> -> vector<16x64xf32>
    %rl = xetile.tile_broadcast %ratio, [1] : vector<16x1xf32> -> vector<16x16xf32>
    %so = arith.mulf %o, %ro : vector<16x64xf32>
    %sl = arith.mulf %l, %rl : vector<16x16xf32>
    %ln = xetile.tile_mma %h, %ones, %sl : vector<16x64xf16>, vector<64x16xf16>, vector<16x16xf32> -> vector<16x16xf32>
    %vt = xetile.init_tile %V[%n, 0] : memref<512x64xf16> -> !xetile.tile<64x64xf16>
    %v = xetile.load_tile %vt : !xetile.tile<64x64xf16> -> vector<64x64xf16>
    %on = xetile.tile_mma %h, %v, %so : vector<16x64xf16>, vector<64x64xf16>, vector<16x64xf32> -> vector<16x64xf32>
    scf.yield %on, %mn, %ln : vector<16x64xf32>, vector<16x1xf32>, vector<16x16xf32>
  } {xetile.lazy = 1.0e18 : f32}
  return %r#0, %r#1, %r#2 : vector<16x64xf32>, vector<16x1xf32>, vector<16x16xf32>
}

// -----

// Sums that are reduced and added, in a loop of which only a run knows whether it has steps; what does not depend on the
// maximum stays as it was where a step is done again.
// CHECK-LABEL: func.func @sums
// CHECK-SAME:    %[[END:[a-z0-9]+]]: index
// CHECK:         %[[ANY:.*]] = arith.cmpi sgt, %[[END]], %c0
// CHECK:         scf.if %[[ANY]]
// CHECK:           scf.while (%[[N:.*]] = %c0, %[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[COUNT:.*]] = %{{.*}})
// CHECK:             %[[PART:.*]] = xetile.tile_reduce <add> %{{.*}}, [1]
// CHECK:             %[[SUM:.*]] = arith.addf %[[L]], %[[PART]]
// CHECK:             xetile.tile_reduce <maxnumf> %[[SUM]], [0] : vector<8x1xf32> -> vector<1x1xf32>
// CHECK:             scf.if
// CHECK:               scf.yield %[[N]], %{{.*}}, %{{.*}}, %[[COUNT]]
// CHECK:             } else {
// CHECK:               %[[MORE:.*]] = arith.addi %[[COUNT]]
// CHECK:               scf.yield %{{.*}}, %[[M]], %[[SUM]], %[[MORE]]
func.func @sums(%X: memref<8x512xf32>, %end: index) -> (vector<8x1xf32>, vector<8x1xf32>, i32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %low = arith.constant dense<-1.0e38> : vector<8x1xf32>
  %none = arith.constant dense<0.0> : vector<8x1xf32>
  %zero = arith.constant 0 : i32
  %r:3 = scf.for %n = %c0 to %end step %c64 iter_args(%m = %low, %l = %none, %count = %zero)
      -> (vector<8x1xf32>, vector<8x1xf32>, i32) {
    %xt = xetile.init_tile %X[0, %n] : memref<8x512xf32> -> !xetile.tile<8x64xf32>
    %s = xetile.load_tile %xt : !xetile.tile<8x64xf32> -> vector<8x64xf32>
    %t = xetile.tile_reduce <maxnumf> %s, [1] : vector<8x64xf32> -> vector<8x1xf32>
    %mn = arith.maxnumf %t, %m : vector<8x1xf32>
    %mb = xetile.tile_broadcast %mn, [1] : vector<8x1xf32> -> vector<8x64xf32>
    %x = arith.subf %s, %mb : vector<8x64xf32>
    %p = math.exp2 %x : vector<8x64xf32>
    %part = xetile.tile_reduce <add> %p, [1] : vector<8x64xf32> -> vector<8x1xf32>
    %d = arith.subf %m, %mn : vector<8x1xf32>
    %ratio = math.exp2 %d : vector<8x1xf32>
    %sl = arith.mulf %l, %ratio : vector<8x1xf32>
    %ln = arith.addf %sl, %part : vector<8x1xf32>
    %more = arith.addi %count, %one : i32
    scf.yield %mn, %ln, %more : vector<8x1xf32>, vector<8x1xf32>, i32
  } {xetile.lazy = 1.0e18 : f32}
  return %r#0, %r#1, %r#2 : vector<8x1xf32>, vector<8x1xf32>, i32
}

// -----

// Without the attribute a loop stays.
// CHECK-LABEL: func.func @plain
// CHECK:         scf.for
// CHECK-NOT:     scf.while
func.func @plain(%X: memref<8x512xf32>, %end: index) -> vector<8x1xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %low = arith.constant dense<-1.0e38> : vector<8x1xf32>
  %r = scf.for %n = %c0 to %end step %c64 iter_args(%m = %low) -> (vector<8x1xf32>) {
    %xt = xetile.init_tile %X[0, %n] : memref<8x512xf32> -> !xetile.tile<8x64xf32>
    %s = xetile.load_tile %xt : !xetile.tile<8x64xf32> -> vector<8x64xf32>
    %t = xetile.tile_reduce <maxnumf> %s, [1] : vector<8x64xf32> -> vector<8x1xf32>
    %mn = arith.maxnumf %t, %m : vector<8x1xf32>
    scf.yield %mn : vector<8x1xf32>
  }
  return %r : vector<8x1xf32>
}
