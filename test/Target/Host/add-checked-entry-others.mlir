// RUN: xetile-opt %s --xetile-add-checked-entry | FileCheck %s
// Functions whose names are those of checks, but which take other arguments, or tell nothing, are called by nobody.

// CHECK-NOT: llvm.call

// No place for what it tells.
llvm.func @f(i64)
llvm.func @_mlir_ciface_f(i64)
llvm.func @f_check() attributes {xetile.conditions = [["argument 0, dimension 0", "==", "4", "its type"]]}
llvm.func @_mlir_ciface_f_check()

// An argument that @g has not.
llvm.func @g(i64)
llvm.func @_mlir_ciface_g(i64)
llvm.func @g_check(i32) attributes {xetile.conditions = [["argument 0, dimension 0", "==", "4", "its type"]]}
llvm.func @_mlir_ciface_g_check(!llvm.ptr, i32)

// Nothing that is returned tells of expectations.
llvm.func @h() attributes {xetile.expectations = [["cf.assert in line 5", "no"]]}
llvm.func @_mlir_ciface_h()

// CHECK-NOT: @{{.*}}_checked
