// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-plan-ring --split-input-file --verify-diagnostics

gpu.module @kernels {
  // expected-error@+1 {{has no xetile.tile_mma; expected one, in a loop over k: sm_90a takes matmuls}}
  gpu.func @nothing(%A: memref<64xf32>) kernel {
    gpu.return
  }
}

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @begins_elsewhere(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    // expected-error@+1 {{does not run from 0 in steps of 64, the k of its tiles; expected that}}
    %d = scf.for %k = %c64 to %c512 step %c64 iter_args(%c = %zero) -> (vector<64x64xf32>) {
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

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @no_prefetch(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %d = scf.for %k = %c0 to %c512 step %c64 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %c64 : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      // No prefetch: a ring needs a stage that is loaded ahead.
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %b = xetile.load_tile %bt : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      // expected-error@+1 {{prefetch = 0: expected at least 1, the stages of the ring but one}}
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @computed(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %d = scf.for %k = %c0 to %c512 step %c64 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %c64 : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %l = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %a = arith.negf %l : vector<64x64xf16>
      %bt = xetile.init_tile %B[%k, 0] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %b = xetile.load_tile %bt : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      // expected-error@+1 {{multiplies a value of A that is no tile loaded in the loop; expected a load}}
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @another_place(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    // expected-error@+1 {{loads a tile of B at another place than its counter; expected the counter as offset along k}}
    %d = scf.for %k = %c0 to %c512 step %c64 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %c64 : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %B[%ahead, 0] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
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

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @no_argument(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %part = memref.subview %B[64, 0] [448, 512] [1, 1] : memref<512x512xf16> to memref<448x512xf16, strided<[512, 1], offset: 32768>>
    %d = scf.for %k = %c0 to %c512 step %c64 iter_args(%c = %zero) -> (vector<64x64xf32>) {
      %ahead = arith.addi %k, %c64 : index
      %next = xetile.init_tile %A[0, %ahead] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      xetile.prefetch_tile %next locality<3> : !xetile.tile<64x64xf16, #map>
      %at = xetile.init_tile %A[0, %k] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
      %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %bt = xetile.init_tile %part[%k, 0] : memref<448x512xf16, strided<[512, 1], offset: 32768>> -> !xetile.tile<64x64xf16, #map>
      // expected-error@+1 {{that is no matrix among the kernel's arguments; expected a memref of two dimensions}}
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

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @padding(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
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
      // expected-error@+1 {{pads with another number than zero, which TMA does not do; expected no padding}}
      %b = xetile.load_tile %bt {padding = 1.0 : f16} : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
      %e = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
          : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %e : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %d, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @other_threads(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
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
    // expected-error@+1 {{needs values of other threads, or several; expected elementwise operations and broadcasts}}
    %t = vector.transpose %d, [1, 0] : vector<64x64xf32> to vector<64x64xf32>
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %t, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  gpu.func @result(%A: memref<512x512xf16>, %B: memref<512x512xf16>, %C: memref<512x512xf64>) kernel {
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
    %w = arith.extf %d : vector<64x64xf32> to vector<64x64xf64>
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf64> -> !xetile.tile<64x64xf64, #map>
    // expected-error@+1 {{stores 'f64'; expected f32, f16, bf16 or i32 on sm_90a}}
    xetile.store_tile %w, %ct : vector<64x64xf64>, !xetile.tile<64x64xf64, #map>
    gpu.return
  }
}

// -----

#map = #xetile.tile_attr<wg_map = <sg_layout = [1, 1], sg_data = [64, 64]>>
gpu.module @kernels {
  // A product in no loop, of tiles that do not begin where k does.
  gpu.func @no_loop(%A: memref<512x512xf16>, %C: memref<512x512xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %at = xetile.init_tile %A[0, 64] : memref<512x512xf16> -> !xetile.tile<64x64xf16, #map>
    %a = xetile.load_tile %at : !xetile.tile<64x64xf16, #map> -> vector<64x64xf16>
    // expected-error@+1 {{is in no loop of the kernel; expected a loop over k around it, k_step of the schedule}}
    %e = xetile.tile_mma %a, %a, %zero {wg_map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [64, 64]>}
        : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
    %ct = xetile.init_tile %C[0, 0] : memref<512x512xf32> -> !xetile.tile<64x64xf32, #map>
    xetile.store_tile %e, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #map>
    gpu.return
  }
}
