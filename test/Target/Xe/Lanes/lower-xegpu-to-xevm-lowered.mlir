// Device code that is lowered already is refused by the levels above it.
// RUN: xetile-opt %s --xetile-lower-xegpu-to-xevm="xegpu-op-level=instruction" --verify-diagnostics
// RUN: xetile-opt %s --xetile-lower-xegpu-to-xevm="xegpu-op-level=workgroup" --verify-diagnostics

gpu.module @device {
  // expected-error @below {{'llvm.func' op is left in device code: expected gpu.func before the lowering; xegpu-op-level=lane and xetile-lower-xevm-to-binary take device code that is lowered already}}
  llvm.func spir_kernelcc @k() attributes {gpu.kernel} {
    llvm.return
  }
}
