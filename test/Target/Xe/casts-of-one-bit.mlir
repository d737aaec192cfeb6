// RUN: rm -rf %t && xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-xevm-to-binary{native=off dump-dir=%t})' -o %t.mlir
// RUN: FileCheck %s < %t/from_number.ll

module attributes {gpu.container_module} {
gpu.module @device [#xevm.target<chip = "pvc">] {
  // The backend takes the last bit of 64 by an operation on 32, which no validator lets pass.
  // CHECK-LABEL: @from_number(
  // CHECK-NOT: trunc i64
  // CHECK: %[[BIT:.*]] = and i64 %{{.*}}, 1
  // CHECK: icmp ne i64 %[[BIT]], 0
  llvm.func spir_kernelcc @from_number(%p: !llvm.ptr<1>, %n: i64) attributes {gpu.kernel} {
    %bit = llvm.trunc %n : i64 to i1
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %two = llvm.mlir.constant(2.0 : f32) : f32
    %x = llvm.select %bit, %one, %two : i1, f32
    llvm.store %x, %p : f32, !llvm.ptr<1>
    llvm.return
  }
  // It makes 1.0 of a signed bit that is set: -1.
  // CHECK-LABEL: @to_float(
  // CHECK: %[[BITS:.*]] = icmp slt <2 x i32>
  // CHECK-NOT: sitofp
  // CHECK: select <2 x i1> %[[BITS]], <2 x half> splat (half {{[^ ]*}}BC00), <2 x half> zeroinitializer
  llvm.func spir_kernelcc @to_float(%p: !llvm.ptr<1>, %n: vector<2xi32>, %m: vector<2xi32>) attributes {gpu.kernel} {
    %bit = llvm.icmp "slt" %n, %m : vector<2xi32>
    %x = llvm.sitofp %bit : vector<2xi1> to vector<2xf16>
    llvm.store %x, %p : vector<2xf16>, !llvm.ptr<1>
    llvm.return
  }
  // It has no rule for these: what is cut to zero is false.
  // CHECK-LABEL: @from_float(
  // CHECK-NOT: fpto
  // CHECK: %[[WHOLE:.*]] = call float @llvm.trunc.f32(float %{{.*}})
  // CHECK: fcmp une float %[[WHOLE]], 0.0
  // CHECK: %[[WHOLE:.*]] = call float @llvm.trunc.f32(float %{{.*}})
  // CHECK: fcmp une float %[[WHOLE]], 0.0
  llvm.func spir_kernelcc @from_float(%p: !llvm.ptr<1>, %x: f32, %y: f32) attributes {gpu.kernel} {
    %signed = llvm.fptosi %x : f32 to i1
    %unsigned = llvm.fptoui %y : f32 to i1
    %z = llvm.select %signed, %x, %y : i1, f32
    %w = llvm.select %unsigned, %z, %y : i1, f32
    llvm.store %w, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
}
