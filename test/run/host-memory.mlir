// Host memory of every form that a launch may take: contiguous, a part of a matrix, the same buffer twice, two
// overlapping views of one buffer, a buffer that the function got as a strided argument, memory from gpu.alloc, two
// launches in a row. The kernel adds the first matrix to the second one.
//
// RUN: xetile-opt %s --xetile-lower-xegpu-to-binary="xegpu-op-level=lane native=off" \
// RUN:   | mlir-runner --entry-point-result=void --shared-libs=%runtime \
// RUN:       --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so | FileCheck %s
// REQUIRES: opencl

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @add(%from: memref<?x?xf32, strided<[?, ?], offset: ?>>,
                  %to: memref<?x?xf32, strided<[?, ?], offset: ?>>) kernel {
      %i = gpu.block_id x
      %j = gpu.thread_id x
      %x = memref.load %from[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %y = memref.load %to[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %z = arith.addf %x, %y : f32
      memref.store %z, %to[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      gpu.return
    }
  }

  /// Adds `from` to `to`, 4 x 16 elements.
  func.func private @add(%from: memref<4x16xf32, strided<[?, ?], offset: ?>>,
                         %to: memref<4x16xf32, strided<[?, ?], offset: ?>>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %x = memref.cast %from : memref<4x16xf32, strided<[?, ?], offset: ?>>
        to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %y = memref.cast %to : memref<4x16xf32, strided<[?, ?], offset: ?>>
        to memref<?x?xf32, strided<[?, ?], offset: ?>>
    gpu.launch_func @device::@add blocks in (%c4, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%x : memref<?x?xf32, strided<[?, ?], offset: ?>>,
             %y : memref<?x?xf32, strided<[?, ?], offset: ?>>)
    return
  }

  /// Element (i, j) becomes 100 i + j.
  func.func private @fill(%m: memref<8x32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c100 = arith.constant 100 : index
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %row = arith.muli %i, %c100 : index
        %sum = arith.addi %row, %j : index
        %int = arith.index_cast %sum : index to i32
        %value = arith.sitofp %int : i32 to f32
        memref.store %value, %m[%i, %j] : memref<8x32xf32>
      }
    }
    return
  }

  func.func private @show(%m: memref<8x32xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c17 = arith.constant 17 : index
    %c31 = arith.constant 31 : index
    %a = memref.load %m[%c0, %c0] : memref<8x32xf32>
    %b = memref.load %m[%c2, %c3] : memref<8x32xf32>
    %c = memref.load %m[%c3, %c17] : memref<8x32xf32>
    %d = memref.load %m[%c6, %c31] : memref<8x32xf32>
    call @printF32(%a) : (f32) -> ()
    call @printComma() : () -> ()
    call @printF32(%b) : (f32) -> ()
    call @printComma() : () -> ()
    call @printF32(%c) : (f32) -> ()
    call @printComma() : () -> ()
    call @printF32(%d) : (f32) -> ()
    call @printNewline() : () -> ()
    return
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %m = memref.alloc() : memref<8x32xf32>
    %whole = memref.cast %m : memref<8x32xf32> to memref<?x?xf32>

    // Two parts of one matrix, through strided function arguments: rows 0-3 columns 0-15 to rows 2-5 columns 2-17.
    // CHECK: 0, 204, 432, 631
    call @fill(%m) : (memref<8x32xf32>) -> ()
    %p0 = memref.subview %m[0, 0] [4, 16] [1, 1]
        : memref<8x32xf32> to memref<4x16xf32, strided<[32, 1]>>
    %p1 = memref.subview %m[2, 2] [4, 16] [1, 1]
        : memref<8x32xf32> to memref<4x16xf32, strided<[32, 1], offset: 66>>
    %s0 = memref.alloc() : memref<8x32xf32>
    memref.copy %m, %s0 : memref<8x32xf32> to memref<8x32xf32>
    %q0 = memref.subview %s0[0, 0] [4, 16] [1, 1]
        : memref<8x32xf32> to memref<4x16xf32, strided<[32, 1]>>
    %a0 = memref.cast %q0 : memref<4x16xf32, strided<[32, 1]>>
        to memref<4x16xf32, strided<[?, ?], offset: ?>>
    %a1 = memref.cast %p1 : memref<4x16xf32, strided<[32, 1], offset: 66>>
        to memref<4x16xf32, strided<[?, ?], offset: ?>>
    call @add(%a0, %a1) : (memref<4x16xf32, strided<[?, ?], offset: ?>>,
                           memref<4x16xf32, strided<[?, ?], offset: ?>>) -> ()
    call @show(%m) : (memref<8x32xf32>) -> ()

    // Every other element of a row, every other row.
    // CHECK-NEXT: 0, 406, 317, 1262
    call @fill(%m) : (memref<8x32xf32>) -> ()
    %e = memref.subview %m[0, 1] [4, 16] [2, 2]
        : memref<8x32xf32> to memref<4x16xf32, strided<[64, 2], offset: 1>>
    %a2 = memref.cast %e : memref<4x16xf32, strided<[64, 2], offset: 1>>
        to memref<?x?xf32, strided<[?, ?], offset: ?>>
    // The same buffer twice: it doubles.
    gpu.launch_func @device::@add blocks in (%c4, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%a2 : memref<?x?xf32, strided<[?, ?], offset: ?>>,
             %a2 : memref<?x?xf32, strided<[?, ?], offset: ?>>)
    call @show(%m) : (memref<8x32xf32>) -> ()

    // Two different views of one buffer, both launches see what the one before wrote.
    // CHECK-NEXT: 0, 609, 951, 631
    call @fill(%m) : (memref<8x32xf32>) -> ()
    %v0 = memref.subview %m[2, 2] [4, 16] [1, 1]
        : memref<8x32xf32> to memref<4x16xf32, strided<[32, 1], offset: 66>>
    %v1 = memref.subview %whole[2, 2] [4, 16] [1, 1]
        : memref<?x?xf32> to memref<4x16xf32, strided<[?, 1], offset: ?>>
    %a3 = memref.cast %v0 : memref<4x16xf32, strided<[32, 1], offset: 66>>
        to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %a4 = memref.cast %v1 : memref<4x16xf32, strided<[?, 1], offset: ?>>
        to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %a5 = memref.cast %s0 : memref<8x32xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %q5 = memref.subview %s0[2, 2] [4, 16] [1, 1]
        : memref<8x32xf32> to memref<4x16xf32, strided<[32, 1], offset: 66>>
    %a6 = memref.cast %q5 : memref<4x16xf32, strided<[32, 1], offset: 66>>
        to memref<?x?xf32, strided<[?, ?], offset: ?>>
    gpu.launch_func @device::@add blocks in (%c4, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%a3 : memref<?x?xf32, strided<[?, ?], offset: ?>>,
             %a4 : memref<?x?xf32, strided<[?, ?], offset: ?>>)
    gpu.launch_func @device::@add blocks in (%c4, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%a6 : memref<?x?xf32, strided<[?, ?], offset: ?>>,
             %a3 : memref<?x?xf32, strided<[?, ?], offset: ?>>)
    call @show(%m) : (memref<8x32xf32>) -> ()

    // Device memory of the function's own is used as it is.
    // CHECK-NEXT: 0, 406, 634, 631
    call @fill(%m) : (memref<8x32xf32>) -> ()
    %d = gpu.alloc () : memref<8x32xf32>
    gpu.memcpy %d, %m : memref<8x32xf32>, memref<8x32xf32>
    %dv = memref.subview %d[2, 2] [4, 16] [1, 1]
        : memref<8x32xf32> to memref<4x16xf32, strided<[32, 1], offset: 66>>
    %da = memref.cast %dv : memref<4x16xf32, strided<[32, 1], offset: 66>>
        to memref<?x?xf32, strided<[?, ?], offset: ?>>
    gpu.launch_func @device::@add blocks in (%c4, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%a3 : memref<?x?xf32, strided<[?, ?], offset: ?>>,
             %da : memref<?x?xf32, strided<[?, ?], offset: ?>>)
    gpu.memcpy %m, %d : memref<8x32xf32>, memref<8x32xf32>
    gpu.dealloc %d : memref<8x32xf32>
    call @show(%m) : (memref<8x32xf32>) -> ()

    memref.dealloc %s0 : memref<8x32xf32>
    memref.dealloc %m : memref<8x32xf32>
    return
  }
  func.func private @printF32(f32)
  func.func private @printComma()
  func.func private @printNewline()
}
