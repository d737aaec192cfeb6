// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics --allow-unregistered-dialect

// insert_prefetch_c1
// expected-note @below {{target op}}
func.func @not_a_load() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected xetile.load_tile, got func.func}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c2: negative.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant -1 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{prefetch distance = -1: expected at least 0}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c2: too far.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 65 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{prefetch distance = 65: expected at most 64}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c3: outside of the loop.
func.func @outside(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %t = xetile.init_tile %A[0, 0] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>>
  scf.for %k = %c0 to %n step %c32 {
    // expected-note @below {{target op}}
    %v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot prefetch for this load: it does not move with the loop}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c3: always the same tile.
func.func @same(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %c32] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>>
    // expected-note @below {{target op}}
    %v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot prefetch for this load: it does not move with the loop}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c3: not an init_tile.
func.func @moved(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t0 = xetile.init_tile %A[0, %c0] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>>
    %t = xetile.update_tile_offset %t0, [0, %k] : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>>
    // expected-note @below {{target op}}
    %v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot prefetch for this load: its tile does not come from an xetile.init_tile}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c3: offsets with side effects.
func.func @impure(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %o = "test.offset"(%k) : (index) -> index
    %t = xetile.init_tile %A[0, %o] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>>
    // expected-note @below {{target op}}
    %v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot prefetch for this load: its offsets depend on operations with side effects or regions}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c3: offsets that the loop carries.
func.func @carried(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 iter_args(%k = %c0) -> (index) {
    %t = xetile.init_tile %A[0, %k] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>>
    // expected-note @below {{target op}}
    %v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
    %next = arith.addi %k, %c32 : index
    scf.yield %next : index
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot prefetch for this load: its offsets are carried from step to step; compute them from the induction variable}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c4
func.func @no_map(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %k] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
    // expected-note @below {{target op}}
    %v = xetile.load_tile %t : !xetile.tile<64x32xf16> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot prefetch for this load: its tile has no wg_map; run xetile-infer-wg-map first}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// insert_prefetch_c5: 3 blocks of 64 bytes in a row, 4 subgroups.
func.func @uneven(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %k] : memref<1024x1024xf16> -> !xetile.tile<64x96xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 96]>>>
    // expected-note @below {{target op}}
    %v = xetile.load_tile %t : !xetile.tile<64x96xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 96]>>> -> vector<64x96xf16>
    "test.use"(%v) : (vector<64x96xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot prefetch for this load: its tile of 64 x 96 elements cannot be shared evenly by 4 subgroups in rows of at most 64 bytes}}
    transform.xetile.insert_prefetch %ops distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// With where_possible it is passed over.
func.func @uneven(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %k] : memref<1024x1024xf16> -> !xetile.tile<64x96xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 96]>>>
    %v = xetile.load_tile %t : !xetile.tile<64x96xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 96]>>> -> vector<64x96xf16>
    "test.use"(%v) : (vector<64x96xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %ops = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.insert_prefetch %ops distance = %distance where_possible
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
