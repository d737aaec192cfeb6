// A product of bytes of both signs keeps them through all that makes it anew: shares of subgroups, slices along k, blocks,
// XeGPU. There each dpas has both operands as si8 and says which is unsigned.
// RUN: xetile-opt %s --xetile-wg-to-sg | FileCheck %s --check-prefix=SHARES
// RUN: xetile-opt %s --xetile-wg-to-sg --xetile-blocking | FileCheck %s --check-prefix=BLOCKS
// RUN: xetile-opt %s --xetile-wg-to-sg --xetile-blocking --convert-xetile-to-xegpu | FileCheck %s --check-prefix=XEGPU

// SHARES: xetile.tile_mma {{.*}} {unsigned_b} : vector<32x2048xi8>, vector<2048x32xi8> -> vector<32x32xi32>
// SHARES-NOT: xetile.tile_mma
// More than one: what a subgroup multiplies does not fit the registers.
// BLOCKS-COUNT-16: xetile.tile_mma {{.*}} {unsigned_b} : vector<4x4x8x32xi8>
// BLOCKS-NOT: xetile.tile_mma
// XEGPU-COUNT-512: xegpu.dpas {{.*}} {xetile.unsigned_operand = "b"} : vector<8x32xsi8>, vector<32x16xsi8>
// XEGPU-NOT: xegpu.dpas
gpu.module @m [#xevm.target<chip = "pvc">] {
  gpu.func @f(%A: memref<64x2048xi8>, %B: memref<2048x64xi8>, %C: memref<64x64xi32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %ta = xetile.init_tile %A[0, 0] : memref<64x2048xi8> -> !xetile.tile<64x2048xi8>
    %tb = xetile.init_tile %B[0, 0] : memref<2048x64xi8> -> !xetile.tile<2048x64xi8>
    %tc = xetile.init_tile %C[0, 0] : memref<64x64xi32> -> !xetile.tile<64x64xi32>
    %a = xetile.load_tile %ta : !xetile.tile<64x2048xi8> -> vector<64x2048xi8>
    %b = xetile.load_tile %tb : !xetile.tile<2048x64xi8> -> vector<2048x64xi8>
    %d = xetile.tile_mma %a, %b {unsigned_b, wg_map = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>}
        : vector<64x2048xi8>, vector<2048x64xi8> -> vector<64x64xi32>
    xetile.store_tile %d, %tc : vector<64x64xi32>, !xetile.tile<64x64xi32>
    gpu.return
  }
}
