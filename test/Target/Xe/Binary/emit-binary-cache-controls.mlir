// REQUIRES: ocloc
// Prefetches of different locality are different messages of the machine code where that is asked for.
// RUN: rm -rf %t && mkdir -p %t/on %t/off
// RUN: env IGC_ShaderDumpEnable=1 IGC_DumpToCustomDir=%t/on xetile-opt %s \
// RUN:   --xetile-lower-to-binary="chip=pvc native=require cache-controls dump-dir=%t/on/spirv" -o /dev/null
// RUN: env IGC_ShaderDumpEnable=1 IGC_DumpToCustomDir=%t/off xetile-opt %s \
// RUN:   --xetile-lower-to-binary="chip=pvc native=require dump-dir=%t/off/spirv" -o /dev/null
// RUN: cat %t/on/*.asm | FileCheck %s --check-prefix=ON
// RUN: cat %t/off/*.asm | FileCheck %s --check-prefix=OFF
// The SPIR-V of the kernel is what every validator knows.
// RUN: cmp %t/on/spirv/localities.spv %t/off/spirv/localities.spv

// ON-DAG: load_block2d.ugm.d32.a64.ca.ca {{.*}} null:0
// ON-DAG: load_block2d.ugm.d32.a64.ri.ca {{.*}} null:0
// OFF-NOT: load_block2d.ugm.d32.a64.ri.ca
gpu.module @kernels {
  gpu.func @localities(%A: memref<64x64xf32>, %B: memref<64x64xf32>) kernel {
    %near = xetile.init_tile %A[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
    xetile.prefetch_tile %near locality<3> : !xetile.tile<8x16xf32>
    %far = xetile.init_tile %A[32, 16] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
    xetile.prefetch_tile %far locality<0> : !xetile.tile<8x16xf32>
    %from = xetile.init_tile %A[8, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
    %v = xetile.load_tile %from : !xetile.tile<8x16xf32> -> vector<8x16xf32>
    %to = xetile.init_tile %B[0, 0] : memref<64x64xf32> -> !xetile.tile<8x16xf32>
    xetile.store_tile %v, %to : vector<8x16xf32>, !xetile.tile<8x16xf32>
    gpu.return
  }
}
