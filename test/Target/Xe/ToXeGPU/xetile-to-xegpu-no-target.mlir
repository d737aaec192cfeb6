// RUN: not xetile-opt %s --convert-xetile-to-xegpu 2>&1 | FileCheck %s

// CHECK: error: 'xetile.prefetch_tile' op needs a target: attach one to the gpu.module (xevm-attach-target) or give the option chip=
func.func @no_target(%A: memref<64x64xf32>) {
  %t = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
  xetile.prefetch_tile %t locality<3> : !xetile.tile<8x16xf32>
  return
}
