// Arguments that a function or its kernels may write to are copied; all others are passed on.
// RUN: xetile-opt %s --xetile-keep-arguments | FileCheck %s
// RUN: xetile-opt %s --xetile-keep-arguments --xetile-results-to-arguments --xetile-free-scratch | FileCheck %s --check-prefix=ABI

module attributes {gpu.container_module} {
gpu.module @kernels {
  // %read is prefetched and loaded, %written stored to.
  gpu.func @accumulate(%read: memref<8x16xf32>, %written: memref<8x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %r = xetile.init_tile %read[%c0, %c0] : memref<8x16xf32> -> !xetile.tile<8x16xf32>
    %w = xetile.init_tile %written[%c0, %c0] : memref<8x16xf32> -> !xetile.tile<8x16xf32>
    xetile.prefetch_tile %r locality<3> : !xetile.tile<8x16xf32>
    %v = xetile.load_tile %r : !xetile.tile<8x16xf32> -> vector<8x16xf32>
    xetile.store_tile %v, %w : vector<8x16xf32>, !xetile.tile<8x16xf32>
    gpu.return
  }
}

// CHECK-LABEL: func @launches(
// CHECK-SAME: %[[A:.*]]: memref<8x16xf32>, %[[B:.*]]: memref<8x16xf32>) -> memref<8x16xf32>
// CHECK-NEXT: %[[COPY:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x16xf32>
// CHECK-NEXT: memref.copy %[[B]], %[[COPY]]
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func @kernels::@accumulate {{.*}} args(%[[A]] : memref<8x16xf32>, %[[COPY]] : memref<8x16xf32>)
// CHECK: return %[[COPY]]
// The copy is the caller's memory for the result: nothing is allocated.
// ABI-LABEL: func @launches(
// ABI-SAME: %[[A:[^:]*]]: memref<8x16xf32>, %[[B:[^:]*]]: memref<8x16xf32>, %[[R:[^:]*]]: memref<8x16xf32>) {
// ABI-NEXT: memref.copy %[[B]], %[[R]]
// ABI-NOT: memref.alloc
// ABI: args(%[[A]] : memref<8x16xf32>, %[[R]] : memref<8x16xf32>)
func.func @launches(%a: memref<8x16xf32>, %b: memref<8x16xf32>) -> memref<8x16xf32> {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@accumulate blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<8x16xf32>, %b : memref<8x16xf32>)
  return %b : memref<8x16xf32>
}

// Through views, whose writes are the argument's.
// CHECK-LABEL: func @views(
// CHECK-SAME: %[[A:.*]]: memref<?x4xf32>
// CHECK: %[[SIZE:.*]] = memref.dim %[[A]]
// CHECK: %[[COPY:.*]] = memref.alloc(%[[SIZE]]) {alignment = 64 : i64} : memref<?x4xf32>
// CHECK: memref.copy %[[A]], %[[COPY]]
// CHECK: %[[VIEW:.*]] = memref.subview %[[COPY]]
// CHECK: memref.store %{{.*}}, %[[VIEW]]
// What is returned is not the copy, which is freed at the end.
// ABI-LABEL: func @views(
// ABI: %[[COPY:.*]] = memref.alloc(%{{.*}})
// ABI: memref.store %{{.*}}, %{{.*}}[] : memref<f32>
// ABI-NEXT: memref.dealloc %[[COPY]] : memref<?x4xf32>
// ABI-NEXT: return{{$}}
func.func @views(%a: memref<?x4xf32>) -> memref<f32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %view = memref.subview %a[0, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<1x4xf32, strided<[4, 1]>>
  memref.store %one, %view[%c0, %c0] : memref<1x4xf32, strided<[4, 1]>>
  %x = memref.load %a[%c0, %c0] : memref<?x4xf32>
  %r = memref.alloc() : memref<f32>
  memref.store %x, %r[] : memref<f32>
  return %r : memref<f32>
}

// CHECK-LABEL: func @strided(
// CHECK-SAME: %[[A:.*]]: memref<4xf32, strided<[?], offset: ?>>
// CHECK: %[[COPY:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK: memref.copy %[[A]], %[[COPY]]
// CHECK: %[[CAST:.*]] = memref.cast %[[COPY]] : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
// CHECK: memref.store %{{.*}}, %[[CAST]]
func.func @strided(%a: memref<4xf32, strided<[?], offset: ?>>) -> memref<f32> {
  %c0 = arith.constant 0 : index
  %x = memref.load %a[%c0] : memref<4xf32, strided<[?], offset: ?>>
  memref.store %x, %a[%c0] : memref<4xf32, strided<[?], offset: ?>>
  %r = memref.alloc() : memref<f32>
  return %r : memref<f32>
}

// Called for what it writes.
// CHECK-LABEL: func @no_results(
// CHECK-NOT: memref.alloc
// CHECK: return{{$}}
func.func @no_results(%a: memref<8x16xf32>, %b: memref<8x16xf32>) {
  memref.copy %a, %b : memref<8x16xf32> to memref<8x16xf32>
  return
}

// CHECK-LABEL: func private @helper(
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @helper(%a: memref<f32>) -> f32 {
  %x = memref.load %a[] : memref<f32>
  memref.store %x, %a[] : memref<f32>
  return %x : f32
}

// Its callee may write.
// CHECK-LABEL: func @calls(
// CHECK: %[[COPY:.*]] = memref.alloc()
// CHECK: call @helper(%[[COPY]])
func.func @calls(%a: memref<f32>) -> f32 {
  %x = func.call @helper(%a) : (memref<f32>) -> f32
  return %x : f32
}
}
