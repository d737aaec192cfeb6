// RUN: xetile-opt %s --xetile-store-single-lanes | FileCheck %s

// CHECK-LABEL: llvm.func @one
// CHECK-SAME: (%[[V:.*]]: vector<4xi16>, %[[P:.*]]: !llvm.ptr)
// CHECK: %[[LANE:.*]] = llvm.mlir.constant(2 : i64)
// CHECK: %[[X:.*]] = llvm.extractelement %[[V]][%[[LANE]] : i64]
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[P]][2] : (!llvm.ptr) -> !llvm.ptr, i16
// CHECK: llvm.store %[[X]], %[[AT]] {alignment = 2 : i64} : i16, !llvm.ptr
// CHECK-NOT: masked.store
llvm.func @one(%v: vector<4xi16>, %p: !llvm.ptr) {
  %m = llvm.mlir.constant(dense<[false, false, true, false]> : vector<4xi1>) : vector<4xi1>
  llvm.intr.masked.store %v, %p, %m {alignment = 2 : i32} : vector<4xi16>, vector<4xi1> into !llvm.ptr
  llvm.return
}

// Two lanes and none stay.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT: llvm.inline_asm
// CHECK-COUNT-2: llvm.intr.masked.store
// CHECK-NOT: llvm.store
llvm.func @others(%v: vector<4xi16>, %p: !llvm.ptr) {
  %two = llvm.mlir.constant(dense<[true, false, true, false]> : vector<4xi1>) : vector<4xi1>
  %none = llvm.mlir.constant(dense<false> : vector<4xi1>) : vector<4xi1>
  llvm.intr.masked.store %v, %p, %two {alignment = 2 : i32} : vector<4xi16>, vector<4xi1> into !llvm.ptr
  llvm.intr.masked.store %v, %p, %none {alignment = 2 : i32} : vector<4xi16>, vector<4xi1> into !llvm.ptr
  llvm.return
}

// LLVM may come to know this mask.
// CHECK-LABEL: llvm.func @unknown
// CHECK-SAME: %[[MASK:[a-z0-9]*]]: vector<4xi1>)
// CHECK: %[[HIDDEN:.*]] = llvm.inline_asm "", "=r,0" %{{.*}} : (i32) -> i32
// CHECK: %[[TRUE:.*]] = llvm.trunc %[[HIDDEN]] : i32 to i1
// CHECK: %[[FIRST:.*]] = llvm.insertelement %[[TRUE]]
// CHECK: %[[ALL:.*]] = llvm.shufflevector %[[FIRST]], %{{.*}} [0, 0, 0, 0]
// CHECK: %[[BOTH:.*]] = llvm.and %[[MASK]], %[[ALL]] : vector<4xi1>
// CHECK: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[BOTH]] {{.*}} : vector<4xi16>
llvm.func @unknown(%v: vector<4xi16>, %p: !llvm.ptr, %mask: vector<4xi1>) {
  llvm.intr.masked.store %v, %p, %mask {alignment = 2 : i32} : vector<4xi16>, vector<4xi1> into !llvm.ptr
  llvm.return
}

// Nothing is truncated to floats or the widest integers.
// CHECK-LABEL: llvm.func @wide
// CHECK-SAME: %[[MASK:[a-z0-9]*]]: vector<4xi1>)
// CHECK-COUNT-2: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[MASK]]
llvm.func @wide(%v: vector<4xf32>, %w: vector<4xi64>, %p: !llvm.ptr, %mask: vector<4xi1>) {
  llvm.intr.masked.store %v, %p, %mask {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
  llvm.intr.masked.store %w, %p, %mask {alignment = 8 : i32} : vector<4xi64>, vector<4xi1> into !llvm.ptr
  llvm.return
}
