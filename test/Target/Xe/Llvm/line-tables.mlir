// Kernels with debug scopes name the lines of their operations; the code is the same as without.
// RUN: rm -rf %t
// RUN: xetile-opt %s --ensure-debug-info-scope-on-llvm-func --xetile-emit-binary="native=off dump-dir=%t/on" -o /dev/null
// RUN: spirv-val %t/on/k.spv && spirv-dis --raw-id %t/on/k.spv | FileCheck %s
// RUN: xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t/off" -o /dev/null
// RUN: spirv-dis --raw-id %t/off/k.spv | FileCheck %s --check-prefix=OFF
// RUN: xetile-opt %s --xetile-lower-xevm-to-binary="native=off line-tables dump-dir=%t/pipeline" -o /dev/null
// RUN: cmp %t/on/k.spv %t/pipeline/k.spv

// OFF-NOT: OpLine
// OFF-NOT: DebugInfo
// CHECK: %[[SET:.*]] = OpExtInstImport "OpenCL.DebugInfo.100"
// CHECK: %[[FILE:.*]] = OpString "line-tables.mlir"
// CHECK: %[[NAME:.*]] = OpString "k"
// CHECK-NOT: __xetile_line
// CHECK: DebugSource %[[FILE]]
// CHECK: %[[SCOPE:.*]] = OpExtInst {{.*}} DebugFunction %[[NAME]]
// CHECK-NOT: DebugFunction
gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z12get_local_idj(i32) -> i64
  llvm.func spir_kernelcc @k(%data: !llvm.ptr<1>) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    // CHECK: OpLabel
    // CHECK-NEXT: OpExtInst {{.*}} DebugScope %[[SCOPE]]
    // CHECK-NEXT: OpLine %[[FILE]] [[#@LINE+1]] 0
    %id = llvm.call spir_funccc @_Z12get_local_idj(%zero) : (i32) -> i64
    // CHECK: OpLine %[[FILE]] [[#@LINE+1]] 0
    %place = llvm.getelementptr %data[%id] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    // CHECK: OpLine %[[FILE]] [[#@LINE+2]] 0
    // CHECK-NEXT: OpLoad
    %x = llvm.load %place : !llvm.ptr<1> -> f32
    // CHECK: OpLine %[[FILE]] [[#@LINE+2]] 0
    // CHECK-NEXT: OpFAdd
    %y = llvm.fadd %x, %x : f32
    // CHECK: OpLine %[[FILE]] [[#@LINE+2]] 0
    // CHECK-NEXT: OpStore
    llvm.store %y, %place : f32, !llvm.ptr<1>
    // An operation of no file has none.
    // CHECK: OpNoLine
    // CHECK-NEXT: OpReturn
    llvm.return loc(unknown)
  }
}
