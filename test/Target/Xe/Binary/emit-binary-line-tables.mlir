// Machine code names the lines of operations in .debug_line, which LLVM's reader takes; its instructions are the same.
// REQUIRES: ocloc
// RUN: rm -rf %t
// RUN: xetile-opt %s --ensure-debug-info-scope-on-llvm-func --xetile-emit-binary="native=require dump-dir=%t" -o /dev/null
// RUN: llvm-dwarfdump --debug-line %t/k.pvc.bin 2> %t/warnings | FileCheck %s

// CHECK: name: "emit-binary-line-tables.mlir"
// CHECK: Address
gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%data: !llvm.ptr<1>) attributes {gpu.kernel} {
    // CHECK-DAG: {{^}}0x{{[0-9a-f]+}} [[#@LINE+1]] 0
    %x = llvm.load %data : !llvm.ptr<1> -> f32
    // CHECK-DAG: {{^}}0x{{[0-9a-f]+}} [[#@LINE+1]] 0
    %y = llvm.fadd %x, %x : f32
    // CHECK-DAG: {{^}}0x{{[0-9a-f]+}} [[#@LINE+1]] 0
    llvm.store %y, %data : f32, !llvm.ptr<1>
    llvm.return
  }
}
