// RUN: xetile-opt %s --xetile-add-checked-entry | FileCheck %s

// What a constructor did not get from the system is said before sizes are looked at.
llvm.mlir.global weak @xetile_refused() : !llvm.ptr {
  %0 = llvm.mlir.zero : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
llvm.func @f()
llvm.func @_mlir_ciface_f()
llvm.func @f_check() attributes {xetile.conditions = [["argument 0, dimension 0", "==", "4", "its type"]]}
llvm.func @_mlir_ciface_f_check(!llvm.ptr)

// CHECK-LABEL: llvm.func @f_checked() -> !llvm.ptr
// CHECK: %[[PLACE:.*]] = llvm.mlir.addressof @xetile_refused
// CHECK: %[[TEXT:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[NULL:.*]] = llvm.mlir.zero
// CHECK: %[[LENT:.*]] = llvm.icmp "eq" %[[TEXT]], %[[NULL]]
// CHECK: llvm.cond_br %[[LENT]], ^[[GO:.*]], ^[[REFUSED:.*]]
// CHECK: ^[[REFUSED]]:
// CHECK: llvm.return %[[TEXT]]
// CHECK: ^[[GO]]:
// CHECK: llvm.call @_mlir_ciface_f_check
