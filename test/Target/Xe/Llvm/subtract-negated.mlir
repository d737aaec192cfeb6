// RUN: rm -rf %t && xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-xevm-to-binary{native=off dump-dir=%t})' -o %t.mlir
// RUN: FileCheck %s < %t/splat.ll

module attributes {gpu.container_module} {
gpu.module @device [#xevm.target<chip = "pvc">] {
  // A vector of a negated number is subtracted.
  // CHECK-LABEL: @splat(
  // CHECK-NOT: fadd
  // CHECK: fsub <4 x float>
  // CHECK: fsub <4 x float>
  llvm.func spir_kernelcc @splat(%p: !llvm.ptr<1>, %r: f32, %m: vector<4xf32>) attributes {gpu.kernel} {
    %poison = llvm.mlir.poison : vector<4xf32>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %n = llvm.fneg %r : f32
    %n0 = llvm.insertelement %n, %poison[%zero : i32] : vector<4xf32>
    %ns = llvm.shufflevector %n0, %poison [0, 0, 0, 0] : vector<4xf32>
    %r0 = llvm.insertelement %r, %poison[%zero : i32] : vector<4xf32>
    %rs = llvm.shufflevector %r0, %poison [0, 0, 0, 0] : vector<4xf32>
    %sum = llvm.fadd %ns, %m : vector<4xf32>
    %y = llvm.fsub %sum, %rs : vector<4xf32>
    llvm.store %y, %p : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
  // One of other numbers, too, is added.
  // CHECK-LABEL: @mixed(
  // CHECK: fadd <2 x float>
  llvm.func spir_kernelcc @mixed(%p: !llvm.ptr<1>, %r: f32, %s: f32, %m: vector<2xf32>) attributes {gpu.kernel} {
    %poison = llvm.mlir.poison : vector<2xf32>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %n = llvm.fneg %r : f32
    %n0 = llvm.insertelement %n, %poison[%zero : i32] : vector<2xf32>
    %n1 = llvm.insertelement %s, %n0[%one : i32] : vector<2xf32>
    %sum = llvm.fadd %n1, %m : vector<2xf32>
    llvm.store %sum, %p : vector<2xf32>, !llvm.ptr<1>
    llvm.return
  }
}
}
