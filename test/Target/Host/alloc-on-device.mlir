// RUN: xetile-opt %s --pass-pipeline='builtin.module(func.func(xetile-alloc-on-device))' | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @k(%a: memref<8x8xf32>, %b: memref<8x8xf32>) kernel {
      gpu.return
    }
    gpu.func @flat(%a: memref<64xf32>) kernel {
      gpu.return
    }
    gpu.func @large(%a: memref<65xf32>) kernel {
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

  // Copies from and to the host; of the few numbers that it reads, where it reads them.
  // CHECK-LABEL: func.func @copied
  // CHECK-SAME: %[[A:.*]]: memref<8x8xf32>, %[[B:.*]]: memref<8x8xf32>
  // CHECK: %[[HOST:.*]] = memref.alloca() : memref<8x8xf32>
  // CHECK: %[[H:.*]] = gpu.alloc () : memref<8x8xf32>
  // CHECK: gpu.memcpy %[[H]], %[[A]]
  // CHECK: gpu.launch_func
  // CHECK: gpu.memcpy %[[HOST]], %[[H]]
  // CHECK: memref.load %[[HOST]]
  // CHECK: gpu.memcpy %[[B]], %[[H]]
  // CHECK-NEXT: gpu.dealloc %[[H]]
  func.func @copied(%a: memref<8x8xf32>, %b: memref<8x8xf32>) -> f32 {
    %c1 = arith.constant 1 : index
    %h = memref.alloc() : memref<8x8xf32>
    memref.copy %a, %h : memref<8x8xf32> to memref<8x8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%h : memref<8x8xf32>, %h : memref<8x8xf32>)
    %x = memref.load %h[%c1, %c1] : memref<8x8xf32>
    memref.copy %h, %b : memref<8x8xf32> to memref<8x8xf32>
    return %x : f32
  }

  // What a loop and a branch hand on is of the device, if all of it can be.
  // CHECK-LABEL: func.func @carried
  // CHECK-COUNT-3: gpu.alloc () : memref<8x8xf32>
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: gpu.memcpy %{{.*}}, %{{.*}}
  // CHECK-COUNT-3: gpu.dealloc
  func.func @carried(%a: memref<8x8xf32>, %some: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %h = memref.alloc() : memref<8x8xf32>
    %g = memref.alloc() : memref<8x8xf32>
    %i = memref.alloc() : memref<8x8xf32>
    %r:2 = scf.for %n = %c0 to %c1 step %c1 iter_args(%x = %h, %y = %g) -> (memref<8x8xf32>, memref<8x8xf32>) {
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8x8xf32>, %y : memref<8x8xf32>)
      scf.yield %y, %x : memref<8x8xf32>, memref<8x8xf32>
    }
    %s = scf.if %some -> memref<8x8xf32> {
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%r#0 : memref<8x8xf32>, %i : memref<8x8xf32>)
      scf.yield %i : memref<8x8xf32>
    } else {
      scf.yield %r#0 : memref<8x8xf32>
    }
    memref.copy %s, %a : memref<8x8xf32> to memref<8x8xf32>
    return
  }

  // One of two that a branch hands on is the caller's: so are both.
  // CHECK-LABEL: func.func @mixed
  // CHECK-NOT: gpu.alloc
  // CHECK: return
  func.func @mixed(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %some: i1) {
    %c1 = arith.constant 1 : index
    %h = memref.alloc() : memref<8x8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8x8xf32>, %h : memref<8x8xf32>)
    %s = scf.if %some -> memref<8x8xf32> {
      scf.yield %h : memref<8x8xf32>
    } else {
      scf.yield %a : memref<8x8xf32>
    }
    memref.copy %s, %b : memref<8x8xf32> to memref<8x8xf32>
    return
  }

  // The host writes, reads much, returns it; or launches are in another block, or there are none.
  // CHECK-LABEL: func.func @of_the_host
  // CHECK-COUNT-6: memref.alloc()
  // CHECK-NOT: gpu.alloc
  // CHECK: return
  func.func @of_the_host(%a: memref<8x8xf32>, %some: i1) -> memref<8x8xf32> {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %copied = memref.alloc() : memref<8x8xf32>
    %read = memref.alloc() : memref<8x8xf32>
    %returned = memref.alloc() : memref<8x8xf32>
    %unused = memref.alloc() : memref<8x8xf32>
    %large = memref.alloc() : memref<65xf32>
    memref.store %zero, %copied[%c1, %c1] : memref<8x8xf32>
    gpu.launch_func @device::@large blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%large : memref<65xf32>)
    %y = memref.load %large[%c1] : memref<65xf32>
    memref.store %y, %read[%c1, %c1] : memref<8x8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%copied : memref<8x8xf32>, %read : memref<8x8xf32>)
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%read : memref<8x8xf32>, %returned : memref<8x8xf32>)
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
