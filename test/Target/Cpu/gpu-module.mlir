// A CPU's lowering takes no kernels of GPUs: it would convert a part of them.
// RUN: xetile-opt %s --xetile-lower-to-cpu --verify-diagnostics

module attributes {gpu.container_module} {
  // expected-error @below {{'gpu.module' op is left in host code: expected code for the CPU only, remove it}}
  gpu.module @kernels {
    // expected-note @below {{it holds gpu.func}}
    gpu.func @k(%a: memref<8xf32>) kernel {
      %c0 = arith.constant 0 : index
      // expected-note @below {{it holds memref.load}}
      %x = memref.load %a[%c0] : memref<8xf32>
      // expected-note @below {{it holds memref.store}}
      memref.store %x, %a[%c0] : memref<8xf32>
      gpu.return
    }
  }
  func.func @f(%a: memref<8xf32>) {
    return
  }
}
