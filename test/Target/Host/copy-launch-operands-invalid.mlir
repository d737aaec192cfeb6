// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-copy-launch-operands

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @k(%a: memref<64xf32>) kernel {
      gpu.return
    }
  }
  func.func @asynchronous(%a: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %t = gpu.wait async
    // expected-error @below {{is asynchronous and takes host memory, expected a synchronous launch or operands from gpu.alloc}}
    %u = gpu.launch_func async [%t] @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64xf32>)
    gpu.wait [%u]
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @k(%a: memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>) kernel {
      gpu.return
    }
  }
  func.func @not_strided(%a: memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{operand #0 of the kernel is a view of 'memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>', expected a strided memref}}
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @k(%a: memref<64xf32>, %b: memref<64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %a[%c0] : memref<64xf32>
      memref.store %v, %b[%c0] : memref<64xf32>
      gpu.return
    }
  }
  func.func @reinterpreted(%m: memref<8x16xf32>) {
    %c1 = arith.constant 1 : index
    %a = memref.reinterpret_cast %m to offset: [0], sizes: [64], strides: [1]
        : memref<8x16xf32> to memref<64xf32>
    %b = memref.reinterpret_cast %m to offset: [0], sizes: [64], strides: [1]
        : memref<8x16xf32> to memref<64xf32>
    // expected-error @below {{writes to 'memref<64xf32>', one of several memref.reinterpret_casts of a buffer}}
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64xf32>, %b : memref<64xf32>)
    return
  }
}

// -----

// expected-note @below {{the memory, which is xetile.on_device}}
func.func @read_on_the_host(%w: memref<8xf32> {xetile.on_device}) -> f32 {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'memref.load' op reads or writes memory of the device on the host, expected launches and copies only}}
  %v = memref.load %w[%c0] : memref<8xf32>
  return %v : f32
}
