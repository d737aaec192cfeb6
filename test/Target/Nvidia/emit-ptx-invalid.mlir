// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-emit-ptx --split-input-file --verify-diagnostics

gpu.module @left {
  llvm.func @kernel(%x: i32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error@+1 {{is left in device code, expected the LLVM and NVVM dialects: lower it before xetile-emit-ptx}}
    %y = arith.addi %x, %x : i32
    llvm.return
  }
}

// -----

gpu.module @missing {
  // expected-error@+1 {{is called in device code and defined nowhere; expected its code in the module}}
  llvm.func @__nv_tanhf(f32) -> f32
  llvm.func @kernel(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    %y = llvm.call @__nv_tanhf(%x) : (f32) -> f32
    llvm.return
  }
}
