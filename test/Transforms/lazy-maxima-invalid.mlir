// RUN: xetile-opt %s --xetile-lazy-maxima --split-input-file --verify-diagnostics

func.func @sums(%X: memref<8x512xf32>, %end: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %low = arith.constant dense<-1.0e38> : vector<8x1xf32>
  %none = arith.constant dense<0.0> : vector<8x1xf32>
  // expected-error @below {{has xetile.lazy, but it carries no maximum; expected a maximum, and sums of powers from which it is subtracted, of rows that one subgroup has}}
  %r:2 = scf.for %n = %c0 to %end step %c64 iter_args(%m = %low, %l = %none)
      -> (vector<8x1xf32>, vector<8x1xf32>) {
    %xt = xetile.init_tile %X[0, %n] : memref<8x512xf32> -> !xetile.tile<8x64xf32>
    %s = xetile.load_tile %xt : !xetile.tile<8x64xf32> -> vector<8x64xf32>
    %t = xetile.tile_reduce <maxnumf> %s, [1] : vector<8x64xf32> -> vector<8x1xf32>
    %mn = arith.addf %t, %m : vector<8x1xf32>
    %mb = xetile.tile_broadcast %mn, [1] : vector<8x1xf32> -> vector<8x64xf32>
    %x = arith.subf %s, %mb : vector<8x64xf32>
    %p = math.exp2 %x : vector<8x64xf32>
    %part = xetile.tile_reduce <add> %p, [1] : vector<8x64xf32> -> vector<8x1xf32>
    %d = arith.subf %m, %mn : vector<8x1xf32>
    %ratio = math.exp2 %d : vector<8x1xf32>
    %sl = arith.mulf %l, %ratio : vector<8x1xf32>
    %ln = arith.addf %sl, %part : vector<8x1xf32>
    scf.yield %mn, %ln : vector<8x1xf32>, vector<8x1xf32>
  } {xetile.lazy = 1.0e18 : f32}
  return
}

// -----

func.func @sums(%X: memref<8x512xf32>, %end: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %low = arith.constant dense<-1.0e38> : vector<8x1xf32>
  %none = arith.constant dense<0.0> : vector<8x1xf32>
  // expected-error @below {{has xetile.lazy, but it carries two maxima}}
  %r:3 = scf.for %n = %c0 to %end step %c64 iter_args(%m = %low, %l = %none, %m2 = %low)
      -> (vector<8x1xf32>, vector<8x1xf32>, vector<8x1xf32>) {
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
    %mn2 = arith.maxnumf %m2, %t : vector<8x1xf32>
    scf.yield %mn, %ln, %mn2 : vector<8x1xf32>, vector<8x1xf32>, vector<8x1xf32>
  } {xetile.lazy = 1.0e18 : f32}
  return
}

// -----

func.func @sums(%X: memref<8x512xf32>, %end: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %low = arith.constant dense<-1.0e38> : vector<8x1xf32>
  %none = arith.constant dense<0.0> : vector<8x1xf32>
  // expected-error @below {{has xetile.lazy, but value #1 depends on the maximum, and is no sum that is multiplied by the exponential of a difference of maxima}}
  %r:2 = scf.for %n = %c0 to %end step %c64 iter_args(%m = %low, %l = %none)
      -> (vector<8x1xf32>, vector<8x1xf32>) {
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
    %sum = arith.addf %sl, %part : vector<8x1xf32>
    %ln = arith.addf %sum, %l : vector<8x1xf32>
    scf.yield %mn, %ln : vector<8x1xf32>, vector<8x1xf32>
  } {xetile.lazy = 1.0e18 : f32}
  return
}

// -----

func.func @sums(%X: memref<8x512xf32>, %end: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %low = arith.constant dense<-1.0e38> : vector<8x1xf32>
  %none = arith.constant dense<0.0> : vector<8x1xf32>
  // expected-error @below {{has xetile.lazy, but it carries no sum of powers}}
  %r:2 = scf.for %n = %c0 to %end step %c64 iter_args(%m = %low, %l = %none)
      -> (vector<8x1xf32>, vector<8x1xf32>) {
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
    %ln = arith.maximumf %sl, %part : vector<8x1xf32>
    scf.yield %mn, %ln : vector<8x1xf32>, vector<8x1xf32>
  } {xetile.lazy = 1.0e18 : f32}
  return
}

// -----

func.func @sums(%X: memref<8x512xf32>, %end: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %low = arith.constant dense<-1.0e38> : vector<8x1xf32>
  %none = arith.constant dense<0.0> : vector<8x1xf32>
  // expected-error @below {{has xetile.lazy, but a step that is done again would do 'xetile.store_tile' twice}}
  %r:2 = scf.for %n = %c0 to %end step %c64 iter_args(%m = %low, %l = %none)
      -> (vector<8x1xf32>, vector<8x1xf32>) {
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
    xetile.store_tile %s, %xt : vector<8x64xf32>, !xetile.tile<8x64xf32>
    scf.yield %mn, %ln : vector<8x1xf32>, vector<8x1xf32>
  } {xetile.lazy = 1.0e18 : f32}
  return
}

// -----

// expected-error @below {{expected xetile.lazy to be a float of 32 bits, got 1.000000e+18 : f64}}
func.func @wide() attributes {xetile.lazy = 1.0e18 : f64} { return }
