// Loads of tiles that are marked leave the first-level cache to others; the mark is gone.
// RUN: xetile-opt %s --xetile-stream-tiles | FileCheck %s

// CHECK-NOT: xetile.streamed
llvm.func @f(%p: !llvm.ptr, %s: i64, %r: i16, %c: i16) {
  // CHECK: llvm.call_intrinsic "llvm.x86.tileloaddt164.internal"
  %a = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%r, %c, %p, %s) {xetile.streamed} : (i16, i16, !llvm.ptr, i64) -> !llvm.x86_amx
  // CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64.internal"
  %b = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%r, %c, %p, %s) : (i16, i16, !llvm.ptr, i64) -> !llvm.x86_amx
  llvm.return
}
