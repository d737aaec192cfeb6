// Loops of one block keep their shape in the machine code: unrolling is the schedule's choice.
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t" -o /dev/null
// RUN: spirv-dis %t/k.spv | FileCheck %s
// CHECK:      OpBranch %[[LOOP:[0-9]+]]
// CHECK-NEXT: %[[LOOP]] = OpLabel
// CHECK:      OpLoopMerge %[[EXIT:[0-9]+]] %[[LOOP]] DontUnroll
// CHECK-NEXT: OpBranchConditional %{{[0-9]+}} {{.*}}%[[LOOP]]
// CHECK-NEXT: %[[EXIT]] = OpLabel
// CHECK-NOT:  OpLoopMerge

gpu.module @loops [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %n = llvm.mlir.constant(100 : i64) : i64
    %start = llvm.load %q : !llvm.ptr<1> -> f32
    llvm.br ^loop(%zero, %start : i64, f32)
  ^loop(%i: i64, %sum: f32):
    %address = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x = llvm.load %address : !llvm.ptr<1> -> f32
    %next = llvm.fadd %sum, %x : f32
    %j = llvm.add %i, %one : i64
    %done = llvm.icmp "eq" %j, %n : i64
    llvm.cond_br %done, ^exit, ^loop(%j, %next : i64, f32)
  ^exit:
    llvm.store %next, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}
