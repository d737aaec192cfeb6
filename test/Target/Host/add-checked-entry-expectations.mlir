// RUN: xetile-opt %s --xetile-add-checked-entry | FileCheck %s

// What a function found in data is told after the call: in memory of the entry's own ...
llvm.func @f() -> !llvm.struct<(i64, i64, i64)> attributes {xetile.expectations = [["tensor.extract in line 4", "expected an index within dimension 0"]]}
llvm.func @_mlir_ciface_f(!llvm.ptr, !llvm.ptr)
// ... or behind the results that it allocated.
llvm.func @g() -> !llvm.struct<(ptr, i64, i64, i64)> attributes {xetile.expectations = [["cf.assert in line 5", "no"]]}
llvm.func @_mlir_ciface_g(!llvm.ptr, !llvm.ptr)

// CHECK-LABEL: llvm.func @f_checked(
// CHECK-SAME: %[[MEMORY:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK: %[[STATUS:.*]] = llvm.alloca
// CHECK: llvm.call @_mlir_ciface_f(%[[STATUS]], %[[MEMORY]])
// CHECK: %[[NUMBER:.*]] = llvm.load %[[STATUS]]
// CHECK: %[[HOLDS:.*]] = llvm.icmp "eq" %[[NUMBER]]
// CHECK: llvm.cond_br %[[HOLDS]]
// CHECK: llvm.mlir.addressof @f.conditions
// CHECK: "@f: tensor.extract in line 4: expected an index within dimension 0\00"
// CHECK-LABEL: llvm.func @g_checked(
// CHECK-SAME: %[[RESULTS:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr) -> !llvm.ptr
// CHECK: llvm.call @_mlir_ciface_g(%[[RESULTS]]
// CHECK: llvm.getelementptr %[[RESULTS]][0, 1]
// CHECK: "@g: cf.assert in line 5: no\00"
