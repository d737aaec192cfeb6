// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics --allow-unregistered-dialect

// pipeline_c1
// expected-note @below {{target op}}
func.func @no_loop() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected scf.for, got func.func}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c2: always the same tile.
func.func @same(%A: memref<32x1024xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // expected-note @below {{target op}}
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %c32] : memref<32x1024xf32> -> !xetile.tile<32x32xf32>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf32> -> vector<32x32xf32>
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{no load of this loop moves with it: expected an xetile.load_tile of an xetile.init_tile whose offsets are computed from the induction variable}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c2: offsets that the loop carries.
func.func @carried(%A: memref<32x1024xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // expected-note @below {{target op}}
  %end = scf.for %k = %c0 to %n step %c32 iter_args(%at = %c0) -> (index) {
    %t = xetile.init_tile %A[0, %at] : memref<32x1024xf32> -> !xetile.tile<32x32xf32>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf32> -> vector<32x32xf32>
    %next = arith.addi %at, %c32 : index
    scf.yield %next : index
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{no load of this loop moves with it}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c3: a later step may read what this one writes.
func.func @written(%A: memref<32x1024xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %k] : memref<32x1024xf32> -> !xetile.tile<32x32xf32>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf32> -> vector<32x32xf32>
    %u = xetile.init_tile %A[0, %c32] : memref<32x1024xf32> -> !xetile.tile<32x32xf32>
    // expected-note @below {{by this operation}}
    xetile.store_tile %a, %u : vector<32x32xf32>, !xetile.tile<32x32xf32>
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot load ahead: the loop writes to memory, which loads of later steps may read}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c3: in a branch, and others wait.
func.func @waits(%A: memref<32x1024xf32>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %k] : memref<32x1024xf32> -> !xetile.tile<32x32xf32>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf32> -> vector<32x32xf32>
    scf.if %c {
      // expected-note @below {{by this operation}}
      gpu.barrier
    }
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot load ahead: the loop writes to memory, which loads of later steps may read}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c4: what was before the loop.
func.func @swapped(%A: memref<32x1024xf32>, %n: index, %v: vector<32x32xf32>, %w: vector<32x32xf32>) -> vector<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %r:2 = scf.for %k = %c0 to %n step %c32 iter_args(%x = %v, %y = %w) -> (vector<32x32xf32>, vector<32x32xf32>) {
    %t = xetile.init_tile %A[0, %k] : memref<32x1024xf32> -> !xetile.tile<32x32xf32>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf32> -> vector<32x32xf32>
    %z = arith.addf %x, %a : vector<32x32xf32>
    // expected-note @below {{carried to the next step}}
    scf.yield %y, %z : vector<32x32xf32>, vector<32x32xf32>
  }
  return %r#0 : vector<32x32xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot load ahead: expected what the loop carries to be computed in its body}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c6: of four subgroups each has 32 x 64 sums, 32 x 64 elements of A and 64 x 64 of B.
#a = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 64]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [64, 64]>>
func.func @too_much(%A: memref<64x1024xf16>, %B: memref<1024x128xf16>, %zero: vector<64x128xf32>, %n: index) -> vector<64x128xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-note @below {{target op}}
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (vector<64x128xf32>) {
    %ta = xetile.init_tile %A[0, %k] : memref<64x1024xf16> -> !xetile.tile<64x64xf16, #a>
    %tb = xetile.init_tile %B[%k, 0] : memref<1024x128xf16> -> !xetile.tile<64x128xf16, #b>
    %a = xetile.load_tile %ta : !xetile.tile<64x64xf16, #a> -> vector<64x64xf16>
    %b = xetile.load_tile %tb : !xetile.tile<64x128xf16, #b> -> vector<64x128xf16>
    %d = xetile.tile_mma %a, %b, %acc {wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 64]>} : vector<64x64xf16>, vector<64x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
    scf.yield %d : vector<64x128xf32>
  }
  return %sum : vector<64x128xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot load 1 steps ahead: a subgroup would carry 1 x 12288 bytes of loads and 8192 of results, expected at most 16384, its registers; loads of a step must be at most 8192 bytes: make the loop's step smaller}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c7
func.func @lazy(%A: memref<32x1024xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // expected-note @below {{target op}}
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %k] : memref<32x1024xf32> -> !xetile.tile<32x32xf32>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf32> -> vector<32x32xf32>
  } {xetile.lazy = 1.024000e+03 : f32}
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot load ahead: the loop's maxima are lazy}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c5
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 9 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{depth = 9: expected at most 8}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// pipeline_c5: negative.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant -1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{depth = -1: expected at least 0}}
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// Silenceable: a sequence that suppresses failures goes on, and nothing was changed.
func.func @chosen(%n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    "test.store"(%k) : (index) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @try(%root: !transform.any_op {transform.readonly}) {
    %depth = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loops = transform.structured.match ops{["scf.for"]} in %root : (!transform.any_op) -> !transform.any_op
    %ahead = transform.xetile.pipeline %loops depth = %depth
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.include @try failures(suppress) (%root) : (!transform.any_op) -> ()
    transform.yield
  }
}
