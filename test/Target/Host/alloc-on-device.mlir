// RUN: xetile-opt %s --pass-pipeline='builtin.module(func.func(xetile-alloc-on-device))' | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @k(%a: memref<8x8xf32>, %b: memref<8x8xf32>) kernel {
      gpu.return
    }
    gpu.func @flat(%a: memref<64xf32>) kernel {
      gpu.return
    }
  }

  // What the first writes and the second reads; freed behind the last, through a view, too.
  // CHECK-LABEL: func.func @between
  // CHECK: %[[H:.*]] = gpu.alloc () : memref<8x8xf32>
  // CHECK: gpu.launch_func @device::@k {{.*}} args(%{{.*}}, %[[H]] : memref<8x8xf32>)
  // CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[H]]
  // CHECK: gpu.launch_func @device::@flat {{.*}} args(%[[FLAT]] : memref<64xf32>)
  // CHECK-NEXT: gpu.dealloc %[[H]]
  // CHECK-NEXT: gpu.launch_func
  // CHECK-NOT: memref.dealloc
  func.func @between(%a: memref<8x8xf32>) {
    %c1 = arith.constant 1 : index
    %h = memref.alloc() {alignment = 64 : i64} : memref<8x8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8x8xf32>, %h : memref<8x8xf32>)
    %flat = memref.collapse_shape %h [[0, 1]] : memref<8x8xf32> into memref<64xf32>
    gpu.launch_func @device::@flat blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%flat : memref<64xf32>)
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8x8xf32>, %a : memref<8x8xf32>)
    memref.dealloc %h : memref<8x8xf32>
    return
  }

  // CHECK-LABEL: func.func @sizes_of_a_run
  // CHECK-SAME: %[[N:.*]]: index
  // CHECK: gpu.alloc (%[[N]]) : memref<?xf32>
  func.func @sizes_of_a_run(%n: index) {
    %c1 = arith.constant 1 : index
    %h = memref.alloc(%n) : memref<?xf32>
    %s = memref.cast %h : memref<?xf32> to memref<64xf32>
    gpu.launch_func @device::@flat blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%s : memref<64xf32>)
    return
  }

  // The host copies, reads, returns it; or launches are in another block, or there are none.
  // CHECK-LABEL: func.func @of_the_host
  // CHECK-COUNT-5: memref.alloc()
  // CHECK-NOT: gpu.alloc
  // CHECK: return
  func.func @of_the_host(%a: memref<8x8xf32>, %some: i1) -> memref<8x8xf32> {
    %c1 = arith.constant 1 : index
    %copied = memref.alloc() : memref<8x8xf32>
    %read = memref.alloc() : memref<8x8xf32>
    %returned = memref.alloc() : memref<8x8xf32>
    %unused = memref.alloc() : memref<8x8xf32>
    memref.copy %a, %copied : memref<8x8xf32> to memref<8x8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%copied : memref<8x8xf32>, %read : memref<8x8xf32>)
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%read : memref<8x8xf32>, %returned : memref<8x8xf32>)
    %x = memref.load %read[%c1, %c1] : memref<8x8xf32>
    memref.dealloc %unused : memref<8x8xf32>
    %apart = memref.alloc() : memref<8x8xf32>
    cf.cond_br %some, ^launch, ^end
  ^launch:
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8x8xf32>, %apart : memref<8x8xf32>)
    cf.br ^end
  ^end:
    return %returned : memref<8x8xf32>
  }
}
