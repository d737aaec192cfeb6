// RUN: rm -rf %t && xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-xevm-to-binary{native=off dump-dir=%t})' -o %t.mlir
// RUN: FileCheck %s < %t/magnitude.ll

module attributes {gpu.container_module} {
gpu.module @device [#xevm.target<chip = "pvc">] {
  // A select that Intel's compiler knows as a modifier of operands.
  // CHECK-LABEL: @magnitude(
  // CHECK-NOT: fabs
  // CHECK: %[[BELOW:.*]] = fcmp ole half %[[X:.*]], 0
  // CHECK: %[[MINUS:.*]] = fsub half {{.*}}, %[[X]]
  // CHECK: select i1 %[[BELOW]], half %[[MINUS]], half %[[X]]
  llvm.func spir_kernelcc @magnitude(%p: !llvm.ptr<1>, %x: f16) attributes {gpu.kernel} {
    %y = llvm.intr.fabs(%x) : (f16) -> f16
    llvm.store %y, %p : f16, !llvm.ptr<1>
    llvm.return
  }
  // Of vectors element by element: of whole ones the select ends that compiler.
  // CHECK-LABEL: @of_vector(
  // CHECK-NOT: fcmp ole <
  // CHECK-COUNT-2: fcmp ole float
  llvm.func spir_kernelcc @of_vector(%p: !llvm.ptr<1>, %x: vector<2xf32>) attributes {gpu.kernel} {
    %y = llvm.intr.fabs(%x) : (vector<2xf32>) -> vector<2xf32>
    llvm.store %y, %p : vector<2xf32>, !llvm.ptr<1>
    llvm.return
  }
  // The sign of a sum of magnitudes tells if it is NaN.
  // CHECK-LABEL: @is_number(
  // CHECK: %[[SUM:.*]] = fadd float
  // CHECK: fcmp oge float %[[SUM]], 0.0
  llvm.func spir_kernelcc @is_number(%p: !llvm.ptr<1>, %x: f32, %y: f32) attributes {gpu.kernel} {
    %a = llvm.intr.fabs(%x) : (f32) -> f32
    %b = llvm.intr.fabs(%y) : (f32) -> f32
    %sum = llvm.fadd %a, %b : f32
    %number = llvm.fcmp "ord" %sum, %sum : f32
    %z = llvm.select %number, %x, %sum : i1, f32
    llvm.store %z, %p : f32, !llvm.ptr<1>
    llvm.return
  }
  // Of other sums it does not.
  // CHECK-LABEL: @may_be_negative(
  // CHECK: fcmp uno float
  llvm.func spir_kernelcc @may_be_negative(%p: !llvm.ptr<1>, %x: f32, %y: f32) attributes {gpu.kernel} {
    %a = llvm.intr.fabs(%x) : (f32) -> f32
    %sum = llvm.fadd %a, %y : f32
    %nan = llvm.fcmp "uno" %sum, %sum : f32
    %z = llvm.select %nan, %sum, %x : i1, f32
    llvm.store %z, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
}
