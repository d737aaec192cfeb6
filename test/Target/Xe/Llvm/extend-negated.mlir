// In a loop a number that is extended with its negative is extended once, as long as registers are few.
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t" -o /dev/null
// RUN: FileCheck %s < %t/both.ll

gpu.module @m [#xevm.target<chip = "pvc">] {
  // CHECK-LABEL: @both(
  // CHECK: %[[WIDE:.*]] = fpext <16 x half> %{{.*}} to <16 x float>
  // CHECK: fneg <16 x float> %[[WIDE]]
  // CHECK-NOT: fpext
  // CHECK: ret void
  llvm.func spir_kernelcc @both(%x: !llvm.ptr<1>, %p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %last: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^turn(%zero : i32)
  ^turn(%i: i32):
    %at = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<16xf16>
    %number = llvm.load %at : !llvm.ptr<1> -> vector<16xf16>
    %n = llvm.fneg %number : vector<16xf16>
    %negated = llvm.fpext %n : vector<16xf16> to vector<16xf32>
    %wide = llvm.fpext %number : vector<16xf16> to vector<16xf32>
    llvm.store volatile %negated, %p : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %wide, %q : vector<16xf32>, !llvm.ptr<1>
    %next = llvm.add %i, %one : i32
    %goes = llvm.icmp "ult" %next, %last : i32
    llvm.cond_br %goes, ^turn(%next : i32), ^end
  ^end:
    llvm.return
  }
  // The number itself is not extended: its negative is made by what extends it.
  // CHECK-LABEL: @alone(
  // CHECK: fneg <16 x half>
  // CHECK: fpext
  llvm.func spir_kernelcc @alone(%x: !llvm.ptr<1>, %p: !llvm.ptr<1>, %last: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^turn(%zero : i32)
  ^turn(%i: i32):
    %at = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<16xf16>
    %number = llvm.load %at : !llvm.ptr<1> -> vector<16xf16>
    %n = llvm.fneg %number : vector<16xf16>
    %negated = llvm.fpext %n : vector<16xf16> to vector<16xf32>
    llvm.store volatile %negated, %p : vector<16xf32>, !llvm.ptr<1>
    %next = llvm.add %i, %one : i32
    %goes = llvm.icmp "ult" %next, %last : i32
    llvm.cond_br %goes, ^turn(%next : i32), ^end
  ^end:
    llvm.return
  }
  // Of 48 registers all would wait for their second reader.
  // CHECK-LABEL: @many(
  // CHECK-COUNT-6: fpext
  llvm.func spir_kernelcc @many(%x: !llvm.ptr<1>, %p: !llvm.ptr<1>, %last: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^turn(%zero : i32)
  ^turn(%i: i32):
    %at = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<16xf16>
    %a = llvm.load volatile %at : !llvm.ptr<1> -> vector<16xf16>
    %b = llvm.load volatile %at : !llvm.ptr<1> -> vector<16xf16>
    %c = llvm.load volatile %at : !llvm.ptr<1> -> vector<16xf16>
    %na = llvm.fneg %a : vector<16xf16>
    %nb = llvm.fneg %b : vector<16xf16>
    %nc = llvm.fneg %c : vector<16xf16>
    %wa = llvm.fpext %a : vector<16xf16> to vector<16xf32>
    %wb = llvm.fpext %b : vector<16xf16> to vector<16xf32>
    %wc = llvm.fpext %c : vector<16xf16> to vector<16xf32>
    %wna = llvm.fpext %na : vector<16xf16> to vector<16xf32>
    %wnb = llvm.fpext %nb : vector<16xf16> to vector<16xf32>
    %wnc = llvm.fpext %nc : vector<16xf16> to vector<16xf32>
    llvm.store volatile %wa, %p : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %wb, %p : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %wc, %p : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %wna, %p : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %wnb, %p : vector<16xf32>, !llvm.ptr<1>
    llvm.store volatile %wnc, %p : vector<16xf32>, !llvm.ptr<1>
    %next = llvm.add %i, %one : i32
    %goes = llvm.icmp "ult" %next, %last : i32
    llvm.cond_br %goes, ^turn(%next : i32), ^end
  ^end:
    llvm.return
  }
  // What is computed once is not worth registers.
  // CHECK-LABEL: @once(
  // CHECK-COUNT-2: fpext
  llvm.func spir_kernelcc @once(%number: vector<16xf16>, %p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {gpu.kernel} {
    %n = llvm.fneg %number : vector<16xf16>
    %negated = llvm.fpext %n : vector<16xf16> to vector<16xf32>
    %wide = llvm.fpext %number : vector<16xf16> to vector<16xf32>
    llvm.store %negated, %p : vector<16xf32>, !llvm.ptr<1>
    llvm.store %wide, %q : vector<16xf32>, !llvm.ptr<1>
    llvm.return
  }
}
