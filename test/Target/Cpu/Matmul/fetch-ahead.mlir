// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1" | FileCheck %s
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOLD
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1" \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --cse --xetile-lower-microkernels="vector-bits=512" --canonicalize | FileCheck %s --check-prefix=LOWERED
//
// Few rows of A wait for B, of which the hardware prefetches lines that follow one another but not rows. What a tile of 48
// columns reads, of three lines, is fetched to the first level eight steps of k before.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// B comes from the third level in blocks of 64 rows, which both rows of tiles read.
// TOLD: remark: {{.*}}"KBlock": 64, "innermostMBlock": 8, "innermostNBlock": 48, "innermostKBlock": 64, "loopOrder": 3}
// TOLD: pack B: no (3029508 cycles, waiting for it in place 476239;
// TOLD: rows of B, which is read in place, are fetched to L1

// CHECK-DAG: #[[ROW:.*]] = affine_map<()[s0] -> (s0 + 8, 2463)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<()[s0] -> (s0, 719)>
// CHECK-LABEL: func.func @sixteen_rows
// CHECK-SAME: %[[B:[^:,]*]]: tensor<2464x720xf32>
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c2464{{.*}} step %c64
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c720{{.*}} step %c48
// CHECK: %[[MEMORY:.*]] = bufferization.to_buffer %[[B]] read_only
// CHECK-DAG: %[[FIRST:.*]] = affine.min #[[ROW]]()[%[[K]]]
// CHECK-DAG: %[[AT:.*]] = affine.min #[[COLUMN]]()[%[[N]]]
// CHECK: memref.prefetch %[[MEMORY]][%[[FIRST]], %[[AT]]], read, locality<3>, data : memref<2464x720xf32
// CHECK: linalg.batch_reduce_matmul {{{.*}}xetile.fetched = array<i64: 48, 1, 3>{{.*}}}

// Three lines in each step; none behind the last row or column.
// LOWERED-LABEL: func.func @sixteen_rows
// LOWERED: scf.for %[[STEP:[^ ]*]] = %c0 to %dim{{.*}} step %c1 iter_args
// LOWERED-NEXT: affine.apply {{.*}}, %[[STEP]]]
// LOWERED-NEXT: arith.minui %{{.*}}, %c2463
// LOWERED-NEXT: arith.minui %{{.*}}, %c719
// LOWERED-COUNT-3: memref.prefetch %{{.*}}, read, locality<3>, data : memref<2464x720xf32
// LOWERED-NOT: memref.prefetch
// LOWERED: vector.fma
// LOWERED-NOT: xetile.fetched
// LOWERED-LABEL: func.func @many_rows
func.func @sixteen_rows(%a: tensor<16x2464xf32>, %b: tensor<2464x720xf32>, %c: tensor<16x720xf32>) -> tensor<16x720xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x2464xf32>, tensor<2464x720xf32>) outs(%c : tensor<16x720xf32>) -> tensor<16x720xf32>
  return %d : tensor<16x720xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32, "L3_cache_size_in_bytes" = 314572800 : i64,
  "max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32, "name" = "emeraldrapids">>
module attributes {dlti.target_system_spec = #machine} {
// Up to 128 rows: in place instead of copied, 128 rows of B at a time.
// TOLD: remark: {{.*}}"KBlock": 128, "innermostMBlock": 8, "innermostNBlock": 48,
// TOLD: pack B: no
// TOLD: rows of B, which is read in place, are fetched to L1
// TOLD: remark: {{.*}}"KBlock": 128, "innermostMBlock": 8, "innermostNBlock": 48,
// TOLD: rows of B, which is read in place, are fetched to L1
// CHECK-LABEL: func @many_rows
// CHECK-COUNT-2: xetile.fetched = array<i64: 48, 1, 3>
func.func @many_rows(%a: tensor<128x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<128x1024xf32>,
    %e: tensor<48x1328xf32>, %f: tensor<1328x3824xf32>, %g: tensor<48x3824xf32>) -> (tensor<128x1024xf32>, tensor<48x3824xf32>) {
  %d = linalg.matmul ins(%a, %b : tensor<128x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<128x1024xf32>) -> tensor<128x1024xf32>
  %h = linalg.matmul ins(%e, %f : tensor<48x1328xf32>, tensor<1328x3824xf32>) outs(%g : tensor<48x3824xf32>) -> tensor<48x3824xf32>
  return %d, %h : tensor<128x1024xf32>, tensor<48x3824xf32>
}

// More rows pass what the caches have got: it is copied.
// TOLD: remark: {
// TOLD: pack B: yes
// TOLD-NOT: fetched to L1
// CHECK-LABEL: func @more_rows
// CHECK-NOT: locality<3>
// CHECK: return
func.func @more_rows(%a: tensor<129x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<129x1024xf32>) -> tensor<129x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<129x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<129x1024xf32>) -> tensor<129x1024xf32>
  return %d : tensor<129x1024xf32>
}

// Elements that an op computes on the way are in no memory before.
// CHECK-LABEL: func @computed
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @computed(%a: tensor<16x2464xf32>, %b: tensor<2464x720xf32>, %c: tensor<16x720xf32>) -> tensor<16x720xf32> {
  %e = tensor.empty() : tensor<2464x720xf32>
  %f = linalg.exp ins(%b : tensor<2464x720xf32>) outs(%e : tensor<2464x720xf32>) -> tensor<2464x720xf32>
  %d = linalg.matmul ins(%a, %f : tensor<16x2464xf32>, tensor<2464x720xf32>) outs(%c : tensor<16x720xf32>) -> tensor<16x720xf32>
  return %d : tensor<16x720xf32>
}

// Four rows have little else to do than to load, sizes of run time have no parts that are known to be far, groups of bf16
// are copied, and the first level keeps a B of 48 KiB.
// TOLD: remark: {
// TOLD: remark: {
// TOLD-NOT: fetched to L1
// CHECK-LABEL: func @others
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @others(%a: tensor<4x2048xf32>, %b: tensor<2048x1000xf32>, %c: tensor<4x1000xf32>, %d: tensor<16x?xf32>,
    %e: tensor<?x1000xf32>, %f: tensor<16x1000xf32>, %g: tensor<16x200xbf16>, %h: tensor<200x1000xbf16>,
    %i: tensor<16x128xf32>, %j: tensor<128x96xf32>, %k: tensor<16x96xf32>)
    -> (tensor<4x1000xf32>, tensor<16x1000xf32>, tensor<16x1000xf32>, tensor<16x96xf32>) {
  %l = linalg.matmul ins(%a, %b : tensor<4x2048xf32>, tensor<2048x1000xf32>) outs(%c : tensor<4x1000xf32>) -> tensor<4x1000xf32>
  %m = linalg.matmul ins(%d, %e : tensor<16x?xf32>, tensor<?x1000xf32>) outs(%f : tensor<16x1000xf32>) -> tensor<16x1000xf32>
  %n = linalg.matmul ins(%g, %h : tensor<16x200xbf16>, tensor<200x1000xbf16>) outs(%f : tensor<16x1000xf32>) -> tensor<16x1000xf32>
  %o = linalg.matmul ins(%i, %j : tensor<16x128xf32>, tensor<128x96xf32>) outs(%k : tensor<16x96xf32>) -> tensor<16x96xf32>
  return %l, %m, %n, %o : tensor<4x1000xf32>, tensor<16x1000xf32>, tensor<16x1000xf32>, tensor<16x96xf32>
}
}

// -----

// A third level that is near is followed by hardware.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32,
  "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i64,
  "max_vector_width" = 512 : i32, "name" = "znver4">>
module attributes {dlti.target_system_spec = #machine} {
// TOLD: remark: {
// TOLD-NOT: fetched to L1
// CHECK-LABEL: func @near
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @near(%a: tensor<16x2464xf32>, %b: tensor<2464x720xf32>, %c: tensor<16x720xf32>) -> tensor<16x720xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x2464xf32>, tensor<2464x720xf32>) outs(%c : tensor<16x720xf32>) -> tensor<16x720xf32>
  return %d : tensor<16x720xf32>
}
}
