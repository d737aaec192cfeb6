// RUN: xetile-opt %s --xetile-share-ops=threads=2 --canonicalize --cse | FileCheck %s
// RUN: xetile-opt %s --xetile-share-ops | FileCheck %s --check-prefix=ONE
// RUN: not xetile-opt %s --xetile-share-ops=threads=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NEGATIVE: error: threads = -1: expected 0 (the machine's cores) or more
// ONE-LABEL: func @pool
// ONE-NOT: scf.forall
// ONE-LABEL: func @others

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "fork_ns" = 10.0 : f64>>
#windows = affine_map<(c, h, w, i, j) -> (c, h * 2 + i, w * 2 + j)>
#copied = affine_map<(c, h, w, i, j) -> (c, i, j, h, w)>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @pool
// CHECK-SAME: (%[[X:.*]]: memref<1x6x18x18xf32>, %[[WINDOW:.*]]: memref<3x3xf32>, %[[Y:.*]]: memref<1x6x16x16xf32>)
// CHECK: scf.forall (%[[ID:.*]]) in (2) {
// CHECK: %[[FIRST:.*]] = affine.apply #{{.*}}()[%[[ID]]]
// CHECK: %[[FROM:.*]] = memref.subview %[[X]][0, %[[FIRST]], 0, 0] [1, 3, 18, 18] [1, 1, 1, 1]
// CHECK: %[[TO:.*]] = memref.subview %[[Y]][0, %[[FIRST]], 0, 0] [1, 3, 16, 16] [1, 1, 1, 1]
// CHECK: linalg.pooling_nchw_max {{.*}}ins(%[[FROM]], %{{.*}} outs(%[[TO]]
func.func @pool(%x: memref<1x6x18x18xf32>, %window: memref<3x3xf32>, %y: memref<1x6x16x16xf32>) {
  linalg.pooling_nchw_max ins(%x, %window : memref<1x6x18x18xf32>, memref<3x3xf32>) outs(%y : memref<1x6x16x16xf32>)
  return
}

// What windows see of the input is copied, in a loop that has no threads; 7 channels are 3 and 4.
// CHECK-LABEL: func @windows
// CHECK: scf.for
// CHECK: scf.forall
// CHECK: memref.subview %{{.*}}[%[[PART:.*]], 0, 0] [%[[SIZE:.*]], 17, 17] [1, 1, 1]
// CHECK: memref.subview %{{.*}}[%[[PART]], 0, 0, 0, 0] [%[[SIZE]], 3, 3, 8, 8] [1, 1, 1, 1, 1]
func.func @windows(%x: memref<7x17x17xf32>, %y: memref<7x3x3x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %image = %c0 to %c5 step %c1 {
    linalg.generic {indexing_maps = [#windows, #copied], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%x : memref<7x17x17xf32>) outs(%y : memref<7x3x3x8x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    }
  }
  return
}

// Indices are those of all of the op.
// CHECK-LABEL: func @index
// CHECK: scf.forall (%[[ID:.*]]) in (2)
// CHECK: linalg.generic
// CHECK: %[[INSIDE:.*]] = linalg.index 0
// CHECK: affine.apply #{{.*}}()[%[[ID]], %[[INSIDE]]]
func.func @index(%y: memref<64x64xi64>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%y : memref<64x64xi64>) {
  ^bb0(%b: i64):
    %m = linalg.index 0 : index
    %i = arith.index_cast %m : index to i64
    linalg.yield %i : i64
  }
  return
}

// Copies to parts of memory become loops.
// CHECK-LABEL: func @pad
// CHECK: scf.forall
// CHECK: linalg.generic
func.func @pad(%x: memref<64x64xf32>, %y: memref<66x66xf32>) {
  %inside = memref.subview %y[1, 1] [64, 64] [1, 1] : memref<66x66xf32> to memref<64x64xf32, strided<[66, 1], offset: 67>>
  memref.copy %x, %inside : memref<64x64xf32> to memref<64x64xf32, strided<[66, 1], offset: 67>>
  return
}

// Neither what is short, nor what threads have, nor what is part of a matmul, nor a single element of a sum.
// CHECK-LABEL: func @others
// CHECK-NOT: scf.forall
// CHECK: linalg.fill
// CHECK: linalg.fill {xetile.microkernel
// CHECK: scf.forall
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: }
// CHECK-NOT: scf.forall
func.func @others(%a: memref<2x2xf32>, %b: memref<64x64xf32>, %s: memref<f32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%a : memref<2x2xf32>)
  linalg.fill {xetile.microkernel = array<i64: 32, 32>} ins(%v : f32) outs(%b : memref<64x64xf32>)
  scf.forall (%i) in (2) {
    linalg.fill ins(%v : f32) outs(%b : memref<64x64xf32>)
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%b : memref<64x64xf32>) outs(%s : memref<f32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}
}
