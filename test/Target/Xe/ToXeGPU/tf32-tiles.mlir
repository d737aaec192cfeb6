// RUN: xetile-opt %s --xetile-blocking="chip=pvc" --canonicalize | FileCheck %s --check-prefix=BLOCKED
// RUN: xetile-opt %s --convert-xetile-to-xegpu="chip=pvc" --canonicalize | FileCheck %s
// RUN: not xetile-opt %s --pass-pipeline='builtin.module(xetile-lower-to-binary{chip=pvc native=off})' 2>&1 | FileCheck %s --check-prefix=BINARY

// An element of tf32 takes 32 bits of memory: a dpas has 8 of k.
// BLOCKED: xetile.tile_mma {{.*}} : vector<4x4x8x8xtf32>, vector<4x2x8x16xtf32> -> vector<4x2x8x16xf32>
// CHECK: xegpu.load_nd {{.*}} !xegpu.tensor_desc<32x16xtf32> -> vector<32x16xtf32>
// CHECK: xegpu.dpas {{.*}} : vector<8x8xtf32>, vector<8x16xtf32>
// In memory it is f32.
// BINARY: error: 'gpu.func' op has a value of type 'memref<64x64xtf32>', but LLVM has no tf32: expected f32, which products round to tf32
module attributes {gpu.container_module} {
gpu.module @device {
  gpu.func @multiply(%a: memref<64x64xtf32>, %b: memref<64x64xtf32>, %c: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %ta = xetile.init_tile %a[0, 0] : memref<64x64xtf32> -> !xetile.tile<32x32xtf32>
    %tb = xetile.init_tile %b[0, 0] : memref<64x64xtf32> -> !xetile.tile<32x32xtf32>
    %tc = xetile.init_tile %c[0, 0] : memref<64x64xf32> -> !xetile.tile<32x32xf32>
    %va = xetile.load_tile %ta : !xetile.tile<32x32xtf32> -> vector<32x32xtf32>
    %vb = xetile.load_tile %tb : !xetile.tile<32x32xtf32> -> vector<32x32xtf32>
    %d = xetile.tile_mma %va, %vb : vector<32x32xtf32>, vector<32x32xtf32> -> vector<32x32xf32>
    xetile.store_tile %d, %tc : vector<32x32xf32>, !xetile.tile<32x32xf32>
    gpu.return
  }
}
}
