// Addresses that are the same but for a constant add it to one sum; others stay as they are.
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t" -o /dev/null
// RUN: cat %t/shared.ll | FileCheck %s --check-prefix=SHARED
// RUN: cat %t/apart.ll | FileCheck %s --check-prefix=APART
// RUN: cat %t/ordered.ll | FileCheck %s --check-prefix=ORDERED

// Lanes and rows have no common bits, so that LLVM writes their sum as `or`.
// SHARED-LABEL: @shared(
// SHARED-NOT: or disjoint
// SHARED: add i64
// SHARED: inttoptr i64 %[[SUM:[0-9]+]] to
// SHARED: %[[NEXT:.*]] = add i64 %[[SUM]], 512
// SHARED: inttoptr i64 %[[NEXT]]
// SHARED-NOT: or disjoint
gpu.module @m0 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @lane() -> i32
  llvm.func spir_kernelcc @shared(%base: i64) attributes {gpu.kernel} {
    %seven = llvm.mlir.constant(7 : i32) : i32
    %one = llvm.mlir.constant(1 : i64) : i64
    %two = llvm.mlir.constant(2 : i64) : i64
    %row = llvm.mlir.constant(128 : i64) : i64
    %l = llvm.call spir_funccc @lane() : () -> i32
    %few = llvm.and %l, %seven : i32
    %wide = llvm.zext %few : i32 to i64
    %pairs = llvm.shl %wide, %one : i64
    %first = llvm.shl %pairs, %two : i64
    %second_element = llvm.add %pairs, %row : i64
    %second = llvm.shl %second_element, %two : i64
    %a = llvm.add %base, %first : i64
    %b = llvm.add %base, %second : i64
    %p = llvm.inttoptr %a : i64 to !llvm.ptr<1>
    %q = llvm.inttoptr %b : i64 to !llvm.ptr<1>
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.store %v, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}

// APART-LABEL: @apart(
// APART: add i64 %{{.*}}, %0
// APART: add i64 %{{.*}}, %1
gpu.module @m1 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @lane() -> i64
  llvm.func spir_kernelcc @apart(%x: i64, %y: i64) attributes {gpu.kernel} {
    %l = llvm.call spir_funccc @lane() : () -> i64
    %a = llvm.add %x, %l : i64
    %b = llvm.add %y, %l : i64
    %p = llvm.inttoptr %a : i64 to !llvm.ptr<1>
    %q = llvm.inttoptr %b : i64 to !llvm.ptr<1>
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.store %v, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}

// What all lanes share is added first, as one number.
// ORDERED-LABEL: @ordered(
// ORDERED: %[[LANE:.*]] = tail call spir_func i64 @lane()
// ORDERED: %[[GROUP:.*]] = tail call spir_func i64 @_Z12get_group_idj(i32 0)
// ORDERED: %[[SUM:.*]] = add i64 %0, %[[GROUP]]
// ORDERED: add i64 %[[SUM]], %[[LANE]]
gpu.module @m2 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @lane() -> i64
  llvm.func spir_funccc @_Z12get_group_idj(i32) -> i64
  llvm.func spir_kernelcc @ordered(%base: i64) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %row = llvm.mlir.constant(512 : i64) : i64
    %l = llvm.call spir_funccc @lane() : () -> i64
    %g = llvm.call spir_funccc @_Z12get_group_idj(%zero) : (i32) -> i64
    %down = llvm.add %l, %g : i64
    %a = llvm.add %down, %base : i64
    %b = llvm.add %a, %row : i64
    %p = llvm.inttoptr %a : i64 to !llvm.ptr<1>
    %q = llvm.inttoptr %b : i64 to !llvm.ptr<1>
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.store %v, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}
