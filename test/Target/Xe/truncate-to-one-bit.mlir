// RUN: rm -rf %t && xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-xevm-to-binary{native=off dump-dir=%t})' -o %t.mlir
// RUN: FileCheck %s < %t/kernel.ll

// The backend takes the last bit of 64 by an operation on 32, which no validator lets pass.
// CHECK-NOT: trunc i64
// CHECK: %[[BIT:.*]] = and i64 %{{.*}}, 1
// CHECK: icmp ne i64 %[[BIT]], 0
module attributes {gpu.container_module} {
gpu.module @device [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @kernel(%p: !llvm.ptr<1>, %n: i64) attributes {gpu.kernel} {
    %bit = llvm.trunc %n : i64 to i1
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %two = llvm.mlir.constant(2.0 : f32) : f32
    %x = llvm.select %bit, %one, %two : i1, f32
    llvm.store %x, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
}
