// The whole path with stock tools: a linalg.matmul on tensors, scheduled, lowered and called from host code by mlir-runner.
// D = A * B + C with A 256x128, B 128x256 of small integers, so that the result is exact; C must keep its values.
//
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s --pass-pipeline='builtin.module( \
// RUN:     transform-preload-library{transform-library-paths=%schedules/parts,%schedules/matmul.mlir}, \
// RUN:     transform-interpreter,xetile-lower-to-binary{chip=pvc native=off})' \
// RUN:   | mlir-runner --entry-point-result=void --shared-libs=%runtime \
// RUN:       --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so | FileCheck %s
// REQUIRES: opencl
//
// Wrong elements of D, then changed elements of C, then D[100][200].
// CHECK:      {{^}}0{{$}}
// CHECK-NEXT: {{^}}0{{$}}
// CHECK-NEXT: {{^}}258{{$}}

func.func private @matmul(%A: tensor<256x128xf16>, %B: tensor<128x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x128xf16>, tensor<128x256xf16>)
                     outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}

// ((3 i + 5 j) mod 7) - 3: different in every row and column of a tile.
func.func private @element(%i: index, %j: index) -> f32 {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %x = arith.muli %i, %c3 : index
  %y = arith.muli %j, %c5 : index
  %s = arith.addi %x, %y : index
  %r = arith.remui %s, %c7 : index
  %t = arith.subi %r, %c3 : index
  %u = arith.index_cast %t : index to i32
  %v = arith.sitofp %u : i32 to f32
  return %v : f32
}

func.func private @fill(%M: memref<?x?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %M, %c0 : memref<?x?xf16>
  %columns = memref.dim %M, %c1 : memref<?x?xf16>
  scf.for %i = %c0 to %rows step %c1 {
    scf.for %j = %c0 to %columns step %c1 {
      %v = func.call @element(%i, %j) : (index, index) -> f32
      %h = arith.truncf %v : f32 to f16
      memref.store %h, %M[%i, %j] : memref<?x?xf16>
    }
  }
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c100 = arith.constant 100 : index
  %c200 = arith.constant 200 : index
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %A = memref.alloc() : memref<256x128xf16>
  %B = memref.alloc() : memref<128x256xf16>
  %C = memref.alloc() : memref<256x256xf32>
  %Ad = memref.cast %A : memref<256x128xf16> to memref<?x?xf16>
  %Bd = memref.cast %B : memref<128x256xf16> to memref<?x?xf16>
  func.call @fill(%Ad) : (memref<?x?xf16>) -> ()
  func.call @fill(%Bd) : (memref<?x?xf16>) -> ()
  scf.for %i = %c0 to %c256 step %c1 {
    scf.for %j = %c0 to %c256 step %c1 {
      %v = func.call @element(%j, %i) : (index, index) -> f32
      memref.store %v, %C[%i, %j] : memref<256x256xf32>
    }
  }

  %At = bufferization.to_tensor %A restrict : memref<256x128xf16> to tensor<256x128xf16>
  %Bt = bufferization.to_tensor %B restrict : memref<128x256xf16> to tensor<128x256xf16>
  %Ct = bufferization.to_tensor %C restrict : memref<256x256xf32> to tensor<256x256xf32>
  %Dt = func.call @matmul(%At, %Bt, %Ct)
      : (tensor<256x128xf16>, tensor<128x256xf16>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %D = bufferization.to_buffer %Dt : tensor<256x256xf32> to memref<256x256xf32>

  %wrong:2 = scf.for %i = %c0 to %c256 step %c1 iter_args(%wi = %none, %ci = %none) -> (i64, i64) {
    %row:2 = scf.for %j = %c0 to %c256 step %c1 iter_args(%wj = %wi, %cj = %ci) -> (i64, i64) {
      %init = func.call @element(%j, %i) : (index, index) -> f32
      %expected = scf.for %k = %c0 to %c128 step %c1 iter_args(%s = %init) -> (f32) {
        %x = func.call @element(%i, %k) : (index, index) -> f32
        %y = func.call @element(%k, %j) : (index, index) -> f32
        %p = arith.mulf %x, %y : f32
        %t = arith.addf %s, %p : f32
        scf.yield %t : f32
      }
      %d = memref.load %D[%i, %j] : memref<256x256xf32>
      %d_differs = arith.cmpf une, %d, %expected : f32
      %d_more = arith.addi %wj, %one : i64
      %w = arith.select %d_differs, %d_more, %wj : i64
      %c = memref.load %C[%i, %j] : memref<256x256xf32>
      %c_differs = arith.cmpf une, %c, %init : f32
      %c_more = arith.addi %cj, %one : i64
      %z = arith.select %c_differs, %c_more, %cj : i64
      scf.yield %w, %z : i64, i64
    }
    scf.yield %row#0, %row#1 : i64, i64
  }
  func.call @printI64(%wrong#0) : (i64) -> ()
  func.call @printNewline() : () -> ()
  func.call @printI64(%wrong#1) : (i64) -> ()
  func.call @printNewline() : () -> ()
  %sample = memref.load %D[%c100, %c200] : memref<256x256xf32>
  func.call @printF32(%sample) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printF32(f32)
func.func private @printNewline()
