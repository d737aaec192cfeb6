// RUN: xetile-opt %s --split-input-file --xetile-keep-constants | FileCheck %s
// RUN: xetile-opt %s --split-input-file --xetile-keep-constants --xetile-copy-launch-operands | FileCheck %s --check-prefix=COPY

// Constants that kernels read are asked of the runtime, at the begin of the function; equal ones once, views of them
// are views of the copy.
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @read(%a: memref<4x8xf32>, %b: memref<32xf32>, %c: memref<4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %a[%c0, %c0] : memref<4x8xf32>
      %w = memref.load %b[%c0] : memref<32xf32>
      %s = arith.addf %v, %w : f32
      memref.store %s, %c[%c0] : memref<4xf32>
      gpu.return
    }
  }
  memref.global "private" constant @w : memref<4x8xf32> = dense<1.5>
  memref.global "private" constant @same : memref<4x8xf32> = dense<1.5>

  // CHECK-LABEL: func.func @f(
  // CHECK: %[[PLACE:.*]] = llvm.mlir.addressof @xetile_kept
  // CHECK: %[[NUMBER:.*]] = llvm.ptrtoint %[[PLACE]]
  // CHECK: %[[OWNER:.*]] = arith.index_cast %[[NUMBER]]
  // CHECK: %[[W:.*]] = memref.get_global @w
  // CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[W]]
  // CHECK: %[[COUNT:.*]] = arith.constant 128 : index
  // CHECK: %[[BYTES:.*]] = call @xetileRuntimeKeep(%[[OWNER]], %[[ADDRESS]], %[[COUNT]])
  // CHECK: %[[KEPT:.*]] = memref.view %[[BYTES]]
  // CHECK-NOT: call @xetileRuntimeKeep
  // CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[KEPT]]
  // CHECK: gpu.launch_func {{.*}} args(%[[KEPT]] : memref<4x8xf32>, %[[FLAT]] : memref<32xf32>,
  // CHECK-LABEL: func.func private @xetileRuntimeKeep(index, index, index) -> memref<?xi8> attributes {llvm.emit_c_interface}
  // CHECK: llvm.mlir.global internal @xetile_kept(0 : i8)
  // CHECK: llvm.func internal @xetile_forget_kept() {
  // CHECK: %[[MINE:.*]] = llvm.mlir.addressof @xetile_kept
  // CHECK: llvm.call @xetileRuntimeForget(%[[MINE]])
  // CHECK: llvm.mlir.global_dtors dtors = [@xetile_forget_kept]

  // No call copies it.
  // COPY-LABEL: func.func @f(
  // COPY-SAME: %[[OUT:.*]]: memref<4xf32>
  // COPY-NOT: gpu.memcpy
  // COPY: gpu.launch_func
  // COPY: gpu.memcpy %[[OUT]],
  // COPY-NOT: gpu.memcpy
  // COPY: return
  func.func @f(%out: memref<4xf32> {xetile.result}) {
    %c1 = arith.constant 1 : index
    %w = memref.get_global @w : memref<4x8xf32>
    %same = memref.get_global @same : memref<4x8xf32>
    %flat = memref.collapse_shape %same [[0, 1]] : memref<4x8xf32> into memref<32xf32>
    gpu.launch_func @device::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%w : memref<4x8xf32>, %flat : memref<32xf32>, %out : memref<4xf32>)
    return
  }
}

// -----

// Left as they are: what a kernel writes, what is no constant or has none yet, bits; what the host reads stays its own.
// CHECK-LABEL: func.func @left(
// CHECK-NOT: xetileRuntimeKeep
// CHECK-NOT: xetile_kept
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @write(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xi1>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %b[%c0] : memref<4xf32>
      memref.store %v, %a[%c0] : memref<4xf32>
      gpu.return
    }
  }
  memref.global "private" constant @written : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  memref.global "private" @variable : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  memref.global "private" constant @bits : memref<4xi1> = dense<[true, false, true, false]>
  memref.global "private" constant @host : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  func.func @left() -> f32 {
    %c1 = arith.constant 1 : index
    %a = memref.get_global @written : memref<4xf32>
    %b = memref.get_global @variable : memref<4xf32>
    %c = memref.get_global @bits : memref<4xi1>
    gpu.launch_func @device::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<4xf32>, %b : memref<4xf32>, %c : memref<4xi1>)
    %h = memref.get_global @host : memref<4xf32>
    %v = memref.load %h[%c1] : memref<4xf32>
    return %v : f32
  }
}

// -----

// A launch in a loop asks once, before the loop.
// CHECK-LABEL: func.func @loop(
// CHECK: call @xetileRuntimeKeep
// CHECK: scf.for
// CHECK-NOT: call
// CHECK: gpu.launch_func
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @read(%a: memref<4xf16>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %a[%c0] : memref<4xf16>
      gpu.return
    }
  }
  memref.global "private" constant @w : memref<4xf16> = dense<[1.0, 2.0, 3.0, 4.0]>
  func.func @loop(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %w = memref.get_global @w : memref<4xf16>
      gpu.launch_func @device::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%w : memref<4xf16>)
    }
    return
  }
}
