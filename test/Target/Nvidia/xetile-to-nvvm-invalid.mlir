// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --convert-xetile-to-nvvm --verify-diagnostics

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  // expected-error@+1 {{has no plan: run xetile-plan-ring before}}
  gpu.func @product(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %d = scf.for %k = %c0 to %c512 step %c64 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %c64 : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %b = xetile.load_tile %bt : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}
