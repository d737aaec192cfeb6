// Memory that host and device share: no copies, the host sees the kernel's result after the launch.
//
// RUN: xetile-opt %s --xetile-lower-xegpu-to-binary="xegpu-op-level=lane native=off" \
// RUN:   | mlir-runner --entry-point-result=void --shared-libs=%runtime \
// RUN:       --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so | FileCheck %s
// REQUIRES: opencl
//
// CHECK: {{^}}6{{$}}

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @k(%b: memref<16xf32>) kernel {
      %j = gpu.thread_id x
      %x = memref.load %b[%j] : memref<16xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %b[%j] : memref<16xf32>
      gpu.return
    }
  }
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %v = arith.constant 3.0 : f32
    %a = gpu.alloc host_shared () : memref<16xf32>
    memref.store %v, %a[%c1] : memref<16xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1) args(%a : memref<16xf32>)
    %w = memref.load %a[%c1] : memref<16xf32>
    call @printF32(%w) : (f32) -> ()
    gpu.dealloc %a : memref<16xf32>
    return
  }
  func.func private @printF32(f32)
}
