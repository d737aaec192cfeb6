// A workgroup-level XeGPU GEMM, written by hand: C += A * B with A 128x96, B 96x256, f16 -> f32.
// 2 x 2 workgroups of 64x128, each 4 x 4 subgroups of 16x32. All values are small integers: the result is exact.
//
// RUN: xetile-opt %s --xetile-lower-xegpu-to-binary="xegpu-op-level=workgroup native=off" \
// RUN:   | mlir-runner --entry-point-result=void --shared-libs=%runtime \
// RUN:       --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so | FileCheck %s
// REQUIRES: opencl
//
// mismatches, then C[0][0], C[77][201], C[127][255]
// CHECK:      {{^}}0{{$}}
// CHECK-NEXT: {{^}}-22{{$}}
// CHECK-NEXT: {{^}}27{{$}}
// CHECK-NEXT: {{^}}29{{$}}

#a = #xegpu.layout<sg_layout = [4, 4], sg_data = [16, 32], inst_data = [8, 16]>
#b = #xegpu.layout<sg_layout = [4, 4], sg_data = [32, 32], inst_data = [16, 16]>
#c = #xegpu.layout<sg_layout = [4, 4], sg_data = [16, 32], inst_data = [8, 16]>
#ahead = #xegpu.layout<sg_layout = [8, 2], sg_data = [8, 16], inst_data = [8, 16]>

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @gemm(%a: memref<128x96xf16>, %b: memref<96x256xf16>, %c: memref<128x256xf32>)
        kernel {
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c96 = arith.constant 96 : index
      %c128 = arith.constant 128 : index
      %block_m = gpu.block_id x
      %block_n = gpu.block_id y
      %m = arith.muli %block_m, %c64 : index
      %n = arith.muli %block_n, %c128 : index
      %a_tile = xegpu.create_nd_tdesc %a : memref<128x96xf16> -> !xegpu.tensor_desc<64x32xf16, #a>
      %b_tile = xegpu.create_nd_tdesc %b : memref<96x256xf16> -> !xegpu.tensor_desc<32x128xf16, #b>
      %c_tile = xegpu.create_nd_tdesc %c : memref<128x256xf32> -> !xegpu.tensor_desc<64x128xf32, #c>
      %a_ahead = xegpu.create_nd_tdesc %a
          : memref<128x96xf16> -> !xegpu.tensor_desc<64x32xf16, #ahead>
      %start = xegpu.load_nd %c_tile[%m, %n] {layout = #c}
          : !xegpu.tensor_desc<64x128xf32, #c> -> vector<64x128xf32>
      %sum = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %start) -> (vector<64x128xf32>) {
        %k_next = arith.addi %k, %c32 : index
        xegpu.prefetch_nd %a_ahead[%m, %k_next]
            <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>,
              l3_hint = #xegpu.cache_hint<cached>, layout = #ahead}>
            : !xegpu.tensor_desc<64x32xf16, #ahead>
        %a_part = xegpu.load_nd %a_tile[%m, %k] {layout = #a}
            : !xegpu.tensor_desc<64x32xf16, #a> -> vector<64x32xf16>
        %b_part = xegpu.load_nd %b_tile[%k, %n] {layout = #b}
            : !xegpu.tensor_desc<32x128xf16, #b> -> vector<32x128xf16>
        %next = xegpu.dpas %a_part, %b_part, %acc {layout_a = #a, layout_b = #b, layout_cd = #c}
            : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
        scf.yield %next : vector<64x128xf32>
      }
      xegpu.store_nd %sum, %c_tile[%m, %n] {layout = #c}
          : vector<64x128xf32>, !xegpu.tensor_desc<64x128xf32, #c>
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
    %c77 = arith.constant 77 : index
    %c96 = arith.constant 96 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %c201 = arith.constant 201 : index
    %c255 = arith.constant 255 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i64
    %none = arith.constant 0 : i64
    %a = memref.alloc() : memref<128x96xf16>
    %b = memref.alloc() : memref<96x256xf16>
    %c = memref.alloc() : memref<128x256xf32>
    scf.for %i = %c0 to %c128 step %c1 {
      scf.for %j = %c0 to %c96 step %c1 {
        %v = func.call @a_value(%i, %j) : (index, index) -> f32
        %h = arith.truncf %v : f32 to f16
        memref.store %h, %a[%i, %j] : memref<128x96xf16>
      }
    }
    scf.for %i = %c0 to %c96 step %c1 {
      scf.for %j = %c0 to %c256 step %c1 {
        %v = func.call @b_value(%i, %j) : (index, index) -> f32
        %h = arith.truncf %v : f32 to f16
        memref.store %h, %b[%i, %j] : memref<96x256xf16>
      }
    }
    // The accumulator starts as b_value(i, j) of its own indices.
    scf.for %i = %c0 to %c128 step %c1 {
      scf.for %j = %c0 to %c256 step %c1 {
        %v = func.call @b_value(%i, %j) : (index, index) -> f32
        memref.store %v, %c[%i, %j] : memref<128x256xf32>
      }
    }

    gpu.launch_func @device::@gemm blocks in (%c2, %c2, %c1) threads in (%c256, %c1, %c1)
        args(%a : memref<128x96xf16>, %b : memref<96x256xf16>, %c : memref<128x256xf32>)

    %wrong = scf.for %i = %c0 to %c128 step %c1 iter_args(%wi = %none) -> (i64) {
      %row = scf.for %j = %c0 to %c256 step %c1 iter_args(%wj = %wi) -> (i64) {
        %init = func.call @b_value(%i, %j) : (index, index) -> f32
        %expected = scf.for %k = %c0 to %c96 step %c1 iter_args(%s = %init) -> (f32) {
          %x = func.call @a_value(%i, %k) : (index, index) -> f32
          %y = func.call @b_value(%k, %j) : (index, index) -> f32
          %p = arith.mulf %x, %y : f32
          %t = arith.addf %s, %p : f32
          scf.yield %t : f32
        }
        %got = memref.load %c[%i, %j] : memref<128x256xf32>
        %differs = arith.cmpf une, %got, %expected : f32
        %more = arith.addi %wj, %one : i64
        %w = arith.select %differs, %more, %wj : i64
        scf.yield %w : i64
      }
      scf.yield %row : i64
    }
    func.call @printI64(%wrong) : (i64) -> ()
    func.call @printNewline() : () -> ()
    %p0 = memref.load %c[%c0, %c0] : memref<128x256xf32>
    func.call @printF32(%p0) : (f32) -> ()
    func.call @printNewline() : () -> ()
    %p1 = memref.load %c[%c77, %c201] : memref<128x256xf32>
    func.call @printF32(%p1) : (f32) -> ()
    func.call @printNewline() : () -> ()
    %p2 = memref.load %c[%c127, %c255] : memref<128x256xf32>
    func.call @printF32(%p2) : (f32) -> ()
    func.call @printNewline() : () -> ()
    memref.dealloc %a : memref<128x96xf16>
    memref.dealloc %b : memref<96x256xf16>
    memref.dealloc %c : memref<128x256xf32>
    return
  }
  func.func private @printI64(i64)
  func.func private @printF32(f32)
  func.func private @printNewline()
}
