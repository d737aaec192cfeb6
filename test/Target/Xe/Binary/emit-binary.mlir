// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t" | FileCheck %s
// RUN: spirv-val %t/scale.spv
// RUN: spirv-dis %t/scale.spv | FileCheck %s --check-prefix=SPIRV
// RUN: FileCheck %s --check-prefix=LLVM --input-file=%t/scale.ll

// One object, the SPIR-V: its magic number is 0x07230203.
// CHECK-NOT: gpu.module
// CHECK: gpu.binary @kernels [#gpu.object<#xevm.target<chip = "pvc">, bin = "\03\02#\07
// CHECK-NOT: native

// SPIRV: ; Version: 1.4
// SPIRV-NOT: OpExtension
// SPIRV: OpEntryPoint Kernel %{{.*}} "scale"
// SPIRV: OpExecutionMode %{{.*}} SubgroupSize 16
// SPIRV-NOT: OpTypeVector %{{.*}} 32

// Nothing is unrolled or vectorized.
// LLVM-LABEL: define spir_kernel void @scale({{.*}} !intel_reqd_sub_group_size
// LLVM: load float
// LLVM: fmul float
// LLVM-NOT: fmul

gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @scale(%data: !llvm.ptr<1>, %n: i64) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %two = llvm.mlir.constant(2.0 : f32) : f32
    llvm.br ^loop(%zero : i64)
  ^loop(%i: i64):
    %address = llvm.getelementptr %data[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.load %address : !llvm.ptr<1> -> f32
    %y = llvm.fmul %x, %two : f32
    llvm.store %y, %address : f32, !llvm.ptr<1>
    %next = llvm.add %i, %one : i64
    %more = llvm.icmp "slt" %next, %n : i64
    llvm.cond_br %more, ^loop(%next : i64), ^done
  ^done:
    llvm.return
  }
}
