// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-plan-ring=pipeline=simple --split-input-file --verify-diagnostics
// RUN: not xetile-opt %s --xetile-plan-ring=pipeline=fast --split-input-file 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: not xetile-opt %s --xetile-plan-ring=lazy=maybe --split-input-file 2>&1 | FileCheck %s --check-prefix=LAZY
// RUN: not xetile-opt %s --xetile-plan-ring=loads=tma --split-input-file 2>&1 | FileCheck %s --check-prefix=LOADS

// FAST: option pipeline is fast, expected auto, simple or specialized
// LAZY: option lazy is maybe, expected auto, true or false
// LOADS: option loads is tma, expected auto or plain
#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @simple(%A: memref<512x501xf16>, %B: memref<501x502xf16>, %C: memref<512x502xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %cK = arith.constant 64 : index
    %end = arith.constant 502 : index
    %d = scf.for %k = %c0 to %end step %cK iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %cK : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x501xf16> -> !xetile.tile<64x64xf16, #map>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %A[0, %k] : memref<512x501xf16> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %B[%k, 0] : memref<501x502xf16> -> !xetile.tile<64x64xf16, #map>
      %b = xetile.load_tile %bt : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      // expected-error@+1 {{multiplies matrices that TMA does not take, as their rows are no multiples of 16 bytes apart}}
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x502xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}
