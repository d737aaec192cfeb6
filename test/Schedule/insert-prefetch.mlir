// RUN: xetile-opt %s --transform-interpreter --split-input-file --allow-unregistered-dialect | FileCheck %s

#a = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>

// Two steps ahead. 32 subgroups share 256 rows of 64 bytes as 32 x 1, and 32 rows of 512 bytes as 4 x 8.
// CHECK-DAG: #[[A_MAP:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 32]>
// CHECK-DAG: #[[B_MAP:.*]] = #xetile.wg_map<sg_layout = [4, 8], sg_data = [8, 32]>
// CHECK-DAG: #[[A:.*]] = #xetile.tile_attr<wg_map = #[[A_MAP]]>
// CHECK-DAG: #[[B:.*]] = #xetile.tile_attr<wg_map = #[[B_MAP]]>
// CHECK-LABEL: func.func @ahead
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: %[[A0:.*]] = xetile.init_tile %{{.*}}[%{{.*}}, %[[C0]]] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #[[A]]>
// CHECK-NEXT: xetile.prefetch_tile %[[A0]] locality<3>
// CHECK: %[[A1:.*]] = xetile.init_tile %{{.*}}[%{{.*}}, %{{.*}}] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #[[A]]>
// CHECK-NEXT: xetile.prefetch_tile %[[A1]] locality<3>
// CHECK-SAME: #[[A]]>
// CHECK-NOT: !xetile.tile<256x32
// CHECK: xetile.init_tile %{{.*}}[%[[C0]], %{{.*}}] : memref<1024x1024xf16> -> !xetile.tile<32x256xf16, #[[B]]>
// CHECK-NEXT: xetile.prefetch_tile
// CHECK: xetile.init_tile %{{.*}} : memref<1024x1024xf16> -> !xetile.tile<32x256xf16, #[[B]]>
// CHECK-NEXT: xetile.prefetch_tile
// CHECK: scf.for %[[K:.*]] =
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %[[C64]]
// CHECK-NEXT: %[[A_AHEAD:.*]] = xetile.init_tile %{{.*}}[%{{.*}}, %[[AHEAD]]] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #[[A]]>
// CHECK-NEXT: xetile.prefetch_tile %[[A_AHEAD]] locality<3> {test.found}
// CHECK: xetile.prefetch_tile %{{.*}} locality<3> {test.found} : !xetile.tile<32x256xf16, #[[B]]>
// CHECK: xetile.load_tile
// CHECK: xetile.load_tile
// CHECK-NOT: prefetch_tile
func.func @ahead(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  scf.for %k = %c0 to %c1024 step %c32 {
    %ta = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #a>
    %va = xetile.load_tile %ta : !xetile.tile<256x32xf16, #a> -> vector<256x32xf16>
    %tb = xetile.init_tile %B[%k, %n] : memref<1024x1024xf16> -> !xetile.tile<32x256xf16, #b>
    %vb = xetile.load_tile %tb : !xetile.tile<32x256xf16, #b> -> vector<32x256xf16>
    "test.use"(%va, %vb) : (vector<256x32xf16>, vector<32x256xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 2 : i64 -> !transform.param<i64>
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    %prefetches = transform.xetile.insert_prefetch %loads distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.annotate %prefetches "test.found" : !transform.any_op
    transform.yield
  }
}

// -----

// Offsets that are computed in the loop are computed again for the step ahead; the loop has 2 steps, so no more than
// two are prefetched before it.
// CHECK-LABEL: func.func @computed
// CHECK-COUNT-2: xetile.prefetch_tile
// CHECK-NOT: xetile.prefetch_tile
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[AHEAD:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK: %[[K:.*]] = arith.muli %[[AHEAD]], %{{.*}} : index
// CHECK: xetile.init_tile %{{.*}}[0, %[[K]]]
// CHECK-NEXT: xetile.prefetch_tile
func.func @computed(%A: memref<1024x1024xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %k = arith.muli %i, %c32 : index
    %t = xetile.init_tile %A[0, %k] : memref<1024x1024xf16>
        -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>>
    %v = xetile.load_tile %t
        : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.insert_prefetch %loads distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// Nothing to do: a distance of 0.
// CHECK-LABEL: func.func @no_distance
// CHECK-NOT: prefetch_tile
// CHECK: return
func.func @no_distance(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %k] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
    %v = xetile.load_tile %t : !xetile.tile<64x32xf16> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 0 : i64 -> !transform.param<i64>
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.insert_prefetch %loads distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// Nothing to do: no loop, as a k loop of a single step leaves it.
// CHECK-LABEL: func.func @no_loop
// CHECK-NOT: prefetch_tile
// CHECK: return
func.func @no_loop(%A: memref<1024x1024xf16>) -> vector<64x32xf16> {
  %t = xetile.init_tile %A[0, 0] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
  %v = xetile.load_tile %t : !xetile.tile<64x32xf16> -> vector<64x32xf16>
  return %v : vector<64x32xf16>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %distance = transform.param.constant 3 : i64 -> !transform.param<i64>
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.insert_prefetch %loads distance = %distance
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// Two cache levels: four steps ahead for the second-level cache, one for all.
// CHECK-LABEL: func.func @two_levels
// CHECK-COUNT-4: xetile.prefetch_tile %{{.*}} locality<2>
// CHECK:         xetile.prefetch_tile %{{.*}} locality<3>
// CHECK:         scf.for %[[K:.*]] =
// CHECK:           %[[FAR:.*]] = arith.addi %[[K]], %c128
// CHECK-NEXT:      %[[TILE:.*]] = xetile.init_tile %{{.*}}[0, %[[FAR]]]
// CHECK-NEXT:      xetile.prefetch_tile %[[TILE]] locality<2>
// CHECK:           %[[NEAR:.*]] = arith.addi %[[K]], %c32
// CHECK-NEXT:      %[[NEXT:.*]] = xetile.init_tile %{{.*}}[0, %[[NEAR]]]
// CHECK-NEXT:      xetile.prefetch_tile %[[NEXT]] locality<3>
// CHECK:           xetile.load_tile
func.func @two_levels(%A: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %k = %c0 to %n step %c32 {
    %t = xetile.init_tile %A[0, %k] : memref<1024x1024xf16>
        -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>>
    %v = xetile.load_tile %t
        : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 1], sg_data = [16, 32]>>> -> vector<64x32xf16>
    "test.use"(%v) : (vector<64x32xf16>) -> ()
  }
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %far = transform.param.constant 4 : i64 -> !transform.param<i64>
    %near = transform.param.constant 1 : i64 -> !transform.param<i64>
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.insert_prefetch %loads distance = %far locality = 2
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.xetile.insert_prefetch %loads distance = %near
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
