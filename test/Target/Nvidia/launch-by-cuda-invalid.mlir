// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --xetile-launch-by-cuda --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      gpu.return
    }
  }
  func.func @no_ptx(%x: index) {
    // expected-error@+1 {{launches a kernel without PTX: run xetile-emit-ptx before}}
    gpu.launch_func @kernels::@kernel blocks in (%x, %x, %x) threads in (%x, %x, %x)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, properties = {kernel = {maps = [],
      ring = {stages = 2 : i64, stage_bytes = 8 : i64, shared_bytes = 16 : i64, threads = 256 : i64,
              written = array<i64: 1>}}}, assembly = "PTX">]
  func.func @batches(%x: index, %A: memref<2x2x2x2x2x2x2x2x2xf32>) {
    // expected-error@+1 {{passes 'memref<2x2x2x2x2x2x2x2x2xf32>'; expected memrefs of at most 8 dimensions, integers and floats}}
    gpu.launch_func @kernels::@kernel blocks in (%x, %x, %x) threads in (%x, %x, %x) args(%A : memref<2x2x2x2x2x2x2x2x2xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, properties = {kernel = {maps = [],
      ring = {stages = 2 : i64, stage_bytes = 8 : i64, shared_bytes = 16 : i64, threads = 256 : i64,
              written = array<i64: 1>}}}, assembly = "PTX">]
  func.func @waits(%x: index) {
    %t = gpu.wait async
    // expected-error@+1 {{waits for others, gives a token or asks for clusters; expected a launch without}}
    %u = gpu.launch_func async [%t] @kernels::@kernel blocks in (%x, %x, %x) threads in (%x, %x, %x)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, properties = {kernel = {maps = []}}, assembly = "PTX">]
  func.func @no_ring(%x: index) {
    // expected-error@+1 {{launches a kernel whose gpu.binary lacks facts of its launch}}
    gpu.launch_func @kernels::@kernel blocks in (%x, %x, %x) threads in (%x, %x, %x)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, properties = {kernel = {
      maps = [{argument = 1 : i64, box = array<i64: 64, 64>}],
      ring = {stages = 2 : i64, stage_bytes = 8 : i64, shared_bytes = 16 : i64, threads = 256 : i64,
              written = array<i64: 1>}}}, assembly = "PTX">]
  func.func @map_of_nothing(%x: index, %A: memref<64x64xf32>) {
    // expected-error@+1 {{or has others than its arguments: expected those that xetile-emit-ptx writes}}
    gpu.launch_func @kernels::@kernel blocks in (%x, %x, %x) threads in (%x, %x, %x) args(%A : memref<64x64xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, properties = {kernel = {
      maps = [],
      ring = {stages = 2 : i64, stage_bytes = 8 : i64, shared_bytes = 16 : i64, threads = 256 : i64,
              written = array<i64: 1>}}}, assembly = "PTX">]
  func.func @lost_window(%x: index, %A: memref<8x8xf32>) {
    %m = memref.reinterpret_cast %A to offset: [0], sizes: [9, 36], strides: [36, 1] : memref<8x8xf32> to memref<9x36xf32, strided<[36, 1]>>
    // expected-error@+1 {{passes 'memref<8x8xf32>' as argument 0, 'memref<9x36xf32, strided<[36, 1]>>': expected a kernel whose xetile.window says where these elements are}}
    gpu.launch_func @kernels::@kernel blocks in (%x, %x, %x) threads in (%x, %x, %x) args(%m : memref<9x36xf32, strided<[36, 1]>>)
    return
  }
}
