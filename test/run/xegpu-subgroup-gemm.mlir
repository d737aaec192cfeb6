// A subgroup-level XeGPU GEMM, written by hand: C = A * B with A 64x80, B 80x128, f16 -> f32; shapes and pitches are known
// at run time only. A is a part of a larger matrix, so the copy to the device has an offset and a pitch.
// Two workgroups of 2 x 4 subgroups, 16x32 each. All values are small integers: the result is exact.
//
// RUN: xetile-opt %s --xetile-lower-xegpu-to-binary="xegpu-op-level=subgroup native=off" \
// RUN:   | mlir-runner --entry-point-result=void --shared-libs=%runtime \
// RUN:       --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so | FileCheck %s
// REQUIRES: opencl
//
// mismatches, then C[0][0], C[41][99], C[63][127]
// CHECK:      {{^}}0{{$}}
// CHECK-NEXT: {{^}}-22{{$}}
// CHECK-NEXT: {{^}}-1{{$}}
// CHECK-NEXT: {{^}}21{{$}}


#part = strided<[?, 1], offset: ?>

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @gemm(%a: memref<?x?xf16, #part>, %b: memref<?x?xf16>, %c: memref<?x?xf32>,
                   %m_size: index, %n_size: index, %k_size: index, %a_pitch: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %zeros = arith.constant dense<0.0> : vector<16x32xf32>
      %group = gpu.block_id x
      %subgroup = gpu.subgroup_id : index
      %row = arith.divui %subgroup, %c4 : index
      %column = arith.remui %subgroup, %c4 : index
      %m_group = arith.muli %group, %c32 : index
      %m_inside = arith.muli %row, %c16 : index
      %m = arith.addi %m_group, %m_inside : index
      %n = arith.muli %column, %c32 : index
      %a_tile = xegpu.create_nd_tdesc %a, shape: [%m_size, %k_size], strides: [%a_pitch, %c1]
          : memref<?x?xf16, #part> -> !xegpu.tensor_desc<16x16xf16>
      %b_tile = xegpu.create_nd_tdesc %b, shape: [%k_size, %n_size], strides: [%n_size, %c1]
          : memref<?x?xf16> -> !xegpu.tensor_desc<16x32xf16>
      %c_tile = xegpu.create_nd_tdesc %c, shape: [%m_size, %n_size], strides: [%n_size, %c1]
          : memref<?x?xf32> -> !xegpu.tensor_desc<16x32xf32>
      %sum = scf.for %k = %c0 to %k_size step %c16 iter_args(%acc = %zeros) -> (vector<16x32xf32>) {
        // The last of these lies outside of the matrix: that is allowed.
        %k_next = arith.addi %k, %c16 : index
        xegpu.prefetch_nd %a_tile[%m, %k_next]
            <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}>
            : !xegpu.tensor_desc<16x16xf16>
        %a_part = xegpu.load_nd %a_tile[%m, %k]
            <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}>
            : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
        %b_part = xegpu.load_nd %b_tile[%k, %n]
            <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}>
            : !xegpu.tensor_desc<16x32xf16> -> vector<16x32xf16>
        %next = xegpu.dpas %a_part, %b_part, %acc
            : vector<16x16xf16>, vector<16x32xf16>, vector<16x32xf32> -> vector<16x32xf32>
        scf.yield %next : vector<16x32xf32>
      }
      xegpu.store_nd %sum, %c_tile[%m, %n] : vector<16x32xf32>, !xegpu.tensor_desc<16x32xf32>
      gpu.return
    }
  }

  // ((3 i + 5 j) mod 7) - 3, and ((5 i + 2 j) mod 9) - 4
  func.func private @a_value(%i: index, %j: index) -> f32 {
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
  func.func private @b_value(%i: index, %j: index) -> f32 {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c9 = arith.constant 9 : index
    %x = arith.muli %i, %c5 : index
    %y = arith.muli %j, %c2 : index
    %s = arith.addi %x, %y : index
    %r = arith.remui %s, %c9 : index
    %t = arith.subi %r, %c4 : index
    %u = arith.index_cast %t : index to i32
    %v = arith.sitofp %u : i32 to f32
    return %v : f32
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c41 = arith.constant 41 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c80 = arith.constant 80 : index
    %c99 = arith.constant 99 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %one = arith.constant 1 : i64
    %none = arith.constant 0 : i64
    %zero = arith.constant 0.0 : f32
    %whole = memref.alloc() : memref<80x128xf16>
    %a = memref.subview %whole[8, 32] [64, 80] [1, 1]
        : memref<80x128xf16> to memref<64x80xf16, strided<[128, 1], offset: 1056>>
    %b = memref.alloc() : memref<80x128xf16>
    %c = memref.alloc() : memref<64x128xf32>
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c80 step %c1 {
        %v = func.call @a_value(%i, %j) : (index, index) -> f32
        %h = arith.truncf %v : f32 to f16
        memref.store %h, %a[%i, %j] : memref<64x80xf16, strided<[128, 1], offset: 1056>>
      }
    }
    scf.for %i = %c0 to %c80 step %c1 {
      scf.for %j = %c0 to %c128 step %c1 {
        %v = func.call @b_value(%i, %j) : (index, index) -> f32
        %h = arith.truncf %v : f32 to f16
        memref.store %h, %b[%i, %j] : memref<80x128xf16>
      }
    }

    %a_arg = memref.cast %a
        : memref<64x80xf16, strided<[128, 1], offset: 1056>> to memref<?x?xf16, #part>
    %b_arg = memref.cast %b : memref<80x128xf16> to memref<?x?xf16>
    %c_arg = memref.cast %c : memref<64x128xf32> to memref<?x?xf32>
    gpu.launch_func @device::@gemm blocks in (%c2, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%a_arg : memref<?x?xf16, #part>, %b_arg : memref<?x?xf16>, %c_arg : memref<?x?xf32>,
             %c64 : index, %c128 : index, %c80 : index, %c128 : index)

    %wrong = scf.for %i = %c0 to %c64 step %c1 iter_args(%wi = %none) -> (i64) {
      %row = scf.for %j = %c0 to %c128 step %c1 iter_args(%wj = %wi) -> (i64) {
        %expected = scf.for %k = %c0 to %c80 step %c1 iter_args(%s = %zero) -> (f32) {
          %x = func.call @a_value(%i, %k) : (index, index) -> f32
          %y = func.call @b_value(%k, %j) : (index, index) -> f32
          %p = arith.mulf %x, %y : f32
          %t = arith.addf %s, %p : f32
          scf.yield %t : f32
        }
        %got = memref.load %c[%i, %j] : memref<64x128xf32>
        %differs = arith.cmpf une, %got, %expected : f32
        %more = arith.addi %wj, %one : i64
        %w = arith.select %differs, %more, %wj : i64
        scf.yield %w : i64
      }
      scf.yield %row : i64
    }
    func.call @printI64(%wrong) : (i64) -> ()
    func.call @printNewline() : () -> ()
    %p0 = memref.load %c[%c0, %c0] : memref<64x128xf32>
    func.call @printF32(%p0) : (f32) -> ()
    func.call @printNewline() : () -> ()
    %p1 = memref.load %c[%c41, %c99] : memref<64x128xf32>
    func.call @printF32(%p1) : (f32) -> ()
    func.call @printNewline() : () -> ()
    %p2 = memref.load %c[%c63, %c127] : memref<64x128xf32>
    func.call @printF32(%p2) : (f32) -> ()
    func.call @printNewline() : () -> ()
    memref.dealloc %whole : memref<80x128xf16>
    memref.dealloc %b : memref<80x128xf16>
    memref.dealloc %c : memref<64x128xf32>
    return
  }
  func.func private @printI64(i64)
  func.func private @printF32(f32)
  func.func private @printNewline()
}
