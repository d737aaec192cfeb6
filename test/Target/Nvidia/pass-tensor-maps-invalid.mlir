// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-pass-tensor-maps --split-input-file --verify-diagnostics

gpu.module @unused {
  // expected-error@+1 {{is a parameter that no kernel uses; expected one kernel}}
  llvm.mlir.global external @map() {xetile.tensor_map = {argument = 0 : i64, box = array<i64: 64, 128>}} : !llvm.array<128 x i8>
}

// -----

gpu.module @twice {
  llvm.mlir.global external @map() {xetile.tensor_map = {argument = 0 : i64, box = array<i64: 64, 128>}} : !llvm.array<128 x i8>
  llvm.func @first() {
    %0 = llvm.mlir.addressof @map : !llvm.ptr
    nvvm.prefetch tensormap, %0 : !llvm.ptr
    llvm.return
  }
  llvm.func @second() {
    // expected-error@+1 {{is a second function's that uses the parameter @map; expected one kernel}}
    %0 = llvm.mlir.addressof @map : !llvm.ptr
    nvvm.prefetch tensormap, %0 : !llvm.ptr
    llvm.return
  }
}

// -----

gpu.module @fields {
  // expected-error@+1 {{expected xetile.tensor_map to be a dictionary of argument and box}}
  llvm.mlir.global external @map() {xetile.tensor_map = {argument = 0 : i64}} : !llvm.array<128 x i8>
}
