// RUN: rm -rf %t && xetile-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(xetile-lower-xevm-to-binary{native=off dump-dir=%t})' -o %t.mlir
// RUN: FileCheck %s --check-prefix=COMPARE < %t/compare.ll
// RUN: FileCheck %s --check-prefix=MEMORY < %t/memory.ll
// RUN: FileCheck %s --check-prefix=MASK < %t/mask.ll
// RUN: FileCheck %s --check-prefix=TABLE < %t/table.ll

// The backend leaves what is above the three bits as it comes.
// COMPARE: %[[SUM:.*]] = add i8 %{{.*}}, 3
// COMPARE: %[[BITS:.*]] = and i8 %[[SUM]], 7
// COMPARE: icmp ult i8 %[[BITS]], 2
module attributes {gpu.container_module} {
gpu.module @device [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @compare(%p: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel} {
    %bits = llvm.trunc %n : i32 to i3
    %three = llvm.mlir.constant(3 : i3) : i3
    %sum = llvm.add %bits, %three : i3
    %two = llvm.mlir.constant(2 : i3) : i3
    %less = llvm.icmp "ult" %sum, %two : i3
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %x = llvm.select %less, %one, %zero : i1, f32
    llvm.store %x, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
}

// -----

// Three bytes are three bytes: the fourth is another's.
// MEMORY-DAG: load i16, ptr addrspace(1) %{{.*}}, align 1
// MEMORY-DAG: load i8, ptr addrspace(1) %{{.*}}, align 1
// MEMORY-DAG: store i16 %{{.*}}, ptr addrspace(1) %{{.*}}, align 1
// MEMORY-DAG: store i8 %{{.*}}, ptr addrspace(1) %{{.*}}, align 1
// MEMORY-NOT: i24
module attributes {gpu.container_module} {
gpu.module @device [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @memory(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.load %p {alignment = 1 : i64} : !llvm.ptr<1> -> i24
    %one = llvm.mlir.constant(1 : i24) : i24
    %y = llvm.add %x, %one : i24
    llvm.store %y, %q {alignment = 1 : i64} : i24, !llvm.ptr<1>
    llvm.return
  }
}
}

// -----

// Booleans have no size in SPIR-V.
// MASK: extractelement <8 x i1>
// MASK-NOT: {{bitcast|store .*i1}}
// MASK: store i8
// MASK-NOT: {{bitcast|load i1|store .*i1}}
// MASK: load i8
// MASK-NOT: {{bitcast|load i1|store .*i1}}
// MASK: store i8
// MASK-NOT: {{bitcast|load i1|store .*i1}}
module attributes {gpu.container_module} {
gpu.module @device [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @mask(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>, %n: vector<8xi32>) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(dense<0> : vector<8xi32>) : vector<8xi32>
    %mask = llvm.icmp "sgt" %n, %zero : vector<8xi32>
    %bits = llvm.bitcast %mask : vector<8xi1> to i8
    llvm.store %bits, %p : i8, !llvm.ptr<1>
    %bit = llvm.load %q : !llvm.ptr<1> -> i1
    %true = llvm.mlir.constant(true) : i1
    %other = llvm.xor %bit, %true : i1
    llvm.store %other, %r : i1, !llvm.ptr<1>
    llvm.return
  }
}
}

// -----

// TABLE: switch i64 %{{.*}}, label
// TABLE: phi i64
// TABLE-NOT: i48
module attributes {gpu.container_module} {
gpu.module @device [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @table(%p: !llvm.ptr<1>, %n: i64) attributes {gpu.kernel} {
    %bits = llvm.trunc %n : i64 to i48
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.switch %bits : i48, ^last(%bits : i48) [
      5: ^first,
      -1: ^second
    ]
  ^first:
    llvm.store volatile %one, %p : i32, !llvm.ptr<1>
    llvm.br ^last(%bits : i48)
  ^second:
    %other = llvm.mlir.constant(-7 : i48) : i48
    llvm.br ^last(%other : i48)
  ^last(%x: i48):
    %wide = llvm.sext %x : i48 to i64
    llvm.store %wide, %p : i64, !llvm.ptr<1>
    llvm.return
  }
}
}

// -----

module attributes {gpu.container_module} {
// expected-error@+1 {{cannot be prepared for SPIR-V: 'wider': zext uses i128; SPIR-V has integers of 1, 8, 16, 32 and 64 bits}}
gpu.module @device [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @wider(%p: !llvm.ptr<1>, %n: i64) attributes {gpu.kernel} {
    %x = llvm.zext %n : i64 to i128
    %y = llvm.mul %x, %x : i128
    llvm.store %y, %p : i128, !llvm.ptr<1>
    llvm.return
  }
}
}

// -----

module attributes {gpu.container_module} {
// expected-error@+1 {{cannot be prepared for SPIR-V: 'signature': its signature uses i24; SPIR-V has integers of 1, 8, 16, 32 and 64 bits}}
gpu.module @device [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @signature(%p: !llvm.ptr<1>, %n: i24) attributes {gpu.kernel} {
    llvm.store %n, %p : i24, !llvm.ptr<1>
    llvm.return
  }
}
}
