// REQUIRES: ocloc
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=require native-chips=pvc,bmg,lnl dump-dir=%t" \
// RUN:   | FileCheck %s
// RUN: xetile-opt %s --xetile-emit-binary="large-register-file" | FileCheck %s --check-prefix=LARGE
// RUN: od -An -c -N4 %t/k.pvc.bin | FileCheck %s --check-prefix=ELF

// The SPIR-V stays the first object.
// CHECK: gpu.binary @kernels [#gpu.object<#xevm.target<chip = "pvc">, bin = "\03\02#\07
// CHECK-SAME: properties = {chip = "pvc", kind = "native", registers = 128 : i64, spill = 0 : i64}, bin = "\7FELF
// CHECK-SAME: properties = {chip = "bmg", kind = "native", registers = 128 : i64, spill = 0 : i64}, bin = "\7FELF
// CHECK-SAME: properties = {chip = "lnl", kind = "native", registers = 128 : i64, spill = 0 : i64}, bin = "\7FELF
// LARGE: properties = {chip = "pvc", kind = "native", registers = 256 : i64
// ELF: 177 E L F

gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%data: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.load %data : !llvm.ptr<1> -> f32
    %y = llvm.fadd %x, %x : f32
    llvm.store %y, %data : f32, !llvm.ptr<1>
    llvm.return
  }
}
