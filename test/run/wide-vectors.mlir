// Vectors of lengths that SPIR-V does not have: the same function on the device and on the host, where LLVM's own
// legalization cuts them.
//
// RUN: xetile-opt %s --xetile-lower-xegpu-to-binary="xegpu-op-level=lane native=off" \
// RUN:   | mlir-runner --entry-point-result=void --shared-libs=%runtime \
// RUN:       --shared-libs=%mlir_lib_dir/libmlir_c_runner_utils.so | FileCheck %s
// REQUIRES: opencl
//
// mismatches, then elements 0, 34 and 63
// CHECK:      {{^}}0{{$}}
// CHECK-NEXT: {{^}}-20{{$}}
// CHECK-NEXT: {{^}}-16{{$}}
// CHECK-NEXT: {{^}}30{{$}}

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @wide(%from: memref<64xf32>, %to: memref<64xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c20 = arith.constant 20 : index
      %c63 = arith.constant 63 : index
      %v = vector.load %from[%c0] : memref<64xf32>, vector<20xf32>
      %w0 = vector.load %from[%c20] : memref<64xf32>, vector<37xf32>
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %v) -> (vector<20xf32>) {
        %x = memref.load %from[%i] : memref<64xf32>
        %inserted = vector.insert %x, %s [17] : f32 into vector<20xf32>
        // Across the pieces of both operands.
        %mixed = vector.shuffle %inserted, %w0 [19, 56, 17, 16, 15, 14, 13, 12, 40, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 20]
            : vector<20xf32>, vector<37xf32>
        %more = arith.addf %mixed, %v : vector<20xf32>
        %size = math.absf %more : vector<20xf32>
        %small = arith.cmpf olt, %size, %v : vector<20xf32>
        %next = arith.select %small, %size, %more : vector<20xi1>, vector<20xf32>
        scf.yield %next : vector<20xf32>
      }
      %int = arith.fptosi %sum : vector<20xf32> to vector<20xi32>
      %short = arith.trunci %int : vector<20xi32> to vector<20xi16>
      %pairs = vector.bitcast %short : vector<20xi16> to vector<10xi32>
      %bytes = vector.bitcast %pairs : vector<10xi32> to vector<40xi8>
      %wide = arith.extsi %bytes : vector<40xi8> to vector<40xi32>
      %last = vector.extract %wide[38] : i32 from vector<40xi32>
      vector.store %wide, %to[%c0] : memref<64xi32>, vector<40xi32>
      memref.store %last, %to[%c63] : memref<64xi32>
      gpu.return
    }
  }

  func.func private @wide(%from: memref<64xf32>, %to: memref<64xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c20 = arith.constant 20 : index
    %c63 = arith.constant 63 : index
    %v = vector.load %from[%c0] : memref<64xf32>, vector<20xf32>
    %w0 = vector.load %from[%c20] : memref<64xf32>, vector<37xf32>
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %v) -> (vector<20xf32>) {
      %x = memref.load %from[%i] : memref<64xf32>
      %inserted = vector.insert %x, %s [17] : f32 into vector<20xf32>
      // Across the pieces of both operands.
      %mixed = vector.shuffle %inserted, %w0 [19, 56, 17, 16, 15, 14, 13, 12, 40, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 20]
          : vector<20xf32>, vector<37xf32>
      %more = arith.addf %mixed, %v : vector<20xf32>
      %size = math.absf %more : vector<20xf32>
      %small = arith.cmpf olt, %size, %v : vector<20xf32>
      %next = arith.select %small, %size, %more : vector<20xi1>, vector<20xf32>
      scf.yield %next : vector<20xf32>
    }
    %int = arith.fptosi %sum : vector<20xf32> to vector<20xi32>
    %short = arith.trunci %int : vector<20xi32> to vector<20xi16>
    %pairs = vector.bitcast %short : vector<20xi16> to vector<10xi32>
    %bytes = vector.bitcast %pairs : vector<10xi32> to vector<40xi8>
    %wide = arith.extsi %bytes : vector<40xi8> to vector<40xi32>
    %last = vector.extract %wide[38] : i32 from vector<40xi32>
    vector.store %wide, %to[%c0] : memref<64xi32>, vector<40xi32>
    memref.store %last, %to[%c63] : memref<64xi32>
    return
  }

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c16 = arith.constant 16 : index
    %c34 = arith.constant 34 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %c101 = arith.constant 101 : index
    %c50 = arith.constant 50 : index
    %zero = arith.constant 0 : i32
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %from = memref.alloc() : memref<64xf32>
    %there = memref.alloc() : memref<64xi32>
    %here = memref.alloc() : memref<64xi32>
    // (37 i mod 101) - 50
    %c37 = arith.constant 37 : index
    scf.for %i = %c0 to %c64 step %c1 {
      %x = arith.muli %i, %c37 : index
      %y = arith.remui %x, %c101 : index
      %z = arith.subi %y, %c50 : index
      %int = arith.index_cast %z : index to i32
      %value = arith.sitofp %int : i32 to f32
      memref.store %value, %from[%i] : memref<64xf32>
      memref.store %zero, %there[%i] : memref<64xi32>
      memref.store %zero, %here[%i] : memref<64xi32>
    }
    gpu.launch_func @device::@wide blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%from : memref<64xf32>, %there : memref<64xi32>)
    call @wide(%from, %here) : (memref<64xf32>, memref<64xi32>) -> ()
    %wrong = scf.for %i = %c0 to %c64 step %c1 iter_args(%n = %none) -> (i64) {
      %x = memref.load %there[%i] : memref<64xi32>
      %y = memref.load %here[%i] : memref<64xi32>
      %differs = arith.cmpi ne, %x, %y : i32
      %more = arith.addi %n, %one : i64
      %next = arith.select %differs, %more, %n : i64
      scf.yield %next : i64
    }
    call @printI64(%wrong) : (i64) -> ()
    call @printNewline() : () -> ()
    %v0 = memref.load %there[%c0] : memref<64xi32>
    %w0 = arith.extsi %v0 : i32 to i64
    call @printI64(%w0) : (i64) -> ()
    call @printNewline() : () -> ()
    %v34 = memref.load %there[%c34] : memref<64xi32>
    %w34 = arith.extsi %v34 : i32 to i64
    call @printI64(%w34) : (i64) -> ()
    call @printNewline() : () -> ()
    %v63 = memref.load %there[%c63] : memref<64xi32>
    %w63 = arith.extsi %v63 : i32 to i64
    call @printI64(%w63) : (i64) -> ()
    call @printNewline() : () -> ()
    memref.dealloc %from : memref<64xf32>
    memref.dealloc %there : memref<64xi32>
    memref.dealloc %here : memref<64xi32>
    return
  }
  func.func private @printI64(i64)
  func.func private @printNewline()
}
