// Level 6 with its host: a gpu.binary, the runtime's calls, nothing that is not LLVM dialect.
//
// RUN: rm -rf %t && xetile-opt %s --xetile-lower-xegpu-to-binary="native=off dump-dir=%t" | FileCheck %s
// RUN: spirv-val %t/copy.spv
// RUN: xetile-opt %s --xetile-lower-xegpu-to-binary="native=off copy-operands=false" \
// RUN:   | FileCheck %s --check-prefix=NO-COPIES

// CHECK: gpu.binary @device [#gpu.object<#xevm.target<chip = "pvc">, bin =
// CHECK-LABEL: llvm.func @host
// CHECK-COUNT-2: llvm.call @mgpuMemAlloc
// CHECK: gpu.launch_func <%{{.*}} : !llvm.ptr> @device::@copy
// CHECK: llvm.call @mgpuMemcpy
// CHECK-NOT: llvm.call @mgpuMemcpy
// CHECK-COUNT-2: llvm.call @mgpuMemFree
// CHECK: llvm.call @mgpuStreamSynchronize
// CHECK-NOT: unrealized_conversion_cast
// NO-COPIES-NOT: mgpuMemcpy
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @copy(%a: memref<64x64xf32>, %b: memref<64x64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
      %tb = xegpu.create_nd_tdesc %b : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
      %v = xegpu.load_nd %ta[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
      xegpu.store_nd %v, %tb[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      gpu.return
    }
  }
  func.func @host(%a: memref<64x64xf32>, %b: memref<64x64xf32>) {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func @device::@copy blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%a : memref<64x64xf32>, %b : memref<64x64xf32>)
    return
  }
}
