// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-relax-narrowed))" | FileCheck %s

gpu.module @kernels {
  // Through reductions, broadcasts and quotients.
  // CHECK-LABEL: gpu.func @softmax
  // CHECK: math.exp %{{.*}} fastmath<afn>
  // CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp>
  gpu.func @softmax(%x: vector<1x64xf32>, %out: memref<1x64xbf16>) kernel {
    %e = math.exp %x : vector<1x64xf32>
    %sum = xetile.tile_reduce <add> %e, [1] : vector<1x64xf32> -> vector<1x1xf32>
    %all = xetile.tile_broadcast %sum, [1] : vector<1x1xf32> -> vector<1x64xf32>
    %p = arith.divf %e, %all : vector<1x64xf32>
    %d = arith.truncf %p : vector<1x64xf32> to vector<1x64xbf16>
    %tile = xetile.init_tile %out[0, 0] : memref<1x64xbf16> -> !xetile.tile<1x64xbf16>
    xetile.store_tile %d, %tile : vector<1x64xbf16>, !xetile.tile<1x64xbf16>
    gpu.return
  }

  // Long rows are matrices, whose sums are added up: still of powers alone.
  // CHECK-LABEL: gpu.func @softmax_of_matrices
  // CHECK: math.exp %{{.*}} fastmath<afn>
  gpu.func @softmax_of_matrices(%x: vector<8x64xf32>, %out: memref<8x64xbf16>) kernel {
    %e = math.exp %x : vector<8x64xf32>
    %columns = xetile.tile_reduce <add> %e, [0] : vector<8x64xf32> -> vector<1x64xf32>
    %sum = xetile.tile_reduce <add> %columns, [1] : vector<1x64xf32> -> vector<1x1xf32>
    %row = xetile.tile_broadcast %sum, [1] : vector<1x1xf32> -> vector<1x64xf32>
    %all = xetile.tile_broadcast %row, [0] : vector<1x64xf32> -> vector<8x64xf32>
    %p = arith.divf %e, %all : vector<8x64xf32>
    %d = arith.truncf %p : vector<8x64xf32> to vector<8x64xbf16>
    %tile = xetile.init_tile %out[0, 0] : memref<8x64xbf16> -> !xetile.tile<8x64xbf16>
    xetile.store_tile %d, %tile : vector<8x64xbf16>, !xetile.tile<8x64xbf16>
    gpu.return
  }

  // Of two products one may take away the other.
  // CHECK-LABEL: gpu.func @sum_of_products_of_sums
  // CHECK: math.exp %{{[a-z0-9_]*}} : vector<8x64xf32>
  gpu.func @sum_of_products_of_sums(%x: vector<8x64xf32>, %w: vector<1x64xf32>, %out: memref<1x1xbf16>) kernel {
    %e = math.exp %x : vector<8x64xf32>
    %columns = xetile.tile_reduce <add> %e, [0] : vector<8x64xf32> -> vector<1x64xf32>
    %p = arith.mulf %columns, %w : vector<1x64xf32>
    %sum = xetile.tile_reduce <add> %p, [1] : vector<1x64xf32> -> vector<1x1xf32>
    %d = arith.truncf %sum : vector<1x1xf32> to vector<1x1xbf16>
    %tile = xetile.init_tile %out[0, 0] : memref<1x1xbf16> -> !xetile.tile<1x1xbf16>
    xetile.store_tile %d, %tile : vector<1x1xbf16>, !xetile.tile<1x1xbf16>
    gpu.return
  }

  // Products may have either sign, and their sum be next to nothing.
  // CHECK-LABEL: gpu.func @weighted
  // CHECK: math.exp %{{[a-z0-9_]*}} : vector<1x64xf32>
  gpu.func @weighted(%x: vector<1x64xf32>, %w: vector<1x64xf32>, %out: memref<1x1xbf16>) kernel {
    %e = math.exp %x : vector<1x64xf32>
    %p = arith.mulf %e, %w : vector<1x64xf32>
    %sum = xetile.tile_reduce <add> %p, [1] : vector<1x64xf32> -> vector<1x1xf32>
    %d = arith.truncf %sum : vector<1x1xf32> to vector<1x1xbf16>
    %tile = xetile.init_tile %out[0, 0] : memref<1x1xbf16> -> !xetile.tile<1x1xbf16>
    xetile.store_tile %d, %tile : vector<1x1xbf16>, !xetile.tile<1x1xbf16>
    gpu.return
  }

  // What a loop carries is used in it, and behind it.
  // CHECK-LABEL: gpu.func @carried
  // CHECK: math.exp %{{.*}} fastmath<afn>
  gpu.func @carried(%x: f32, %begin: f32, %out: memref<f16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %two = arith.constant 2.0 : f32
    %all = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %begin) -> f32 {
      %e = math.exp %x : f32
      %more = arith.mulf %sum, %e : f32
      scf.yield %more : f32
    }
    %d = arith.truncf %all : f32 to f16
    memref.store %d, %out[] : memref<f16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @carried_wide
  // CHECK: math.exp %{{[a-z0-9_]*}} : f32
  gpu.func @carried_wide(%x: f32, %begin: f32, %out: memref<f32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %all = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %begin) -> f32 {
      %e = math.exp %x : f32
      %more = arith.mulf %sum, %e : f32
      scf.yield %more : f32
    }
    memref.store %all, %out[] : memref<f32>
    gpu.return
  }

  // What a loop begins with is what it gives if it has no steps.
  // CHECK-LABEL: gpu.func @begun
  // CHECK: math.exp %{{[a-z0-9_]*}} : f32
  gpu.func @begun(%x: f32, %n: index, %narrow: memref<f16>, %out: memref<f32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = math.exp %x : f32
    %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %e) -> f32 {
      %d = arith.truncf %sum : f32 to f16
      memref.store %d, %narrow[] : memref<f16>
      scf.yield %x : f32
    }
    memref.store %all, %out[] : memref<f32>
    gpu.return
  }

  // A loop may run as often as a power says: none of it is a value of 16 bits.
  // CHECK-LABEL: gpu.func @counted
  // CHECK: math.exp %{{[a-z0-9_]*}} : f32
  gpu.func @counted(%x: f32, %out: memref<?xf16>) kernel {
    %e = math.exp %x : f32
    %n = arith.fptosi %e : f32 to i32
    %d = arith.truncf %e : f32 to f16
    %at = arith.index_cast %n : i32 to index
    memref.store %d, %out[%at] : memref<?xf16>
    gpu.return
  }

  // What is kept in f32 as well, compared, subtracted, or goes through another function stays exact.
  // CHECK-LABEL: gpu.func @exact
  // CHECK-COUNT-4: math.exp %{{[a-z0-9_]*}} : f32
  // CHECK: arith.divf %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} : f32
  gpu.func @exact(%x: f32, %y: f32, %wide: memref<f32>, %out: memref<5xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %one = arith.constant 1.0 : f32
    %e0 = math.exp %x : f32
    memref.store %e0, %wide[] : memref<f32>
    %d0 = arith.truncf %e0 : f32 to bf16
    memref.store %d0, %out[%c0] : memref<5xbf16>
    %e1 = math.exp %x : f32
    %less = arith.cmpf olt, %e1, %y : f32
    %either = arith.select %less, %x, %y : f32
    %d1 = arith.truncf %either : f32 to bf16
    memref.store %d1, %out[%c1] : memref<5xbf16>
    %e2 = math.exp %x : f32
    %difference = arith.subf %e2, %y : f32
    %d2 = arith.truncf %difference : f32 to bf16
    memref.store %d2, %out[%c2] : memref<5xbf16>
    %e3 = math.exp %x : f32
    %log = math.log %e3 : f32
    %d3 = arith.truncf %log : f32 to bf16
    memref.store %d3, %out[%c3] : memref<5xbf16>
    // Of a quotient a constant may leave little.
    %q = arith.divf %x, %y : f32
    %rest = arith.subf %q, %one : f32
    %d4 = arith.truncf %rest : f32 to bf16
    memref.store %d4, %out[%c4] : memref<5xbf16>
    gpu.return
  }

  // A logistic function adds 1 to a power; f64 has no approximation.
  // CHECK-LABEL: gpu.func @logistic
  // CHECK: math.exp %{{.*}} fastmath<afn> : f32
  // CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp> : f32
  // CHECK: math.exp %{{[a-z0-9_]*}} : f64
  gpu.func @logistic(%x: f32, %z: f64, %out: memref<bf16>, %other: memref<bf16>) kernel {
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %x : f32
    %e = math.exp %minus : f32
    %sum = arith.addf %e, %one : f32
    %q = arith.divf %x, %sum : f32
    %d = arith.truncf %q : f32 to bf16
    memref.store %d, %out[] : memref<bf16>
    %w = math.exp %z : f64
    %n = arith.truncf %w : f64 to bf16
    memref.store %n, %other[] : memref<bf16>
    gpu.return
  }

  // Memory of f32 keeps all bits.
  // CHECK-LABEL: gpu.func @narrowed_to_32
  // CHECK: math.exp %{{[a-z0-9_]*}} : f32
  gpu.func @narrowed_to_32(%x: f32, %out: memref<f64>) kernel {
    %e = math.exp %x : f32
    %d = arith.extf %e : f32 to f64
    memref.store %d, %out[] : memref<f64>
    gpu.return
  }
}
