// Loops count in 32 bits and end by an unequal compare where that is right, and stay as they are elsewhere.
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off prefetch-payloads=false dump-dir=%t" -o /dev/null
// RUN: cat %t/divides.ll | FileCheck %s --check-prefix=DIVIDES
// RUN: cat %t/rest.ll | FileCheck %s --check-prefix=REST
// RUN: cat %t/run_time.ll | FileCheck %s --check-prefix=GIVEN
// RUN: cat %t/long.ll | FileCheck %s --check-prefix=LONG
// RUN: cat %t/address.ll | FileCheck %s --check-prefix=ADDRESS
// RUN: cat %t/wraps.ll | FileCheck %s --check-prefix=WRAPS
// RUN: cat %t/fits.ll | FileCheck %s --check-prefix=FITS

// DIVIDES-LABEL: @divides(
// DIVIDES: %[[K:.*]] = phi i32 [ 0, %{{.*}} ], [ %[[NEXT:.*]], %{{.*}} ]
// DIVIDES-NOT: i64
// DIVIDES: %[[NEXT]] = add i32 %[[K]], 32
// DIVIDES: %[[MORE:.*]] = icmp ne i32 %[[NEXT]], 4096
// DIVIDES-NEXT: br i1 %[[MORE]]
gpu.module @m0 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @use(i32)
  llvm.func spir_kernelcc @divides() attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(32 : i64) : i64
    %end = llvm.mlir.constant(4096 : i64) : i64
    llvm.br ^head(%zero : i64)
  ^head(%k: i64):
    %more = llvm.icmp "slt" %k, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %short = llvm.trunc %k : i64 to i32
    llvm.call spir_funccc @use(%short) : (i32) -> ()
    %next = llvm.add %k, %step : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}

// The value behind the last step is no multiple of the bound.
// REST-LABEL: @rest(
// REST: %[[NEXT:.*]] = add i32 %{{.*}}, 32
// REST: icmp ne i32 %[[NEXT]], 4096
gpu.module @m1 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @use(i32)
  llvm.func spir_kernelcc @rest() attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(32 : i64) : i64
    %end = llvm.mlir.constant(4072 : i64) : i64
    %ahead = llvm.mlir.constant(96 : i64) : i64
    llvm.br ^head(%zero : i64)
  ^head(%k: i64):
    %more = llvm.icmp "slt" %k, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %far = llvm.add %k, %ahead : i64
    %short = llvm.trunc %far : i64 to i32
    llvm.call spir_funccc @use(%short) : (i32) -> ()
    %next = llvm.add %k, %step : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}

// A bound of 32 bits that the run knows: no step before the loop, if it is 0.
// GIVEN-LABEL: @run_time(
// GIVEN: icmp sgt i32 %{{.*}}, 0
// GIVEN-NEXT: br i1
// GIVEN: phi i32
// GIVEN: %[[NEXT:.*]] = add i32
// GIVEN: icmp ne i32 %[[NEXT]], %{{.*}}
gpu.module @m3 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @use(i32)
  llvm.func spir_kernelcc @run_time(%n: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(32 : i64) : i64
    %end = llvm.sext %n : i32 to i64
    llvm.br ^head(%zero : i64)
  ^head(%k: i64):
    %more = llvm.icmp "slt" %k, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %short = llvm.trunc %k : i64 to i32
    llvm.call spir_funccc @use(%short) : (i32) -> ()
    %next = llvm.add %k, %step overflow<nsw> : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}

// Of 64 bits: two steps may have the same low half.
// LONG-LABEL: @long(
// LONG: phi i64
// LONG: %[[NEXT:.*]] = add {{.*}}i64 %{{.*}}, 1
// LONG: icmp ne i64 %[[NEXT]], %{{.*}}
gpu.module @m4 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @use(i32)
  llvm.func spir_kernelcc @long(%end: i64) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(1 : i64) : i64
    llvm.br ^head(%zero : i64)
  ^head(%k: i64):
    %more = llvm.icmp "slt" %k, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %short = llvm.trunc %k : i64 to i32
    llvm.call spir_funccc @use(%short) : (i32) -> ()
    %next = llvm.add %k, %step overflow<nsw> : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}

// All of its bits are wanted.
// ADDRESS-LABEL: @address(
// ADDRESS: %[[K:.*]] = phi i64
// ADDRESS: %[[NEXT:.*]] = add {{.*}}i64 %[[K]], 32
// ADDRESS: icmp ne i64 %[[NEXT]], 4096
gpu.module @m5 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @use(i32)
  llvm.func spir_kernelcc @address(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(32 : i64) : i64
    %end = llvm.mlir.constant(4096 : i64) : i64
    llvm.br ^head(%zero : i64)
  ^head(%k: i64):
    %more = llvm.icmp "slt" %k, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %place = llvm.getelementptr %p[%k] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %value = llvm.load %place : !llvm.ptr<1> -> i32
    llvm.call spir_funccc @use(%value) : (i32) -> ()
    %next = llvm.add %k, %step : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}

// Steps of 2 have the same low half after 2^31 of them: 2^32 - 2 steps are more, though 32 bits count them.
// WRAPS-LABEL: @wraps(
// WRAPS: phi i64
// WRAPS: icmp ne i64
gpu.module @m6 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @use(i32)
  llvm.func spir_kernelcc @wraps() attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(2 : i64) : i64
    %end = llvm.mlir.constant(8589934588 : i64) : i64
    llvm.br ^head(%zero : i64)
  ^head(%k: i64):
    %more = llvm.icmp "slt" %k, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %short = llvm.trunc %k : i64 to i32
    llvm.call spir_funccc @use(%short) : (i32) -> ()
    %next = llvm.add %k, %step : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}

// 2^31 - 2 of them are not.
// FITS-LABEL: @fits(
// FITS: phi i32
// FITS: icmp ne i32
gpu.module @m7 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @use(i32)
  llvm.func spir_kernelcc @fits() attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %step = llvm.mlir.constant(2 : i64) : i64
    %end = llvm.mlir.constant(4294967292 : i64) : i64
    llvm.br ^head(%zero : i64)
  ^head(%k: i64):
    %more = llvm.icmp "slt" %k, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %short = llvm.trunc %k : i64 to i32
    llvm.call spir_funccc @use(%short) : (i32) -> ()
    %next = llvm.add %k, %step : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}
