// RUN: xetile-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(xetile-allocate-shared-memory))" | FileCheck %s

// Attributions and stack memory in shared memory are the module's; a launch gives no bytes for them.
// CHECK-LABEL: gpu.module @both
// CHECK-DAG: memref.global "private" @[[A:.*]] : memref<16x16xf32, 3> = uninitialized {alignment = 64 : i64}
// CHECK-DAG: memref.global "private" @[[B:.*]] : memref<8xf16, 3> = uninitialized {alignment = 64 : i64}
// CHECK-DAG: memref.global "private" @[[C:.*]] : memref<4xi32, 3> = uninitialized {alignment = 64 : i64}
// CHECK: gpu.func @f(%{{.*}}: index) kernel
// CHECK-NOT: address_space
// CHECK-DAG: memref.get_global @{{.*}} : memref<16x16xf32, 3>
// CHECK-DAG: memref.get_global @{{.*}} : memref<8xf16, 3>
// CHECK-DAG: memref.get_global @{{.*}} : memref<4xi32, 3>
// CHECK-DAG: memref.alloca() : memref<4xi32>
gpu.module @both {
  gpu.func @f(%i: index) workgroup(%a: memref<16x16xf32, 3>, %b: memref<8xf16, #gpu.address_space<workgroup>>) kernel {
    %c = memref.alloca() : memref<4xi32, 3>
    %d = memref.alloca() : memref<4xi32>
    %x = memref.load %a[%i, %i] : memref<16x16xf32, 3>
    memref.store %x, %a[%i, %i] : memref<16x16xf32, 3>
    %y = memref.load %b[%i] : memref<8xf16, #gpu.address_space<workgroup>>
    memref.store %y, %b[%i] : memref<8xf16, #gpu.address_space<workgroup>>
    %z = memref.load %c[%i] : memref<4xi32, 3>
    memref.store %z, %d[%i] : memref<4xi32>
    gpu.return
  }
}

// -----

// memref.alloc in shared memory is the same, whichever way the space is written; freeing it is nothing.
// CHECK-LABEL: gpu.module @allocated
// CHECK-DAG: memref.global "private" @[[A:.*]] : memref<16x16xf32, 3> = uninitialized {alignment = 64 : i64}
// CHECK-DAG: memref.global "private" @[[B:.*]] : memref<8xf16, 3> = uninitialized {alignment = 64 : i64}
// CHECK: gpu.func @f
// CHECK-NOT: {{memref.alloc|memref.dealloc|memory_space}}
// CHECK-DAG: memref.get_global @{{.*}} : memref<16x16xf32, 3>
// CHECK-DAG: memref.get_global @{{.*}} : memref<8xf16, 3>
// CHECK: gpu.return
gpu.module @allocated {
  gpu.func @f(%i: index) kernel {
    %a = memref.alloc() : memref<16x16xf32, 3>
    %b = memref.alloc() : memref<8xf16, #xegpu<memory_space slm>>
    %x = memref.load %a[%i, %i] : memref<16x16xf32, 3>
    memref.store %x, %a[%i, %i] : memref<16x16xf32, 3>
    %y = memref.load %b[%i] : memref<8xf16, #xegpu<memory_space slm>>
    memref.store %y, %b[%i] : memref<8xf16, #xegpu<memory_space slm>>
    memref.dealloc %a : memref<16x16xf32, 3>
    memref.dealloc %b : memref<8xf16, #xegpu<memory_space slm>>
    gpu.return
  }
}

// -----

gpu.module @strided_alloc {
  gpu.func @f() kernel {
    // expected-error @below {{has shared memory of type 'memref<8x8xi32, strided<[16, 1]>, 3>', expected a static shape without a layout}}
    %c = memref.alloc() : memref<8x8xi32, strided<[16, 1]>, 3>
    gpu.return
  }
}

// -----

gpu.module @dynamic_alloc {
  gpu.func @f(%i: index) kernel {
    // expected-error @below {{has shared memory of type 'memref<?xi32, 3>', expected a static shape without a layout}}
    %c = memref.alloc(%i) : memref<?xi32, 3>
    gpu.return
  }
}

// -----

gpu.module @dealloc {
  gpu.func @f(%a: memref<16xf32>) kernel {
    // expected-error @below {{has no lowering in device code: expected memref.alloca of static size, memory that the host allocates, or shared memory, whose space is 3}}
    memref.dealloc %a : memref<16xf32>
    gpu.return
  }
}

// -----

gpu.module @dynamic_alloca {
  gpu.func @f(%i: index) kernel {
    // expected-error @below {{has shared memory of type 'memref<?xi32, 3>', expected a static shape without a layout}}
    %c = memref.alloca(%i) : memref<?xi32, 3>
    gpu.return
  }
}

// -----

gpu.module @dynamic_attribution {
  // expected-error @below {{has shared memory of type 'memref<?xi32, 3>', expected a static shape without a layout}}
  gpu.func @f(%i: index) workgroup(%a: memref<?xi32, 3>) kernel {
    gpu.return
  }
}

// -----

gpu.module @dynamic_shared_memory {
  gpu.func @f() kernel {
    // expected-error @below {{has no lowering to SPIR-V: expected shared memory of static size}}
    %a = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @alloc {
  gpu.func @f() kernel {
    // expected-error @below {{has no lowering in device code: expected memref.alloca of static size}}
    %a = memref.alloc() : memref<16xf32>
    gpu.return
  }
}
