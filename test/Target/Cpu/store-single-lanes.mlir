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

// Two lanes, none, and a mask that is not known stay.
// CHECK-LABEL: llvm.func @others
// CHECK-COUNT-3: llvm.intr.masked.store
// CHECK-NOT: llvm.store
llvm.func @others(%v: vector<4xi16>, %p: !llvm.ptr, %unknown: vector<4xi1>) {
  %two = llvm.mlir.constant(dense<[true, false, true, false]> : vector<4xi1>) : vector<4xi1>
  %none = llvm.mlir.constant(dense<false> : vector<4xi1>) : vector<4xi1>
  llvm.intr.masked.store %v, %p, %two {alignment = 2 : i32} : vector<4xi16>, vector<4xi1> into !llvm.ptr
  llvm.intr.masked.store %v, %p, %none {alignment = 2 : i32} : vector<4xi16>, vector<4xi1> into !llvm.ptr
  llvm.intr.masked.store %v, %p, %unknown {alignment = 2 : i32} : vector<4xi16>, vector<4xi1> into !llvm.ptr
  llvm.return
}
