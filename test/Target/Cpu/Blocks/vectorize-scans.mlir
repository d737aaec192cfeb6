// RUN: xetile-opt %s --xetile-vectorize-scans --canonicalize --cse | FileCheck %s
// RUN: xetile-opt %s --xetile-vectorize-scans=threads=2 --canonicalize --cse | FileCheck %s --check-prefix=THREADS
// RUN: not xetile-opt %s --xetile-vectorize-scans=threads=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NEGATIVE: error: threads = -1: expected 0 (the machine's cores) or more

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
  "L2_cache_size_in_bytes" = 2048 : i32, "max_vector_width" = 256 : i32>>
module attributes {dlti.target_system_spec = #machine} {

// Four lanes of f64: each is added to those behind it in two steps. Whole vectors, then two elements.
// Two threads: rows of 1280 bytes, read and written, are more than half of the cache.
// CHECK-LABEL: func @rows
// CHECK-SAME: %[[X:.*]]: tensor<16x10xf32>
// CHECK: scf.for %[[M:[^ ]+]] =
// CHECK: scf.for %[[N:[^ ]+]] = %c0 to %c8 step %c4 iter_args(%[[OUT:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}) -> (tensor<16x10xf32>, vector<4xf64>)
// CHECK: %[[READ:.*]] = vector.transfer_read %[[X]][%[[M]], %[[N]]], %{{.*}} {in_bounds = [true]} : tensor<16x10xf32>, vector<4xf32>
// CHECK: %[[WIDE:.*]] = arith.extf %[[READ]] : vector<4xf32> to vector<4xf64>
// CHECK: %[[S1:.*]] = vector.shuffle %{{.*}}, %[[WIDE]] [0, 4, 2, 6]
// CHECK: %[[PAIRS:.*]] = arith.addf %[[S1]], %[[WIDE]]
// CHECK: %[[S2:.*]] = vector.shuffle %{{.*}}, %[[PAIRS]] [0, 1, 5, 5]
// CHECK: %[[OWN:.*]] = arith.addf %[[S2]], %[[PAIRS]]
// CHECK: %[[SUMS:.*]] = arith.addf %[[BEFORE]], %[[OWN]]
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUMS]] : vector<4xf64> to vector<4xf32>
// CHECK: vector.transfer_write %[[ROUNDED]], %[[OUT]][%[[M]], %[[N]]] {in_bounds = [true]}
// CHECK: %[[LAST:.*]] = vector.extract %[[OWN]][3]
// CHECK: vector.broadcast %[[LAST]]
// CHECK-NOT: scf.for
// CHECK: %[[MASK:.*]] = vector.constant_mask [2] : vector<4xi1>
// CHECK: vector.transfer_read %[[X]][%[[M]], %c8], %{{[^ ]+}}, %[[MASK]] {in_bounds = [true]}
// THREADS-LABEL: func @rows
// THREADS: scf.forall (%[[M:.*]]) in (16) shared_outs(%[[ALL:.*]] = %{{.*}})
// THREADS: %[[ROW:.*]] = tensor.extract_slice %[[ALL]][%[[M]], 0] [1, 10] [1, 1] : tensor<16x10xf32> to tensor<10xf32>
// THREADS: vector.transfer_read %{{.*}}[%[[M]], %{{[^ ]+}}], %{{.*}} {in_bounds = [true]}
// THREADS: vector.transfer_write {{.*}} : vector<4xf32>, tensor<10xf32>
// THREADS: tensor.parallel_insert_slice %{{.*}} into %[[ALL]][%[[M]], 0] [1, 10] [1, 1]
// THREADS: {xetile.rows}
func.func @rows(%x: tensor<16x10xf32>) -> tensor<16x10xf32> {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %any = tensor.empty() : tensor<16x10xf32>
  %all = scf.for %m = %c0 to %c16 step %c1 iter_args(%rows = %any) -> (tensor<16x10xf32>) {
    %row:2 = scf.for %n = %c0 to %c10 step %c1 iter_args(%out = %rows, %before = %zero) -> (tensor<16x10xf32>, f64) {
      %e = tensor.extract %x[%m, %n] : tensor<16x10xf32>
      %wide = arith.extf %e : f32 to f64
      %sum = arith.addf %before, %wide : f64
      %rounded = arith.truncf %sum : f64 to f32
      %next = tensor.insert %rounded into %out[%m, %n] : tensor<16x10xf32>
      scf.yield %next, %sum : tensor<16x10xf32>, f64
    }
    scf.yield %row#0 : tensor<16x10xf32>
  }
  return %all : tensor<16x10xf32>
}

// The last value is used, and the row's length is not known. Rows that depend on each other get no threads.
// CHECK-LABEL: func @chained
// CHECK: scf.for
// CHECK: vector.transfer_read {{.*}} vector<8xi32>
// CHECK: arith.maxsi
// CHECK: vector.extract %{{.*}}[0] : i32 from vector<8xi32>
// THREADS-LABEL: func @chained
// THREADS-NOT: scf.forall
// THREADS: return
func.func @chained(%x: tensor<4x?xi32>, %n: index) -> tensor<4x?xi32> {
  %least = arith.constant -7 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %any = tensor.empty(%n) : tensor<4x?xi32>
  %all:2 = scf.for %m = %c0 to %c4 step %c1 iter_args(%rows = %any, %first = %least) -> (tensor<4x?xi32>, i32) {
    %row:2 = scf.for %i = %c0 to %n step %c1 iter_args(%most = %first, %out = %rows) -> (i32, tensor<4x?xi32>) {
      %e = tensor.extract %x[%m, %i] : tensor<4x?xi32>
      %max = arith.maxsi %e, %most : i32
      %next = tensor.insert %max into %out[%m, %i] : tensor<4x?xi32>
      scf.yield %max, %next : i32, tensor<4x?xi32>
    }
    scf.yield %row#1, %row#0 : tensor<4x?xi32>, i32
  }
  return %all#0 : tensor<4x?xi32>
}

// No scans: a difference, an element that is read where it was written before, a place that is not the last, a sum that
// something else is added to.
// CHECK-LABEL: func @others
// CHECK-NOT: vector
// CHECK: return
func.func @others(%x: tensor<9xf32>, %y: tensor<9x9xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9x9xf32>, tensor<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %any = tensor.empty() : tensor<9xf32>
  %square = tensor.empty() : tensor<9x9xf32>
  %a:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%out = %any, %s = %zero) -> (tensor<9xf32>, f32) {
    %e = tensor.extract %x[%i] : tensor<9xf32>
    %sum = arith.subf %s, %e : f32
    %next = tensor.insert %sum into %out[%i] : tensor<9xf32>
    scf.yield %next, %sum : tensor<9xf32>, f32
  }
  %b:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%out = %x, %s = %zero) -> (tensor<9xf32>, f32) {
    %e = tensor.extract %out[%i] : tensor<9xf32>
    %sum = arith.addf %s, %e : f32
    %next = tensor.insert %sum into %out[%i] : tensor<9xf32>
    scf.yield %next, %sum : tensor<9xf32>, f32
  }
  %c:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%out = %square, %s = %zero) -> (tensor<9x9xf32>, f32) {
    %e = tensor.extract %y[%i, %c1] : tensor<9x9xf32>
    %sum = arith.addf %s, %e : f32
    %next = tensor.insert %sum into %out[%i, %i] : tensor<9x9xf32>
    scf.yield %next, %sum : tensor<9x9xf32>, f32
  }
  %d:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%out = %any, %s = %zero) -> (tensor<9xf32>, f32) {
    %e = tensor.extract %x[%i] : tensor<9xf32>
    %sum = arith.addf %s, %e : f32
    %more = arith.addf %sum, %e : f32
    %next = tensor.insert %more into %out[%i] : tensor<9xf32>
    scf.yield %next, %sum : tensor<9xf32>, f32
  }
  return %a#0, %b#0, %c#0, %d#0 : tensor<9xf32>, tensor<9xf32>, tensor<9x9xf32>, tensor<9xf32>
}
// A vector of 256 bits has ten integers of 24, which no steps that double add up: the loop stays.
// CHECK-LABEL: func @odd_width
// CHECK-NOT: vector
// CHECK: return
func.func @odd_width(%x: tensor<16xi24>) -> tensor<16xi24> {
  %zero = arith.constant 0 : i24
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %any = tensor.empty() : tensor<16xi24>
  %all:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%out = %any, %before = %zero) -> (tensor<16xi24>, i24) {
    %e = tensor.extract %x[%i] : tensor<16xi24>
    %sum = arith.addi %before, %e : i24
    %next = tensor.insert %sum into %out[%i] : tensor<16xi24>
    scf.yield %next, %sum : tensor<16xi24>, i24
  }
  return %all#0 : tensor<16xi24>
}
}
